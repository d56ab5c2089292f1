"""``gradviz.optim``: optimizers and schedules of the learning rate, as in ``torch.optim``."""

from ..absent import absent as _absent
from . import lr_scheduler, swa_utils
from .adam import Adam, AdamW
from .averages import Adadelta, Adagrad, RMSprop
from .lbfgs import LBFGS
from .matrix import Adafactor, Muon
from .optimizer import Optimizer
from .sgd import SGD
from .variants import ASGD, Adamax, NAdam, RAdam, Rprop

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "lr_scheduler",
    "swa_utils",
]

globals().update(_absent("torch.optim"))
