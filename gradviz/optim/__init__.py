"""``gradviz.optim``: optimizers and schedules of the learning rate, as in ``torch.optim``."""

from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["Adam", "AdamW", "Optimizer", "SGD"]
