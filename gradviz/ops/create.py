"""Factories, conversions to and from Python and NumPy, filling in place."""

from __future__ import annotations

import math
import warnings

from ..backend import beside, xp
from ..engine import dtypes, views
from ..engine.construct import array_of, mark
from ..engine.device import Device, place, resolve
from ..engine.device import like as like_of
from ..engine.dispatch import Tensor, untracked, wrap
from ..engine.errors import warn_once
from ..engine.events import door
from ..engine.memory_format import contiguous_format, in_format, preserve_format
from ..engine.operands import all_tensors, not_a_tensor, type_name
from ..engine.operation import RAW, TENSOR
from ..engine.strides import strided
from .casting import to_copy, to_format
from .clone import warn_of_real
from .declare import declare, method, only_function, only_method, public
from .shape import check_sizes, sizes, told_of


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with a copy of ``data`` (numbers, nested sequences, arrays); Python floats take
    the default dtype.
    """
    _warn_of_copy(data, "torch.tensor")
    if dtype.__class__ is type:
        dtype = dtypes.PYTHON.get(dtype, dtype)
    if dtype is not None and dtype.__class__ is not dtypes.dtype:
        kind = type(dtype).__name__
        raise TypeError(f"tensor(): argument 'dtype' must be torch.dtype, not {kind}")
    made = mark(wrap(array_of(data, dtype, device)), requires_grad)
    if door.observer is not None and isinstance(data, Tensor) and data.requires_grad:
        door.observer.cut(data, made, "tensor")
    return made


def _warn_of_copy(data, name):
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            f"{name}(sourceTensor).",
            UserWarning,
            stacklevel=3,
        )


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """``tensor(data)`` with the dtype and on the device of this one, unless others are given."""
    _warn_of_copy(data, "tensor.new_tensor")
    made = array_of(data, dtype or self.dtype, device or self.device)
    return mark(wrap(made), requires_grad)


only_function(tensor)
only_method(new_tensor)


# ---------------------------------------------------------------- filled
def _created_grad(F, g, name):
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


# what a tracked tensor becomes that was given as ``out=`` to a factory
TENSOR.created = declare(
    "created", lambda x, name: x, "self", "name", node="NotImplemented", self=_created_grad
)


def laid_out(made, array, memory_format=None):
    """``made`` with its elements in memory as those of ``array`` are: a transposed tensor's twin is
    transposed, unless ``memory_format`` says otherwise.
    """
    if memory_format is not None and memory_format is not preserve_format:
        return in_format(made, memory_format)
    if array.flags.c_contiguous:
        return made
    out = xp.empty_like(array, made.dtype)
    out[...] = made
    return out


def _make(name, maker, doc):
    def factory(
        *args,
        size=None,
        dtype=None,
        device=None,
        requires_grad=False,
        layout=None,
        pin_memory=False,
        out=None,
        memory_format=None,
        names=None,
    ):
        if size is None and not args:
            raise told_of(name, (), None, method=False)
        shape = sizes(args if size is None else (size,))
        if name == "zeros" and shape and min(shape) < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        check_sizes(shape)
        found = maker(shape, (dtype or dtypes.default.float).np, like=like_of(device))
        if memory_format is not None and memory_format is not contiguous_format:
            if memory_format is preserve_format:
                raise RuntimeError("unsupported memory format Preserve")
            found = in_format(found, memory_format)
        return mark(wrap(found), requires_grad)

    def like(
        input, *, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None
    ):
        there = input._a if device is None else like_of(device)
        found = maker(input._a.shape, (dtype or input.dtype).np, like=there)
        if device is None:
            found = laid_out(found, input._a, memory_format)
        return mark(wrap(found), requires_grad)

    def fresh(
        self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False
    ):
        there = self._a if device is None else like_of(device)
        return mark(
            wrap(maker(check_sizes(sizes(size)), (dtype or self.dtype).np, like=there)),
            requires_grad,
        )

    factory.__name__, factory.__doc__ = name, f"A new tensor of the given sizes, {doc}."
    like.__name__, like.__doc__ = (
        f"{name}_like",
        f"A new tensor in the shape and dtype of ``input``, {doc}.",
    )
    fresh.__name__, fresh.__doc__ = (
        f"new_{name}",
        f"A new tensor of the given sizes in the dtype of this one, {doc}.",
    )
    only_function(factory)
    only_function(like)
    only_method(fresh)


_make("zeros", xp.zeros, "filled with zeros")
_make("ones", xp.ones, "filled with ones")
_make("empty", xp.zeros, "not meant to be read before it is written")


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, out=None):
    """A new tensor of one value; its dtype is the value's."""
    value = fill_value._a.item() if isinstance(fill_value, Tensor) else fill_value
    if not isinstance(value, (bool, int, float, complex, xp.generic)):
        raise TypeError(
            f"full(): argument 'fill_value' (position 2) must be Number, not {type(value).__name__}"
        )
    wanted = dtype or dtypes.of_scalar(value)
    value = dtypes.held(value, wanted.np)
    made = xp.full(check_sizes(sizes((size,))), value, wanted.np, like=like_of(device))
    return mark(wrap(made), requires_grad)


