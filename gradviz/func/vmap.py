"""``vmap``: a function of single examples mapped over a batch dimension.

Each example is run in turn and the results are stacked, which gives the values and derivatives of
the batched program.
"""

from __future__ import annotations

import functools

from ..engine.tensor import Tensor
from ..ops import FUNCTIONS as ops
from .tree import flatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """``func`` over the dimensions ``in_dims`` of its arguments (None: not mapped); results stacked
    at ``out_dims``.
    """

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, restore = flatten(args)
        dims = _dims(in_dims, args)
        size = _size(leaves, dims, func)
        results = []
        for k in range(size):
            row = [
                x.select(d, k) if d is not None else x for x, d in zip(leaves, dims, strict=True)
            ]
            results.append(func(*restore(row), **kwargs))
        return _stacked(results, out_dims, func)

    return wrapped


def _dims(in_dims, args):
    """One dimension, or None, a leaf of ``args``."""
    if isinstance(in_dims, int) or in_dims is None:
        return [in_dims if isinstance(x, Tensor) else None for x in flatten(args)[0]]
    if not isinstance(in_dims, tuple | list):
        raise ValueError(
            f"vmap(f, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a "
            "(potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if len(in_dims) != len(args):
        raise ValueError(
            f"vmap(f, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the "
            "structure of `inputs`."
        )
    out = []
    for d, arg in zip(in_dims, args, strict=True):
        if isinstance(d, dict):
            for key, value in arg.items():
                out += _dims(d[key], (value,))
        elif isinstance(d, tuple | list):
            out += _dims(tuple(d), tuple(arg))
        else:
            out += [d if isinstance(x, Tensor) else None for x in flatten(arg)[0]]
    return out


def _size(leaves, dims, func):
    sizes = {x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None}
    name = getattr(func, "__name__", repr(func))
    if not sizes:
        raise ValueError(f"vmap({name}, ...)(<inputs>): at least one input must be mapped over")
    if len(sizes) > 1:
        found = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{found} for the mapped dimension"
        )
    return sizes.pop()


def _stacked(results, out_dims, func):
    flat = [flatten(r) for r in results]
    restore = flat[0][1]
    columns = list(zip(*[leaves for leaves, _ in flat], strict=True))
    dims = [out_dims] * len(columns) if isinstance(out_dims, int) else list(flatten(out_dims)[0])
    for leaf in flat[0][0]:
        if not isinstance(leaf, Tensor):
            name = getattr(func, "__name__", repr(func))
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)} as a "
                "return."
            )
    return restore(
        [
            c[0] if d is None else ops["stack"](list(c), d)
            for c, d in zip(columns, dims, strict=True)
        ]
    )
