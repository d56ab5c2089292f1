"""``gradviz.nn.functional``: layers without state, as in ``torch.nn.functional``."""

from ...absent import absent as _absent
from ...ops.mistakes import explained as _explained
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
from .pixels import *  # noqa: F403
from .pooling import *  # noqa: F403
from .recurrent import *  # noqa: F403
from .sparse import *  # noqa: F403
from .vision import *  # noqa: F403

__all__ = sorted(
    name
    for name, value in globals().items()
    if not name.startswith("_") and getattr(value, "__module__", "").startswith(__name__)
)
# What PyTorch implements below Python: its errors have other words for a wrong count.
_NATIVE = frozenset(
    """
    gelu linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu
    avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d softplus softshrink hardshrink
    bilinear pdist one_hot pixel_shuffle pixel_unshuffle channel_shuffle cosine_similarity
    pairwise_distance scaled_dot_product_attention
    """.split()
)
globals().update(
    {name: _explained(name, globals()[name], native=name in _NATIVE) for name in __all__}
)


def __dir__():
    return __all__


globals().update(_absent("torch.nn.functional"))