def full_like(
    input,
    fill_value,
    *,
    dtype=None,
    requires_grad=False,
    device=None,
    memory_format=None,
    layout=None,
):
    """A new tensor of one value in the shape and dtype of ``input``."""
    there = input._a if device is None else like_of(device)
    wanted = (dtype or input.dtype).np
    made = xp.full(input._a.shape, dtypes.held(fill_value, wanted), wanted, like=there)
    if device is None:
        made = laid_out(made, input._a, memory_format)
    return mark(wrap(made), requires_grad)


def check_range(name, dtype):
    """NotImplementedError for a dtype in which PyTorch makes no sequences."""
    if dtype.category not in (1, 2):
        raise NotImplementedError(
            f"\"{name}_cpu\" not implemented for '{dtypes.scalar_name(dtype)}'"
        )


def arange(
    start, end=None, step=1, *, dtype=None, device=None, requires_grad=False, layout=None, out=None
):
    """Numbers from ``start`` to before ``end``; int64 when all are integers."""
    if end is None:
        start, end = 0, start
    start, end, step = (x._a.item() if isinstance(x, Tensor) else x for x in (start, end, step))
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is None:
        dtype = (
            dtypes.int64
            if all(isinstance(x, (int, xp.integer)) for x in (start, end, step))
            else dtypes.default.float
        )
    check_range("arange", dtype)
    n = math.ceil((end - start) / step)
    if dtype.category == 1:
        start, step = int(start), int(step)
    values = start + xp.arange(n, like=like_of(device)) * step
    return mark(wrap(values.astype(dtype.np)), requires_grad)


