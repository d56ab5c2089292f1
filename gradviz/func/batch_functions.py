"""A user's ``autograd.Function`` inside ``vmap``: its own rule for the whole batch, or slice by
slice.
"""

from __future__ import annotations

from collections import namedtuple

from ..autograd.function import FOR_DETAILS, require_batching
from ..engine.modes import local
from ..engine.tensor import Tensor
from ..overrides import interceptable
from .batched import batched, combined, innermost, is_batched, joined, part
from .levels import Columns, Older, running
from .tree import flatten, spread, structure

VmapInfo = namedtuple("VmapInfo", ("batch_size", "randomness"))


def apply(cls, args):
    """None: ``cls`` runs as it is. Otherwise a function that gives its result for all slices."""
    leaves, rebuild = flatten(args)
    level = innermost(leaves)
    if level is None:
        if isinstance(local.batch, Columns):
            require_batching(cls)
        return None
    if not level.older and require_batching(cls):
        return lambda: _by_its_rule(cls, level, leaves, rebuild)
    return lambda: combined(
        [cls.apply(*rebuild([part(x, level, k) for x in leaves])) for k in range(level.size)],
        level,
        tracked=any(is_batched(x) and x.tracked for x in leaves),
    )


def one_slice(call, grads):
    """What ``call`` gives for gradients of one slice of a batch; it sees tensors that stand for all
    of its slices.
    """
    level = Older(1)
    given = [None if g is None else batched([g], level, tracked=g.requires_grad) for g in grads]
    local.rows = False
    try:
        with interceptable(), running(level):
            returned = call(*given)
    finally:
        local.rows = True
    if isinstance(returned, tuple):
        return tuple(part(x, level, 0) for x in returned)
    return part(returned, level, 0)


def _by_its_rule(cls, level, leaves, rebuild):
    whole = [joined(x) if is_batched(x, level) else (x, None) for x in leaves]
    args, in_dims = (rebuild(list(column)) for column in zip(*whole, strict=True))
    with running(level.outer):
        output, dims = _checked(cls.vmap(VmapInfo(level.size, level.randomness), in_dims, *args))
    results, build = flatten(output)
    tracked = any(is_batched(x) and x.tracked for x in leaves)
    return build(
        [
            x
            if d is None or not isinstance(x, Tensor)
            else batched([x.select(d, k) for k in range(level.size)], level, x, d, tracked)
            for x, d in zip(results, dims, strict=True)
        ]
    )


def _checked(returned):
    """(output, one dimension a tensor of it) from what a ``vmap`` staticmethod returned."""
    if not (isinstance(returned, tuple) and len(returned) == 2):
        got = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got {got} instead"
        )
    output, out_dims = returned
    dims = spread(out_dims, output)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, "
            f"out_dims) tuple. Expected out_dims={out_dims} to be compatible with the structure of "
            f"`output`. out_dims has structure {structure(out_dims)} but output has structure "
            f"{structure(output)}. {FOR_DETAILS}"
        )
    return output, dims
