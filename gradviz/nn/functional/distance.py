"""Distances and similarities."""

from __future__ import annotations

from ...engine.dispatch import Tensor
from ...engine.dtypes import scalar_name
from ...engine.modes import no_grad
from ...engine.operands import common_dtype, not_a_tensor, together
from ...engine.operation import TENSOR
from ...ops.declare import FUNCTIONS, public
from ...ops.statistics import norm_along, pdist_op


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of ``x1 − x2 + eps`` along the last dimension."""
    for position, x in enumerate((x1, x2), 1):
        if not isinstance(x, Tensor):
            raise not_a_tensor("pairwise_distance", f"x{position}", position, x)
    return norm_along(TENSOR.add_number(x1 - x2, eps), p, -1, keepdim)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along ``dim``. The norms are kept above ``eps``
    behind the graph: their gradient passes through.
    """
    common = common_dtype(x1, x2)
    if common.category < 2:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {scalar_name(common)}"
        )
    shape = together(x1, x2)
    x1, x2 = (x if x._a.shape == shape else x.expand(shape) for x in (x1, x2))
    x1, x2 = (TENSOR.cast(x, common.np) for x in (x1, x2))
    units = []
    for x in (x1, x2):
        size = x.norm(2, dim, True).clone()
        with no_grad():
            size.clamp_min_(eps)
        units.append(x / size)
    return (units[0] * units[1]).sum(dim)


def pdist(input, p=2.0):
    """Distances between every two rows, as one vector."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if input.dtype.category != 2:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input._a.dtype.itemsize == 2:
        raise NotImplementedError(f"\"pdist\" not implemented for '{scalar_name(input.dtype)}'")
    return pdist_op(input, float(p))


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """``input`` divided by its p-norm along ``dim``."""
    denominator = input.norm(p, dim, True).clamp_min(eps).expand_as(input)
    return input / denominator if out is None else FUNCTIONS["div"](input, denominator, out=out)


for _f in (pairwise_distance, cosine_similarity, pdist):
    public(_f.__name__, _f)
