"""Distances and similarities."""

from __future__ import annotations

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.operands import together
from ...ops.declare import FUNCTIONS, public


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of ``x1 − x2 + eps`` along the last dimension."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along ``dim``."""
    shape = together(x1, x2)
    x1, x2 = (x if x._a.shape == shape else x.expand(shape) for x in (x1, x2))
    n1, n2 = x1.norm(2, dim, True), x2.norm(2, dim, True)
    return ((x1 / n1.clamp_min(eps)) * (x2 / n2.clamp_min(eps))).sum(dim)


def pdist(input, p=2.0):
    """Distances between every two rows, as one vector."""
    i, j = xp.triu_indices(input.shape[0], 1)
    return (input[wrap(i)] - input[wrap(j)]).norm(p, -1)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """``input`` divided by its p-norm along ``dim``."""
    denominator = input.norm(p, dim, True).clamp_min(eps).expand_as(input)
    return input / denominator if out is None else FUNCTIONS["div"](input, denominator, out=out)


for _f in (pairwise_distance, cosine_similarity, pdist):
    public(_f.__name__, _f)
