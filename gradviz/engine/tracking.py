"""Tensors inside function transforms as text.

PyTorch wraps what is made inside a transform; here it is an ordinary tensor. Which of the open
transforms it belongs to is found when it is printed: they know their inputs, and when they began.
"""

from __future__ import annotations

import textwrap

from .forward_mode import tangent_of
from .leaves import leaves
from .modes import local
from .tensor import edge_now, is_result


def levels_of(tensor, transforms=None):
    """(those of the open transforms that ``tensor`` belongs to, the outermost first; what they
    wrap).
    """
    transforms = local.tracking if transforms is None else transforms
    for k, transform in reversed(list(enumerate(transforms))):
        if id(tensor) in transform.originals:
            around, inner = levels_of(transform.originals[id(tensor)], transforms[:k])
            return [*around, transform], inner
    g = edge_now(tensor)
    if is_result(g):
        node = g.node if g._kind == 1 else g
        born = getattr(node, "seq", 0)
        return [t for t in transforms if t.born < born], tensor
    last = max((k for k, t in enumerate(transforms) if _moves(tensor, t)), default=-1)
    return list(transforms[: last + 1]), tensor


def _moves(tensor, transform):
    level = transform.level
    return level is not None and tangent_of(tensor, level) is not None


def is_tracked_outside(tensor):
    """Whether a leaf takes part in ``tensor`` that no open transform made."""
    return any(getattr(leaf, "_transform", None) is None for leaf in leaves(tensor))


class among:
    """Inside the block only the given transforms are open, as far as text goes."""

    def __init__(self, transforms):
        self.transforms = tuple(transforms)

    def __enter__(self):
        self.before, local.tracking = local.tracking, self.transforms

    def __exit__(self, *_):
        local.tracking = self.before


def wrapped(text, transforms):
    """``text`` of a tensor within the given transforms, the outermost of them first."""
    for transform in transforms:
        text = (
            f"GradTrackingTensor(lvl={transform.depth}, value=\n{textwrap.indent(text, '    ')}\n)"
        )
    return text
