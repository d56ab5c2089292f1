"""Joining and parting: cat, stack, slices, select, split, unbind. Each the inverse of another."""

from __future__ import annotations

from ..backend import beside, contiguous, xp, zeros_by
from ..engine.arguments import refusal
from ..engine.dispatch import Tensor
from ..engine.given import given
from ..engine.memory_format import channels_format, in_format
from ..engine.node import INFERENCE
from ..engine.operands import common_dtype
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from .declare import declare, method, public
from .mistakes import told
from .out import write_out

# ---------------------------------------------------------------- joining


_EMPTY = (0,)  # a tensor of this shape may be joined with any others


def _cat_forward(arrays, dim):
    arrays = _joined(arrays)
    out = contiguous(xp.concatenate(arrays, dim))
    if out.ndim > 3:
        formats = {channels_format(x) for x in arrays}
        if len(formats) == 1 and None not in formats:
            return in_format(out, *formats)
    return out


def _cast(arrays, dtype):
    return [x if x.dtype is dtype else RAW.cast(x, dtype) for x in arrays]


def _joined(arrays):
    """The arrays without those of no elements and one dimension, where there are others."""
    return [x for x in arrays if x.shape != _EMPTY] or arrays[:1]


def variadic(name, node, forward, joint, formula, hide=()):
    """An operation of any number of tensors and one attribute: one declaration a count. Tensors of
    several dtypes are promoted on the way.
    """
    made = {}

    def function(tensors, dim):
        n = len(tensors)
        first = tensors[0]._a.dtype
        dtype = first if all(x._a.dtype is first for x in tensors) else common_dtype(*tensors).np
        op = made.get(n)
        if op is None:
            names = " ".join(f"t{k}" for k in range(n))
            shapes = ", ".join(f"t{k}_shape" for k in range(n))
            rule = eval(
                f"lambda F, g, dim, {shapes}: joint(F, g, dim, ({shapes},))", {"joint": joint}
            )  # noqa: S307
            hidden = (*hide, *[f"t{k}_sym_sizes" for k in range(n)])
            op = declare(
                f"{name}_{n}",
                lambda *a: forward(_cast(a[:-2], a[-1]), a[-2]),
                names,
                "dim dtype",
                node=node,
                formula=formula,
                joint=rule,
                hidden=hidden,
            )
            op.op.node.whole = True
            made[n] = op
        return op(*tensors, dim, dtype)

    return function


def _cat_joint(F, g, dim, shapes):
    out, start = [], 0
    for shape in shapes:
        if shape == _EMPTY:
            out.append(F.constant(zeros_by(g if F is RAW else g._a, shape)))
            continue
        n = shape[dim]
        out.append(F.narrow(g, dim, start, n))
        start += n
    return out


def _stack_joint(F, g, dim, shapes):
    return [F.select(g, dim, k) for k in range(len(shapes))]


_cat = variadic(
    "cat", "CatBackward0", _cat_forward, _cat_joint, "the slice of g that came from each input"
)
_stack = variadic(
    "stack",
    "StackBackward0",
    lambda arrays, dim: contiguous(xp.stack(arrays, dim)),
    _stack_joint,
    "the slice of g that came from each input",
)


def _several(name, tensors, dim):
    """The tensors of a list; TypeError for one tensor alone."""
    if isinstance(tensors, Tensor):
        raise refusal(name, (tensors, dim), {})
    return list(tensors)


def cat(tensors, dim=0, *, out=None):
    """Tensors joined along an existing dimension."""
    tensors = _several("cat", tensors, dim)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for k, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"expected Tensor as element {k} in argument 0, but got {type(x).__name__}"
            )
        if x._a.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {k}) cannot be concatenated")
    joined = [x for x in tensors if x._a.shape != _EMPTY]
    d = wrap_dim(dim, joined[0]._a.ndim) if joined else 0
    _check_cat(joined or tensors[:1], d)
    result = _cat(tensors, d)
    return result if out is None else _write(result, out)


def _write(result, out):
    return write_out("cat", result, out)


def _check_cat(tensors, dim):
    first = tensors[0]._a.shape
    for k, x in enumerate(tensors):
        s = x._a.shape
        if len(s) != len(first):
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {len(first)} and {len(s)}"
            )
        for i, (a, b) in enumerate(zip(first, s, strict=True)):
            if i != dim and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} "
                    f"but got size {b} for tensor number "
                    f"{k} in the list."
                )


def stack(tensors, dim=0, *, out=None):
    """Tensors of one shape joined along a new dimension."""
    tensors = _several("stack", tensors, dim)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]._a.shape
    for k, x in enumerate(tensors):
        if x._a.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 "
                f"and {list(x._a.shape)} at entry {k}"
            )
    result = _stack(tensors, wrap_dim(dim, len(first) + 1))
    return result if out is None else _write(result, out)


public("cat", cat)
for _n in ("concat", "concatenate"):
    public(_n, cat)
public("stack", stack)
TENSOR.stack_list = lambda column: stack(column)


