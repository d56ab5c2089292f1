"""In which order the dimensions of a result lie in memory: PyTorch asks its first operand."""

from __future__ import annotations

import functools

from ..backend import xp
from ..engine.memory_format import channels_format, in_format


def channels_kept(forward):
    """``forward`` whose result has its channels last where its first operand has them so (or the
    weight of a convolution).
    """

    @functools.wraps(forward)
    def computed(x, *rest):
        wanted = channels_format(x)
        if wanted is None and rest and isinstance(rest[0], xp.ndarray):
            wanted = channels_format(rest[0])
        out = forward(x, *rest)
        return out if wanted is None or out.ndim != x.ndim else in_format(out, wanted)

    return computed
