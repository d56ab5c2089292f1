"""``vmap``: a function applied to every slice, one after the other, and its outputs stacked."""

from __future__ import annotations

import functools

from ..autograd.function import require_batching
from ..backend import xp, zeros_by
from ..engine.dispatch import wrap
from ..engine.modes import local, transforming
from ..engine.operation import TENSOR
from ..engine.tensor import Tensor
from ..ops.random import default_generator
from .tree import flatten, spread, structure


class Restart(BaseException):
    """A Function brings a rule for the whole batch: all slices must be at hand."""

    def __init__(self, batch):
        self.batch = batch


class Batch:
    """A vmap that runs slice by slice."""

    def __init__(self, size, randomness, outer):
        self.size, self.randomness, self.outer = size, randomness, outer

    def apply(self, cls, args):
        """None: the slice goes through ``cls`` as it is. Restart where ``cls`` has a rule."""
        if require_batching(cls):
            raise Restart(self)


class Columns(Batch):
    """Stands for the vmap over tangents of ``jacfwd``: it asks that Functions can be batched."""

    def __init__(self, outer):
        super().__init__(1, "error", outer)

    def apply(self, cls, args):
        require_batching(cls)


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that maps ``func`` over dimension ``in_dims`` of its inputs (None: the same for
    all) and stacks at ``out_dims``. ``chunk_size`` is accepted: slices are taken one by one.
    """
    check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args, **kwargs):
        leaves, dims, rebuild = _inputs(func, args, in_dims)
        size = _size(leaves, dims)
        mapped = Mapped(func, rebuild, leaves, dims, kwargs, randomness)
        with transforming():
            results = mapped.run(size) if size else [mapped.empty()]
            return _joined(func, results, out_dims, size)

    return wrapped


def check_randomness(randomness):
    """RuntimeError unless it is one of the three."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


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
    n = x._a.ndim
    if not -n <= d < n:
        raise ValueError(f"{start} some input, but that input is a Tensor of dimensionality {n} "
                         f"so expected in_dim to satisfy -{n} <= in_dim < {n}.")  # fmt: skip
    return d % n


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


# ---------------------------------------------------------------- slices
class Mapped:
    """A function, the tensors it is mapped over and their dimensions."""

    def __init__(self, func, rebuild, leaves, dims, kwargs, randomness):
        self.func, self.rebuild, self.kwargs = func, rebuild, kwargs
        self.leaves, self.dims, self.randomness = leaves, dims, randomness

    def slices(self, k):
        """The inputs of slice ``k``."""
        return [
            x if d is None else x.select(d, k) for x, d in zip(self.leaves, self.dims, strict=True)
        ]

    def call(self, slices):
        return self.func(*self.rebuild(slices), **self.kwargs)

    def run(self, size):
        """The results of all slices."""
        outer = local.batch
        local.batch = batch = Batch(size, self.randomness, outer)
        try:
            return [self._one(k) for k in range(size)]
        except Restart as request:
            if request.batch is not batch:
                raise
        finally:
            local.batch = outer
        from .lockstep import Lockstep

        return Lockstep(self, size, outer).run()

    def _one(self, k):
        random = Random(self.randomness)
        result = self.call(self.slices(k))
        random.leave()
        return result

    def empty(self):
        """What the function would give for a slice of a batch that has none."""
        made = [
            x if d is None else wrap(zeros_by(x._a, x._a.shape[:d] + x._a.shape[d + 1 :]))
            for x, d in zip(self.leaves, self.dims, strict=True)
        ]
        return self.call(made)


class Random:
    """The random numbers of one slice: refused, the same for every slice, or as they come."""

    def __init__(self, randomness):
        self.randomness = randomness
        self.before = None if randomness == "different" else default_generator.get_state()

    def leave(self):
        if self.before is None or (self.before._a == default_generator.get_state()._a).all():
            return
        if self.randomness == "error":
            raise RuntimeError("vmap: called random operation while in randomness error mode. "
                               "Please either use the 'same' or 'different' "
                               "randomness flags on vmap or perform the randomness operation out "
                               "of vmap")  # fmt: skip
        default_generator.set_state(self.before)


# ---------------------------------------------------------------- outputs
def _joined(func, results, out_dims, size):
    name = _name(func)
    rows = [flatten(result)[0] for result in results]
    rebuild = flatten(results[0])[1]
    dims = spread(out_dims, results[0])
    if dims is None or not all(d is None or isinstance(d, int) for d in flatten(out_dims)[0]):
        raise ValueError(_misfit(name, out_dims, results[0]))
    for row in rows:
        for leaf in row:
            if not isinstance(leaf, Tensor):
                raise ValueError(f"vmap({name}, ...): `{name}` must only return "
                                 f"Tensors, got type {type(leaf)}. Did you mean to "
                                 "set out_dims= to None for output?")  # fmt: skip
    columns = zip(*rows, strict=True)
    return rebuild([_column(name, c, d, size) for c, d in zip(columns, dims, strict=True)])


def _misfit(name, out_dims, result):
    start = f"vmap({name}, ..., out_dims={out_dims})"
    if not all(d is None or isinstance(d, int) for d in flatten(out_dims)[0]):
        return (
            f"{start}: `out_dims` must be an int, None or a python collection of ints representing "
            "where in the outputs the vmapped dimension should appear."
        )
    return (
        f"{start}(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims "
        f"has structure {structure(out_dims)} but outputs has structure {structure(result)}."
    )


def _column(name, column, d, size):
    first = column[0]
    if d is None:
        if any(x is not first and not xp.array_equal(x._a, first._a) for x in column):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
            )
        return first
    if not size:
        d %= first._a.ndim + 1
        return wrap(zeros_by(first._a, (*first._a.shape[:d], 0, *first._a.shape[d:])))
    return stacked(list(column), d)


def stacked(tensors, dim):
    """``tensors`` along a new dimension."""
    from ..ops.join import stack

    return TENSOR.stack_list(tensors) if dim == 0 else stack(tensors, dim)
