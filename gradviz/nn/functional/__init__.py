"""``gradviz.nn.functional``: layers without state, as in ``torch.nn.functional``."""

from . import low_level  # noqa: F401
from .activation import *  # noqa: F403
from .attention import *  # noqa: F403
from .basic import *  # noqa: F403
from .conv import *  # noqa: F403
from .ctc import ctc_loss  # noqa: F401
from .distance import *  # noqa: F403
from .loss import *  # noqa: F403
from .margin import *  # noqa: F403
from .norm import *  # noqa: F403
from .pad import *  # noqa: F403
from .pooling import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .sparse import *  # noqa: F403
from .vision import *  # noqa: F403

__all__ = sorted(
    name
    for name, value in globals().items()
    if not name.startswith("_") and getattr(value, "__module__", "").startswith(__name__)
)


def __dir__():
    return __all__