def _evenly(start, end, steps, kind):
    """``steps`` numbers from both ends towards the middle, each rounded once, as PyTorch does."""
    real = kind.type(0).real.dtype if kind.kind == "c" else kind
    if real.kind in "biu":
        start, end, step_kind, wide = int(start), int(end), xp.float32, xp.float32
    else:
        step_kind, wide = real, xp.longdouble if real == xp.float64 else xp.float64
        start, end = (wide(real.type(x)) for x in (start, end))
    step = wide(xp.dtype(step_kind).type((end - start) / (steps - 1))) if steps > 1 else wide(0)
    at = xp.arange(steps)
    low, high = start + step * at, end - step * (steps - 1 - at)
    return xp.where((at < steps // 2) | (steps == 1), low, high).astype(real).astype(kind)


def _check_steps(steps):
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")


def linspace(
    start, end, steps, *, dtype=None, device=None, requires_grad=False, layout=None, out=None
):
    """``steps`` evenly spaced numbers, both ends included."""
    start, end = (x._a.item() if isinstance(x, Tensor) else x for x in (start, end))
    wanted = (dtype or dtypes.default.float).np
    _check_steps(steps)
    values = _evenly(start, end, int(steps), wanted)
    return mark(wrap(beside(values, like_of(device))), requires_grad)


def logspace(start, end, steps, base=10.0, *, dtype=None, requires_grad=False, device=None):
    """``steps`` numbers evenly spaced on a logarithmic scale."""
    wanted = (dtype or dtypes.default.float).np
    _check_steps(steps)
    if wanted.kind in "iu":
        start, end = int(start), int(end)
    values = xp.logspace(start, end, int(steps), base=base).astype(wanted)
    return mark(wrap(beside(values, like_of(device))), requires_grad)


def _check_sizes(name, values):
    for value, label in values:
        if value < 0:
            raise RuntimeError(f"{label} must be greater or equal to 0, got {value}")


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False, layout=None, out=None):
    """The identity matrix."""
    _check_sizes("eye", [(n, "n"), (n if m is None else m, "m")])
    kind = (dtype or dtypes.default.float).np
    made = xp.eye(n, n if m is None else m, dtype=kind, like=like_of(device))
    return mark(wrap(made), requires_grad)


def meshgrid(*tensors, indexing=None):
    """Coordinate grids of one-dimensional tensors."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    for x in all_tensors(tensors):
        if x._a.ndim > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}"
            )
    if any(x._a.dtype != tensors[0]._a.dtype for x in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "xy", "ij"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    if indexing is None:
        warn_once(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument."
        )
    swap = indexing == "xy" and len(tensors) > 1
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    shape = tuple(x._a.size for x in tensors)
    grids = []
    for k, x in enumerate(tensors):
        view = x.reshape(*[-1 if i == k else 1 for i in range(len(shape))])
        grids.append(view.expand(*shape))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False, layout=None):
    """An uninitialised tensor with the given sizes and strides in elements."""
    span = sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1 if 0 not in size else 0
    flat = xp.zeros(span, (dtype or dtypes.default.float).np, like=like_of(device))
    return mark(wrap(strided(flat, tuple(size), tuple(stride), 0)), requires_grad)


def _check_triangle(name, row, col, dtype):
    for what, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{what} must be non-negative, got{n}")
    if dtype is not None and (dtype.category != 1 or dtype.name in ("uint8", "int8")):
        raise NotImplementedError(f"\"{name}\" not implemented for '{dtypes.scalar_name(dtype)}'")


def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column indices of the lower triangle."""
    _check_triangle("tril_indices", row, col, dtype)
    found = xp.stack(xp.tril_indices(row, offset, col)).astype((dtype or dtypes.int64).np)
    return wrap(beside(found, like_of(device)))


def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """Row and column indices of the upper triangle."""
    _check_triangle("triu_indices", row, col, dtype)
    found = xp.stack(xp.triu_indices(row, offset, col)).astype((dtype or dtypes.int64).np)
    return wrap(beside(found, like_of(device)))


def scalar_tensor(value, *, dtype=None, device=None, requires_grad=False):
    """A 0-d tensor."""
    wanted = (dtype or dtypes.default.float).np
    made = xp.asarray(dtypes.held(value, wanted), wanted, like=like_of(device))
    return mark(wrap(made), requires_grad)


for _f in (
    full,
    full_like,
    arange,
    linspace,
    logspace,
    eye,
    meshgrid,
    empty_strided,
    tril_indices,
    triu_indices,
    scalar_tensor,
):
    only_function(_f)
only_method(
    lambda self, size, fill_value, *, dtype=None, device=None, requires_grad=False: full(
        size,
        fill_value,
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
    ),
    "new_full",
)
only_method(
    lambda self, *size, device=None: (
        wrap(xp.zeros(sizes(size), self._a.dtype, like=self._a))
        if not size or isinstance(size[0], int)
        else wrap(array_of(size[0], self.dtype, self.device))
    ),
    "new",
)


# ---------------------------------------------------------------- filling in place
def _filled(x, value):
    if isinstance(value, complex):
        value = dtypes.held(value, x.dtype)
    try:
        if isinstance(value, (float, complex)):
            value = dtypes.held(value, x.dtype)
        return xp.full(x.shape, value, x.dtype, like=x)
    except (OverflowError, TypeError):
        return xp.full(x.shape, dtypes.held(value, x.dtype), x.dtype, like=x)


fill_op = declare(
    "fill",
    lambda x, value: _filled(x, value),
    "self",
    "value",
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
fill_inplace = declare(
    "fill_inplace",
    lambda x, value: _filled(x, value),
    "self",
    "value",
    node="FillBackward2",
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
fill_tensor_op = declare(
    "fill_tensor",
    lambda x, value: xp.broadcast_to(beside(value, x).astype(x.dtype), x.shape),
    "self value",
    node="FillBackward1",
    formula="∂value: Σ g",
    self=lambda F, g: F.zeros_like(g),
    value=lambda F, g: F.sum(g),
)
fill_tensor_inplace = declare(
    "fill_tensor_inplace",
    lambda x, value: xp.broadcast_to(beside(value, x).astype(x.dtype), x.shape),
    "self value",
    node="FillBackward3",
    formula="∂value: Σ g",
    self=lambda F, g: F.zeros_like(g),
    value=lambda F, g: F.sum(g),
)
zero_op = declare(
    "zero",
    lambda x: xp.zeros(x.shape, x.dtype, like=x),
    "self",
    "",
    node="ZeroBackward0",
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)


def fill(input, value):
    """A tensor like ``input`` full of ``value``, a number or a tensor of no dimensions."""
    return (fill_tensor_op if isinstance(value, Tensor) else fill_op)(input, value)


def fill_(self, value):
    """Set every element to ``value``."""
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value._a.ndim} dimensions."
            )
        return views.write(fill_tensor_inplace.op, (self, value))
    return views.write(fill_inplace.op, (self,), (value,))


def zero_(self):
    """Set every element to zero."""
    return views.write(zero_op.op, (self,))


def fill_diagonal_(self, fill_value, wrap_=False):
    """Set the main diagonal to ``fill_value``."""
    shape = self._a.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    self.diagonal().fill_(fill_value)
    return self


for _f in (fill_, zero_, fill_diagonal_):
    only_method(_f)
public("fill", fill)


# ---------------------------------------------------------------- dtype and device
RAW.to_device = place
TENSOR.to_device = lambda g, device: to(g, device=device)
transfer = declare(
    "transfer",
    lambda x, dtype, there, back: place(x, there).astype(dtype, copy=False),
    "self",
    "dtype there back",
    node="ToCopyBackward0",
    formula="g",
    hidden=("dtype", "there", "back"),
    self=lambda F, g, back: F.to_device(g, back),
)


_REST = "bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)"
_NOT_TO = (
    "to() received an invalid combination of arguments - got ({given}), but expected one of:\n"
    f" * (torch.device device = None, torch.dtype dtype = None, {_REST}\n"
    f" * (torch.dtype dtype, {_REST}\n * (Tensor tensor, {_REST}\n"
)


def _moved(source, result):
    if door.observer is not None:
        door.observer.moved(source, result)
    return result


def to(self, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None):
    """The tensor in another dtype or on another device; itself when nothing changes."""
    for a in args:
        if isinstance(a, (dtypes.dtype, type)):
            dtype = a
        elif isinstance(a, Tensor):
            dtype, device = a.dtype, a.device
        elif isinstance(a, (str, Device, int)) and not isinstance(a, bool) and dtype is None:
            device = a
        elif a is not None and not isinstance(a, bool):
            given = ", ".join(type_name(one) for one in args)
            raise TypeError(_NOT_TO.format(given=given))
    dtype = dtypes.PYTHON.get(dtype, dtype)
    wanted = self._a.dtype if dtype is None else dtype.np
    there = None if device is None else resolve(device)
    if there is not None and there != self.device:
        return _moved(self, transfer(self, wanted, there, self.device))
    if memory_format is not None and memory_format is not preserve_format:
        laid = in_format(self._a, memory_format)
        same = laid is self._a and wanted == laid.dtype and not copy
        return self if same else to_format(self, wanted, memory_format)
    if wanted == self._a.dtype:
        return self.clone() if copy else self
    warn_of_real(self._a.dtype, wanted)
    if wanted.kind not in "biu":
        return to_copy(self, wanted)
    result = untracked(to_copy.op, to_copy.op.forward(self._a, wanted), self)
    if door.observer is not None and self.requires_grad:
        door.observer.cut(self, result, "integer")
    return result


only_method(to)
for _name, _dtype in [
    ("float", dtypes.float32),
    ("double", dtypes.float64),
    ("half", dtypes.float16),
    ("bfloat16", dtypes.bfloat16),
    ("long", dtypes.int64),
    ("int", dtypes.int32),
    ("short", dtypes.int16),
    ("char", dtypes.int8),
    ("byte", dtypes.uint8),
    ("bool", dtypes.bool_),
    ("cfloat", dtypes.complex64),
    ("cdouble", dtypes.complex128),
]:
    only_method(
        lambda self, *, memory_format=None, _d=_dtype: to(self, _d, memory_format=memory_format),
        _name,
    )


def type_(self, dtype=None, non_blocking=False):
    """The name of the type, or the tensor in another one: a dtype, a name, or an older type."""
    if dtype is None:
        place = "" if self.is_cpu else f"{self.device.type}."
        return f"torch.{place}{self.dtype.type_name}"
    if not isinstance(dtype, dtypes.dtype):
        name = dtype if isinstance(dtype, str) else dtype.__name__
        dtype = dtypes.by_type_name(name.rpartition(".")[2])
        if dtype is None:
            raise ValueError(f"invalid type: '{name}'")
    return to(self, dtype)


only_method(type_, "type")


def _on_the_host(refusal):
    """A method that has nothing to do for tensors on the host; RuntimeError for others."""

    def method(self, device=None):
        if self.is_meta:
            kind = f"Meta{self.dtype.type_name.removesuffix('Tensor')}Type"
            raise RuntimeError(refusal.format(kind=kind))
        return self

    return method


def type_as(self, other):
    """The tensor in the dtype of another."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("type_as", "other", 1, other)
    return to(self, other.dtype)


only_method(type_as)
only_method(lambda self, *, memory_format=None: to(self, "cpu", memory_format=memory_format), "cpu")
only_method(
    lambda self, device=None, non_blocking=False, memory_format=None: to(
        self, "cuda" if device is None else device
    ),
    "cuda",
)
only_method(_on_the_host("cannot pin '{kind}' only dense CPU tensors can be pinned"), "pin_memory")
only_method(lambda self: False, "is_pinned")
only_method(_on_the_host("_share_fd_: only available on CPU"), "share_memory_")
only_method(lambda self: False, "is_shared")


method(lambda input: bool(input) if isinstance(input, Tensor) else input._a, "is_nonzero")
