"""``vmap``: a function is called once, on tensors that stand for all slices of its inputs."""

from __future__ import annotations

import functools

from ..backend import xp, zeros_by
from ..engine.dispatch import wrap
from ..engine.modes import transforming
from ..engine.tensor import Tensor
from ..ops import FUNCTIONS
from ..ops.random import default_generator
from ..overrides import interceptable, looking
from .batched import is_batched, joined, split
from .levels import Level, Older, check_randomness, running
from .tree import flatten, spread, structure


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps ``func`` over dimension ``in_dims`` of its inputs (None: the same for
    all) and gives the results along ``out_dims``; ``chunk_size`` slices at a time.
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, dims, rebuild = _inputs(func, args, in_dims)
        size = _size(leaves, dims)
        mapped = _Mapped(func, rebuild, kwargs, out_dims, randomness)
        if chunk_size is None or not size:
            return mapped.all(leaves, dims, size)
        return mapped.in_chunks(leaves, dims, size, chunk_size)

    return wrapped


def older_vmap(func):
    """``vmap`` over first dimensions as batched gradients are computed in it: a user's Function
    runs slice by slice, without a rule, and nothing is drawn.
    """

    def wrapped(*args):
        leaves, dims, rebuild = _inputs(func, args, 0)
        return _Mapped(func, rebuild, {}, 0, None).all(leaves, dims, _size(leaves, dims))

    return wrapped


def _name(func):
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


# ---------------------------------------------------------------- inputs
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
    dims = spread(in_dims, args)
    if dims is None:
        raise ValueError(f"{where} in_dims is not compatible with the structure of `inputs`. "
                         f"in_dims has structure {structure(in_dims)} but inputs has structure "
                         f"{structure(args)}.")  # fmt: skip
    return leaves, [_dim(d, x, where) for d, x in zip(dims, leaves, strict=True)], rebuild


def _dim(d, x, where):
    start = f"{where} Got in_dim={d} for"
    if not (d is None or isinstance(d, int)):
        raise ValueError(f"{start} an input but in_dim must be either an integer dimension or "
                         "None.")  # fmt: skip
    if d is None:
        return None
    if not isinstance(x, Tensor):
        raise ValueError(f"{start} an input but the input is of type {type(x)}. We cannot vmap "
                         "over non-Tensor arguments, please use None as the respective "
                         "in_dim")  # fmt: skip
    n = x.dim()
    if not -n <= d < n:
        raise ValueError(f"{start} some input, but that input is a Tensor of dimensionality {n} "
                         f"so expected in_dim to satisfy -{n} <= in_dim < {n}.")  # fmt: skip
    if isinstance(d, bool):
        raise TypeError("size(): argument 'dim' (position 1) must be int, not bool")
    return d % n


def _size(leaves, dims):
    sizes = [x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got "
            f"sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


# ---------------------------------------------------------------- runs
class _Mapped:
    """One call of a mapped function."""

    def __init__(self, func, rebuild, kwargs, out_dims, randomness):
        self.func, self.rebuild, self.kwargs = looking(func), rebuild, kwargs
        self.name, self.out_dims, self.randomness = _name(func), out_dims, randomness

    def all(self, leaves, dims, size):
        """The results for all slices of ``leaves``."""
        results, rebuild = self._run(leaves, dims, size)
        return rebuild([whole for whole, _ in results])

    def in_chunks(self, leaves, dims, size, count):
        """The same, ``count`` slices at a time."""
        if not isinstance(count, int):
            raise TypeError("can't multiply sequence by non-int of type 'float'")
        chunks, state = [], default_generator.get_state()
        for start in range(0, size, count):
            if self.randomness == "same":
                default_generator.set_state(state)
            length = min(count, size - start)
            taken = [
                x if d is None else x.narrow(d, start, length)
                for x, d in zip(leaves, dims, strict=True)
            ]
            results, rebuild = self._run(taken, dims, length)
            chunks.append(results)
        return rebuild([_concatenated(column) for column in zip(*chunks, strict=True)])

    def _run(self, leaves, dims, size):
        """([(result, its dimension of the batch)], how they are nested)."""
        with interceptable(), transforming():
            level = Older(size) if self.randomness is None else Level(size, self.randomness)
            given = [
                x if d is None else split(x, d, level) if size else _first_of_none(x, d)
                for x, d in zip(leaves, dims, strict=True)
            ]
            with running(level):
                result = self.func(*self.rebuild(given), **self.kwargs)
        found, rebuild = flatten(result)
        dims = self._out_dims(result)
        return [(self._whole(x, d, level), d) for x, d in zip(found, dims, strict=True)], rebuild

    def _out_dims(self, result):
        start = f"vmap({self.name}, ..., out_dims={self.out_dims})"
        for x in flatten(result)[0]:
            if not isinstance(x, Tensor):
                raise ValueError(f"vmap({self.name}, ...): `{self.name}` must only return "
                                 f"Tensors, got type {type(x)}. Did you mean to "
                                 "set out_dims= to None for output?")  # fmt: skip
        if not all(d is None or isinstance(d, int) for d in flatten(self.out_dims)[0]):
            raise ValueError(f"{start}: `out_dims` must be an int, None or a python collection of "
                             "ints representing where in the outputs the vmapped dimension should "
                             "appear.")  # fmt: skip
        dims = spread(self.out_dims, result)
        if dims is None:
            raise ValueError(f"{start}(<inputs>): out_dims is not compatible with the structure of "
                             f"`outputs`. out_dims has structure {structure(self.out_dims)} but "
                             f"outputs has structure {structure(result)}.")  # fmt: skip
        return dims

    def _whole(self, x, d, level):
        """All slices of a result along ``d``."""
        if d is None:
            if is_batched(x, level):
                raise ValueError(f"vmap({self.name}, ...): `{self.name}` can not return a "
                                 "BatchedTensor when out_dim is None")  # fmt: skip
            return x
        if is_batched(x, level):
            whole, at = joined(x)
        elif level.size:
            whole, at = x.unsqueeze(0).expand(level.size, *x.shape), 0
        else:
            whole, at = wrap(zeros_by(x._a, (0, *x._a.shape))), 0
        return whole if at == d else FUNCTIONS["movedim"](whole, at, d)


def _first_of_none(x, d):
    """A slice of a batch that has none: zeros."""
    shape = (*x.shape[:d], *x.shape[d + 1 :])
    return wrap(xp.zeros(shape, x.dtype.np, like=x._a))


def _concatenated(column):
    dim = column[0][1]
    if dim is None:
        raise TypeError("cat(): argument 'dim' must be int, not NoneType")
    return FUNCTIONS["cat"]([whole for whole, _ in column], dim)