# ---------------------------------------------------------------- parting
def _region(ndim, dim, window):
    return (slice(None),) * dim + (window,) + (slice(None),) * (ndim - dim - 1)


def _put(shape, region, g):
    out = zeros_by(g, shape)
    out[region] = g
    return out


declare(
    "put_region",
    lambda g, shape, region: _put(shape, region, g),
    "self",
    "shape region",
    node="SliceBackwardBackward0",
    self=lambda F, g, region: F.take_region(g, region),
)
declare(
    "take_region",
    lambda x, region: x[region],
    "self",
    "region",
    node="SliceBackward0",
    self=lambda F, g, self_shape, region: F.put_region(g, self_shape, region),
)
declare(
    "slice_backward",
    lambda g, shape, dim, start, end, step: _put(
        shape, _region(len(shape), dim, slice(start, end, step)), g
    ),
    "self",
    "shape dim start end step",
    formula="the block of g",
    self=lambda F, g, dim, start, end, step: F.slice(g, dim, start, end, step),
)
declare(
    "select_backward",
    lambda g, shape, dim, index: _put(shape, _region(len(shape), dim, index), g),
    "self",
    "shape dim index",
    formula="the block of g",
    self=lambda F, g, dim, index: F.select(g, dim, index),
)
slice_op = declare(
    "slice",
    lambda x, dim, start, end, step: x[_region(x.ndim, dim, slice(start, end, step))],
    "self",
    "dim start end step",
    node="SliceBackward0",
    view=True,
    formula="g in its place, zeros elsewhere",
    self=lambda F, g, self_shape, dim, start, end, step: F.slice_backward(
        g, self_shape, dim, start, end, step
    ),
)


def _select_forward(x, dim, index):
    return x[index, ...] if dim == 0 else x[(slice(None),) * dim + (index, ...)]


select_op = declare(
    "select",
    _select_forward,
    "self",
    "dim index",
    node="SelectBackward0",
    view=True,
    formula="g in its place, zeros elsewhere",
    self=lambda F, g, self_shape, dim, index: F.select_backward(g, self_shape, dim, index),
)
RAW.narrow = lambda x, dim, start, n: x[_region(x.ndim, dim, slice(start, start + n))]


def check_place(name, input, dim, index):
    """IndexError unless ``index`` is a place along a dimension."""
    size = input._a.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"{name}(): index {index} out of range for tensor of size {list(input._a.shape)} at "
            f"dimension {dim}"
        )


def select(input, dim, index):
    """A view of the slice at ``index`` along ``dim``."""
    n = input._a.ndim
    if n == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, n)
    check_place("select", input, d, index)
    index, size = int(index), input._a.shape[d]
    return select_op(input, d, given(index + size, index) if index < 0 else index)


def narrow(input, dim, start, length):
    """A view of ``length`` slices from ``start`` along ``dim``."""
    if not input._a.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    d = wrap_dim(dim, input._a.ndim)
    size = input._a.shape[d]
    if isinstance(start, float):
        raise refusal("narrow", (dim, start, length), {}, method=True)
    if isinstance(start, Tensor):
        if start._a.ndim or start._a.dtype.kind not in "iu":
            raise RuntimeError("start must be an 0-dim integral Tensor.")
        start = int(start)
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_op(input, d, start, start + length, 1)


method(select)
method(narrow)
TENSOR.narrow = narrow


def _parts(name, node, forward, joint, also, view=True):
    return declare(
        name,
        forward,
        "self",
        "sizes dim",
        node=node,
        view=view,
        outputs=True,
        formula="the gradients put side by side",
        joint=joint,
        hidden=("sizes",),
        also=also,
    )


def _fill_none(F, gs, shapes, like):
    there = next((g if F is RAW else g._a for g in gs if g is not None), None)
    return [
        g if g is not None else F.constant(beside(xp.zeros(s, like), there))
        for g, s in zip(gs, shapes, strict=True)
    ]


def _split_forward(x, sizes, dim):
    out, start = [], 0
    for n in sizes:
        out.append(x[_region(x.ndim, dim, slice(start, start + n))])
        start += n
    return out


def _split_joint(F, g, self_shape, sizes, dim):
    first = next(x for x in g if x is not None)
    shapes = [(*self_shape[:dim], n, *self_shape[dim + 1 :]) for n in sizes]
    return (F.cat(_fill_none(F, g, shapes, first.dtype if F is RAW else first._a.dtype), dim),)


def _unbind_joint(F, g, self_shape, dim):
    first = next(x for x in g if x is not None)
    shape = (*self_shape[:dim], *self_shape[dim + 1 :])
    return (
        F.stack(
            _fill_none(F, g, [shape] * len(g), first.dtype if F is RAW else first._a.dtype), dim
        ),
    )


