"""``vmap``: a function applied to every slice, one after the other, and its outputs stacked."""

from __future__ import annotations

import functools

from ..engine.operation import TENSOR
from ..engine.tensor import Tensor
from ..ops.random import default_generator
from .tree import flatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps ``func`` over dimension ``in_dims`` of its inputs (None: the same for
    all) and stacks at ``out_dims``.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, dims, rebuild = _inputs(func, args, in_dims)
        size = _size(leaves, dims)
        results = [_call(func, rebuild, leaves, dims, kwargs, k, randomness) for k in range(size)]
        return _joined(func, results, out_dims)

    return wrapped


def _name(func):
    return getattr(func, "__name__", repr(func))


def _inputs(func, args, in_dims):
    leaves, rebuild = flatten(args)
    where = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>):"
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(f"{where} expected `in_dims` to be int or a (potentially nested) tuple "
                         "matching the structure of inputs, got: "
                         f"{type(in_dims)}.")  # fmt: skip
    if not args:
        raise ValueError(f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add "
                         "inputs, or you are trying to vmap over a "
                         "function with no inputs. The latter is unsupported.")  # fmt: skip
    if isinstance(in_dims, tuple) and len(in_dims) != len(args):
        raise ValueError(f"{where} in_dims is not compatible with the structure of `inputs`.")
    dims = _spread(in_dims, args)
    for d, x in zip(dims, leaves, strict=True):
        if d is None:
            continue
        start = f"{where} Got in_dim={d} for"
        if not isinstance(x, Tensor):
            raise ValueError(f"{start} an input but the input is of type {type(x)}. We cannot "
                             "vmap over non-Tensor arguments, please use "
                             "None as the respective in_dim")  # fmt: skip
        if not -x._a.ndim <= d < x._a.ndim:
            raise ValueError(f"{start} some input, but that input is a Tensor of dimensionality "
                             f"{x._a.ndim} so expected in_dim to satisfy "
                             f"-{x._a.ndim} <= in_dim < {x._a.ndim}.")  # fmt: skip
    return leaves, dims, rebuild


def _spread(dims, tree):
    """One dimension a leaf of ``tree``: a number stands for a whole branch."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(flatten(tree)[0])
    if isinstance(tree, dict):
        return [d for k in tree for d in _spread(dims[k], tree[k])]
    return [d for part, branch in zip(dims, tree, strict=True) for d in _spread(part, branch)]


def _size(leaves, dims):
    sizes = [x._a.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got "
            f"sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


def _call(func, rebuild, leaves, dims, kwargs, k, randomness):
    before = None if randomness == "different" else default_generator.get_state()
    result = func(
        *rebuild([x if d is None else x.select(d, k) for x, d in zip(leaves, dims, strict=True)]),
        **kwargs,
    )
    if before is not None and not (before._a == default_generator.get_state()._a).all():
        if randomness == "error":
            raise RuntimeError("vmap: called random operation while in randomness error mode. "
                               "Please either use the 'same' or 'different' "
                               "randomness flags on vmap or perform the randomness operation out "
                               "of vmap")  # fmt: skip
        default_generator.set_state(before)
    return result


def _joined(func, results, out_dims):
    rows = []
    for result in results:
        leaves, rebuild = flatten(result)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"vmap({_name(func)}, ...): `{_name(func)}` must only return "
                                 f"Tensors, got type {type(leaf)}. Did you mean to "
                                 "set out_dims= to None for output?")  # fmt: skip
        rows.append(leaves)
    dims = _spread(out_dims, results[0])
    columns = zip(*rows, strict=True)
    return rebuild(
        [
            column[0] if d is None else _stack(list(column), d)
            for column, d in zip(columns, dims, strict=True)
        ]
    )


def _stack(tensors, dim):
    from ..ops.join import stack

    return TENSOR.stack_list(tensors) if dim == 0 else stack(tensors, dim)
