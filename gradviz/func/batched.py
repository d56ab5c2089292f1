"""What a function sees inside ``vmap``: one tensor that stands for all slices of a batch.

It has the form of one slice and no numbers of its own: a function of such tensors is called for
every slice, and what that gives is such a tensor again. So no operation needs a rule for batches.
What would need the numbers of one slice is refused, in PyTorch's words.
"""

from __future__ import annotations

from ..engine import tracking
from ..engine.modes import local
from ..engine.node import new
from ..engine.tensor import Tensor
from ..ops import FUNCTIONS
from ..overrides import Overridable
from . import batch_rules


class Slice:
    """In place of an array: the form of one slice, and no numbers."""

    __slots__ = ("dtype", "ndim", "shape", "size")
    __array_ufunc__ = None

    def __init__(self, array):
        self.shape, self.dtype = array.shape, array.dtype
        self.ndim, self.size = array.ndim, array.size


class BatchedTensor(Overridable):
    """All slices of one batch. ``parts``: a tensor a slice; ``whole``, where there is one: the
    tensor that they are slices of along ``along``; ``tracked``: a transform inside takes gradients.
    """

    __slots__ = ("along", "level", "parts", "tracked", "whole")
    __hash__ = Tensor.__hash__

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return call(func, args, kwargs or {})

    def __iter__(self):
        return iter(self.unbind(0))

    def __repr__(self, *, tensor_contents=None):
        whole, dim = joined(self)
        depth = self.level.depth
        around = [t for t in tracking.levels_of(part_of(self))[0] if t.depth > depth]
        with tracking.among(t for t in local.tracking if t.depth < depth):
            inner = repr(whole).replace("\n", "\n    ")
        text = f"BatchedTensor(lvl={depth}, bdim={dim}, value=\n    {inner}\n)"
        return tracking.wrapped(text, around)


BatchedTensor.__name__ = BatchedTensor.__qualname__ = "Tensor"


def batched(parts, level, whole=None, along=0, tracked=False):
    """The tensor that stands for ``parts``, one a slice of the batch of ``level``."""
    made = new(BatchedTensor)
    made._a, made._g, made._v = Slice(parts[0]._a), None, None
    made.parts, made.level, made.whole, made.along = parts, level, whole, along
    made.tracked = tracked
    return made


def split(whole, dim, level):
    """The tensor that stands for all slices of ``whole`` along ``dim``."""
    return batched([whole.select(dim, k) for k in range(level.size)], level, whole, dim)


def joined(x):
    """(all slices of ``x`` in one tensor, along which dimension)."""
    return (stacked(x.parts, 0), 0) if x.whole is None else (x.whole, x.along)


def stacked(tensors, dim):
    """``tensors`` along a new dimension."""
    return FUNCTIONS["stack"](list(tensors), dim)


def is_batched(x, level=None):
    """Whether ``x`` stands for slices, of ``level`` if that is given."""
    return isinstance(x, BatchedTensor) and (level is None or x.level is level)


def innermost(values):
    """The level of those among ``values`` that stand for slices; None where there are none."""
    levels = [x.level for x in values if isinstance(x, BatchedTensor)]
    return max(levels, key=lambda level: level.depth) if levels else None


def part(x, level, k):
    """Slice ``k`` of what stands for slices of ``level``; anything else is the same for all."""
    return x.parts[k] if is_batched(x, level) else x


def part_of(x):
    """The first slice of what stands for slices, of whatever level; anything else itself."""
    while isinstance(x, BatchedTensor):
        x = x.parts[0]
    return x


def over_slices(function, *values, tracked=False):
    """``function`` of values, slice by slice where one of them stands for slices."""
    level = innermost(values)
    if level is None:
        return function(*values)
    rows = [over_slices(function, *[part(x, level, k) for x in values]) for k in range(level.size)]
    return combined(rows, level, tracked=tracked)


# ---------------------------------------------------------------- calls
def _leaves(value):
    """What is in nested tuples, lists and dicts, flat."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for x in value:
            yield from _leaves(x)
    else:
        yield value


def _slice(value, level, k):
    if isinstance(value, dict):
        return {name: _slice(x, level, k) for name, x in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_slice(x, level, k) for x in value)
    return part(value, level, k)


def call(func, args, kwargs):
    """``func`` of tensors, some of which may stand for slices."""
    name, given = _name(func), list(_leaves((args, kwargs)))
    level = innermost(given)
    if level is None:
        return func(*args, **kwargs)
    if name in batch_rules.OF_THE_BATCH:
        return batch_rules.OF_THE_BATCH[name](args[0])
    if name in batch_rules.OF_THE_FORM:
        return call(func, _slice(args, level, 0), _slice(kwargs, level, 0))
    batch_rules.refuse(name, args, kwargs, lambda x: is_batched(x, level), level.older)
    rows = []
    for k in range(level.size):
        if name == "grad" and k + 1 < level.size:
            kwargs = {**kwargs, "retain_graph": True}
        with level.drawing_for(k, name):
            rows.append(call(func, _slice(args, level, k), _slice(kwargs, level, k)))
    if name in batch_rules.OTHER_FORM:
        _changed(args[0])
    own = {id(x.parts[0]): x for x in given if is_batched(x, level)}
    return combined(rows, level, own, any(is_batched(x) and x.tracked for x in given))


def _changed(x):
    """The slices of ``x`` have another form now."""
    x._a, x.whole = Slice(x.parts[0]._a), None


_METHODS: dict[int, str] = {}
for _method, _found in vars(Tensor).items():
    _METHODS.setdefault(id(_found), _method)


def _name(func):
    """``add``, ``add_``; ``get shape`` and ``set grad`` for properties."""
    owner = getattr(func, "__self__", None)
    if isinstance(owner, property):
        return f"{func.__name__.strip('_')} {_METHODS[id(owner)]}"
    return _METHODS.get(id(func), func.__name__)


def combined(rows, level, own=(), tracked=False):
    """One result for those of all slices; ``own``: by the id of its first slice, what stands for
    slices already.
    """
    first = rows[0]
    if isinstance(first, Tensor):
        if id(first) in own:
            return own[id(first)]
        return batched(rows, level, tracked=tracked)
    if type(first) in (tuple, list) or hasattr(first, "_fields"):
        parts = [combined(column, level, own, tracked) for column in zip(*rows, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return first
