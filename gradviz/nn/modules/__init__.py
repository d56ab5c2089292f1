"""The modules of ``gradviz.nn``, one file a family."""

from .activation import *  # noqa: F403
from .adaptive import AdaptiveLogSoftmaxWithLoss  # noqa: F401
from .container import *  # noqa: F403
from .conv import *  # noqa: F403
from .dropout import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403
from .rnn import *  # noqa: F403
from .sparse import *  # noqa: F403
from .transformer import *  # noqa: F403
from .vision import *  # noqa: F403

__all__ = sorted(
    name
    for name, value in globals().items()
    if not name.startswith("_") and isinstance(value, type) and issubclass(value, Module)
)