RAW.cat, TENSOR.cat = lambda arrays, dim: xp.concatenate(arrays, dim), cat
RAW.stack, TENSOR.stack = lambda arrays, dim: xp.stack(arrays, dim), stack
split_op = _parts(
    "split",
    "SplitBackward0",
    _split_forward,
    _split_joint,
    {"split_size": lambda node: node.at[0][0]},
)
split_sizes_op = _parts(
    "split_with_sizes",
    "SplitWithSizesBackward0",
    _split_forward,
    _split_joint,
    {"split_sizes": lambda node: node.at[0]},
)
# PyTorch's unsafe variants share memory and are no views all the same: what is written to one part
# is not told to the others.
unsafe_split_op = _parts(
    "unsafe_split",
    "UnsafeSplitBackward0",
    _split_forward,
    _split_joint,
    {"split_size": lambda node: node.at[0][0]},
    view=False,
)
unsafe_split_sizes_op = _parts(
    "unsafe_split_with_sizes",
    "UnsafeSplitWithSizesBackward0",
    _split_forward,
    _split_joint,
    {"split_sizes": lambda node: node.at[0]},
    view=False,
)
unbind_op = declare(
    "unbind",
    lambda x, dim: [_select_forward(x, dim, k) for k in range(x.shape[dim])],
    "self",
    "dim",
    node="UnbindBackward0",
    view=True,
    outputs=True,
    hidden=("self_sym_sizes",),
    formula="the gradients stacked",
    joint=_unbind_joint,
)


def _at_least_one(name, tensor):
    if tensor._a.ndim == 0:
        raise RuntimeError(f"{name} expects at least a 1-dimensional tensor")


def split(tensor, split_size_or_sections, dim=0):
    """Views of consecutive parts: of one size (the last may be smaller), or of the given sizes."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    if isinstance(split_size_or_sections, str):
        raise told(refusal("split_with_sizes", (tensor, split_size_or_sections), {}))
    return _split_by(split_op, tensor, split_size_or_sections, dim)


def _split_by(op, tensor, size, dim):
    _at_least_one("split", tensor)
    d = wrap_dim(dim, tensor._a.ndim)
    total = tensor._a.shape[d]
    if size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    if size == 0 and total:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {total}"
        )
    parts = [size] * (total // size) + ([total % size] if total % size else []) if size else [0]
    return op(tensor, tuple(parts or [0]), d)


def split_with_sizes(self, split_sizes, dim=0):
    """Views of consecutive parts of the given sizes."""
    return _split_into(split_sizes_op, self, split_sizes, dim)


def _split_into(op, self, split_sizes, dim):
    _at_least_one("split", self)
    d = wrap_dim(dim, self._a.ndim)
    if sum(split_sizes) != self._a.shape[d]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self._a.shape[d]} (input "
            f"tensor's size at dimension {d}), "
            f"but got split_sizes={list(split_sizes)}"
        )
    return op(self, tuple(split_sizes), d)


def _unsafe(parts, input):
    """Parts of an inference tensor are such too."""
    if input._v is INFERENCE:
        for part in parts:
            part._v = INFERENCE
    return parts


def unsafe_split(input, split_size, dim=0):
    """``split`` whose parts share memory without being views."""
    return _unsafe(_split_by(unsafe_split_op, input, split_size, dim), input)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """``split_with_sizes`` whose parts share memory without being views."""
    return _unsafe(_split_into(unsafe_split_sizes_op, input, split_sizes, dim), input)


def chunk(input, chunks, dim=0):
    """At most ``chunks`` views of equal size, the last may be smaller."""
    return _chunk(split, split_with_sizes, input, chunks, dim)


def unsafe_chunk(input, chunks, dim=0):
    """``chunk`` whose parts share memory without being views."""
    return _chunk(unsafe_split, unsafe_split_with_sizes, input, chunks, dim)


def _chunk(split, split_with_sizes, input, chunks, dim):
    _at_least_one("chunk", input)
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    total = input._a.shape[wrap_dim(dim, input._a.ndim)]
    if total == 0:
        return split_with_sizes(input, [0] * chunks, dim)
    return split(input, -(-total // chunks), dim)


def unbind(input, dim=0):
    """Views of all slices along ``dim``."""
    if input._a.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    return unbind_op(input, wrap_dim(dim, input._a.ndim))


for _f in (
    split,
    split_with_sizes,
    chunk,
    unbind,
    unsafe_split,
    unsafe_split_with_sizes,
    unsafe_chunk,
):
    method(_f)


def _iterate(self):
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


Tensor.__iter__ = _iterate


def tensor_split(input, indices_or_sections, dim=0):
    """Views of parts that differ by one slice at most, or cut at the given indices."""
    if input._a.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    d = wrap_dim(dim, input._a.ndim)
    total = input._a.shape[d]
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if n < 1:
            raise RuntimeError(f"number of sections must be larger than 0, got {n}")
        sizes_ = [total // n + (k < total % n) for k in range(n)]
        cuts = [sum(sizes_[: k + 1]) for k in range(n - 1)]
    else:
        cuts = [min(int(c), total) for c in indices_or_sections]
    edges = [0, *cuts, total]
    return tuple(narrow(input, d, a, max(b - a, 0)) for a, b in zip(edges, edges[1:], strict=False))


method(tensor_split)
