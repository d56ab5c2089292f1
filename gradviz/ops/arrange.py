"""Rearranging copies: flip, roll, repeat, diagonals, windows, stacks, blocks, padding."""

from __future__ import annotations

from ..backend import as_array, as_strided, contiguous, xp, zeros_by
from ..engine import views
from ..engine.arguments import no_combination, refusal
from ..engine.dispatch import Tensor, wrap
from ..engine.memory_format import contiguous_format
from ..engine.operands import all_tensors
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from .clone import clone
from .declare import FUNCTIONS, declare, into_zeros, method, only_function, only_method, public
from .expand import unsqueeze
from .join import cat, stack, tensor_split, variadic
from .layout import channels_kept
from .shape import reshape, sizes, told_of, unsafe_view_op

# ---------------------------------------------------------------- flip, roll, rotate, repeat
flip_op = declare(
    "flip",
    channels_kept(lambda x, dims: (xp.flip(x, dims) if x.ndim else x).copy()),
    "self",
    "dims",
    node="FlipBackward0",
    formula="g flipped",
    self=lambda F, g, dims: F.flip(g, dims),
)
roll_op = declare(
    "roll",
    lambda x, shifts, dims: xp.roll(x, shifts if dims else shifts[0], dims or None),
    "self",
    "shifts dims",
    node="RollBackward0",
    formula="g rolled back",
    self=lambda F, g, shifts, dims: F.roll(g, tuple(-s for s in shifts), dims),
)


def _quarter_turns(x, k, dims):
    """Odd ones as PyTorch lays them out: what lies in memory is ``x`` mirrored."""
    if not k % 2:
        return xp.rot90(x, k, dims).copy()
    return xp.swapaxes(xp.flip(x, dims[1 if k % 4 == 1 else 0]).copy(), *dims)


rot90_op = declare(
    "rot90",
    _quarter_turns,
    "self",
    "k dims",
    node="Rot90Backward0",
    formula="g rotated back",
    self=lambda F, g, k, dims: F.rot90(g, -k, dims),
)
repeat_op = declare(
    "repeat",
    lambda x, repeats: xp.tile(x, repeats),
    "self",
    "repeats",
    node="RepeatBackward0",
    formula="g summed over the repetitions",
    self=lambda F, g, self_shape, repeats: _unrepeat(F, g, self_shape, repeats),
)


def _unrepeat(F, g, shape, repeats):
    lead = len(repeats) - len(shape)
    if lead:
        g = F.sum_dims(g, tuple(range(lead)), False)
    split, copies = [], []
    for repeat, n in zip(repeats[lead:], shape, strict=True):
        if repeat != 1:
            copies.append(len(split))
            split.append(repeat)
        split.append(n)
    return F.sum_dims(F.reshape(g, tuple(split)), tuple(copies), False) if copies else g


def _flip(input, dims):
    if isinstance(dims, int):
        raise refusal("flip", (input, dims), {})
    return flip(input, dims)


def flip(input, *given, dims=None):
    """A copy with the given dimensions reversed."""
    try:
        order = sizes(given if dims is None else (dims,))
    except (TypeError, ValueError) as error:
        raise told_of("flip", given, error) from None
    if not given and dims is None:
        raise told_of("flip", (), None)
    order = tuple(wrap_dim(d, input._a.ndim) for d in order)
    if len(set(order)) != len(order):
        raise RuntimeError(f"dim {_repeated(order)} appears multiple times in the list of dims")
    return flip_op(input, order)


def _repeated(dims):
    return next(d for k, d in enumerate(dims) if d in dims[:k])


def roll(input, shifts, dims=None):
    """A copy with elements moved along dimensions, wrapping around."""
    shifts = shifts if isinstance(shifts, (tuple, list)) else (shifts,)
    if dims is None and len(shifts) == 1:
        return roll_op(input, tuple(shifts), ())
    dims = () if dims is None else dims
    dims = tuple(dims) if isinstance(dims, (tuple, list)) else (dims,)
    if len(dims) != len(shifts):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    return roll_op(input, tuple(shifts), tuple(wrap_dim(d, input._a.ndim) for d in dims))


def rot90(input, k=1, dims=(0, 1)):
    """A copy turned by ``k`` quarter turns in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input._a.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input._a.ndim}")
    plane = tuple(wrap_dim(d, input._a.ndim) for d in dims)
    if plane[0] == plane[1]:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    return rot90_op(input, k, plane)


def repeat(self, *repeats):
    """A copy repeated along its dimensions."""
    repeats = sizes(repeats)
    if len(repeats) < self._a.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    shape = (1,) * (len(repeats) - self._a.ndim) + self._a.shape
    shape = [n * k for n, k in zip(shape, repeats, strict=True)]
    negative = next((n for n in shape if n < 0), None)
    if negative is not None:
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {shape}")
    return repeat_op(self, repeats)


def tile(input, dims):
    """A copy repeated along its dimensions, the last ones where fewer are given."""
    return repeat(input, *((1,) * (input._a.ndim - len(dims)) + tuple(dims)))


only_method(flip)
public("flip", lambda input, dims: _flip(input, dims))
method(roll)
method(rot90)
only_method(repeat)
only_function(tile)
only_method(lambda input, *dims: tile(input, sizes(dims)), "tile")


def _flip_one(name, dim):
    def function(input):
        if input._a.ndim <= dim:
            raise RuntimeError(f"Input must be >= {dim + 1}-d.")
        return flip(input, dim)

    function.__doc__ = f"``flip`` of dimension {dim}."
    method(function, name)


_flip_one("fliplr", 1)
_flip_one("flipud", 0)
# ---------------------------------------------------------------- diagonals

diagonal_op = declare(
    "diagonal",
    lambda x, offset, dim1, dim2: _diagonal(x, offset, dim1, dim2),
    "self",
    "offset dim1 dim2",
    node="DiagonalBackward0",
    view=True,
    formula="g on the diagonal, zeros elsewhere",
    self=lambda F, g, self_shape, offset, dim1, dim2: F.put_diagonal(
        g, self_shape, offset, dim1, dim2
    ),
)


def _diagonal(x, offset, dim1, dim2):
    out = x.diagonal(offset, dim1, dim2)
    if x.flags.writeable:
        out.flags.writeable = True
    return out


def _put_diagonal(g, shape, offset, dim1, dim2):
    out = zeros_by(g, shape)
    window = out.diagonal(offset, dim1, dim2)
    window.flags.writeable = True
    window[...] = g
    return out


declare(
    "put_diagonal",
    _put_diagonal,
    "self",
    "shape offset dim1 dim2",
    node="DiagonalBackwardBackward0",
    self=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
)


diagonal_copy_op = declare(
    "diagonal_copy",
    lambda x, offset, dim1, dim2: x.diagonal(offset, dim1, dim2).copy("K"),
    "self",
    "offset dim1 dim2",
    node="DiagonalBackward0_copy",
    formula="g on the diagonal, zeros elsewhere",
    self=lambda F, g, self_shape, offset, dim1, dim2: F.put_diagonal(
        g, self_shape, offset, dim1, dim2
    ),
)


def _embed(x, offset, dim1, dim2):
    n = x.shape[-1] + abs(offset)
    shape = list(x.shape[:-1])
    for d in sorted((dim1, dim2)):
        shape.insert(d, n)
    return _put_diagonal(x, tuple(shape), offset, dim1, dim2)


diag_embed_op = declare(
    "diag_embed_op",
    _embed,
    "self",
    "offset dim1 dim2",
    node="DiagEmbedBackward0",
    formula="the diagonal of g",
    self=lambda F, g, offset, dim1, dim2: F.diagonal(g, offset, dim1, dim2),
)


def _two_dims(dim1, dim2, ndim):
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return a, b


def diagonal(input, offset=0, dim1=0, dim2=1):
    """A view of a diagonal, as the last dimension."""
    return diagonal_op(input, offset, *_two_dims(dim1, dim2, input._a.ndim))


def diag(input, diagonal=0):
    """The diagonal of a matrix, or the matrix with that diagonal."""
    if input._a.ndim not in (1, 2):
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input._a.ndim}D")
    return (
        diagonal_copy_op(input, diagonal, 0, 1)
        if input._a.ndim == 2
        else diag_embed_op(input, diagonal, 0, 1)
    )


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """Matrices whose diagonals are the last dimension of ``input``."""
    return diag_embed_op(input, offset, *_two_dims(dim1, dim2, input._a.ndim + 1))


def diagflat(input, offset=0):
    """The matrix with all elements on its diagonal."""
    return diag_embed_op(reshape(input, (-1,)), offset, 0, 1)


for _f in (diagonal, diag, diag_embed, diagflat):
    method(_f)
trace_op = declare(
    "trace_op",
    lambda x: as_array(xp.trace(x, dtype=xp.int64 if x.dtype.kind in "biu" else x.dtype)),
    "self",
    node="TraceBackward0",
    formula="g on the diagonal",
    self=lambda F, g, self_shape: F.on_diagonal(g, self_shape),
)


def _on_diagonal(g, shape):
    out = zeros_by(g, shape)
    xp.fill_diagonal(out[: min(shape), : min(shape)], g)
    return out


into_zeros(
    "diagonal_of_flat",
    lambda g, shape: _on_diagonal(g, shape).reshape(-1),
    attrs="shape",
    node="IndexFillBackward1",
    self=lambda F, g, shape: F.trace_op(F.reshape(g, shape)),
)
RAW.on_diagonal = _on_diagonal
TENSOR.on_diagonal = lambda g, shape: reshape(TENSOR.diagonal_of_flat(g, shape), shape)


def trace(input):
    """The sum of the diagonal of a matrix."""
    if input._a.ndim != 2:
        raise RuntimeError(
            "trace: expected a matrix, but got tensor with dim " + str(input._a.ndim)
        )
    return trace_op(input)


method(trace)

tril_op = declare(
    "tril",
    lambda x, diagonal: xp.tril(x, diagonal),
    "self",
    "diagonal",
    formula="g below the diagonal",
    self=lambda F, g, diagonal: F.tril(g, diagonal),
)
triu_op = declare(
    "triu",
    lambda x, diagonal: xp.triu(x, diagonal),
    "self",
    "diagonal",
    formula="g above the diagonal",
    self=lambda F, g, diagonal: F.triu(g, diagonal),
)


def _triangles(name, op):
    def check(x):
        if x._a.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")

    def function(input, diagonal=0):
        check(input)
        return op(input, diagonal)

    def inplace(self, diagonal=0):
        check(self)
        return views.write(op.op, (self,), (diagonal,))

    function.__name__, inplace.__name__ = name, f"{name}_"
    return function, inplace


for _name, _op in (("tril", tril_op), ("triu", triu_op)):
    for _f in _triangles(_name, _op):
        only_method(_f)
    only_function(_triangles(_name, _op)[0])


def _windows(x, dimension, size, step):
    count = (x.shape[dimension] - size) // step + 1 if x.ndim else 1
    strides = x.strides
    if x.ndim == 0:
        return as_strided(x, (size,), (x.itemsize,))
    shape = (*x.shape[:dimension], count, *x.shape[dimension + 1 :], size)
    steps = (
        *strides[:dimension],
        strides[dimension] * step,
        *strides[dimension + 1 :],
        strides[dimension],
    )
    return as_strided(x, shape, steps)


def _from_windows(g, shape, dimension, size, step):
    out = zeros_by(g, shape)
    if not shape:
        return out + g.sum()
    count = g.shape[dimension]
    for k in range(size):
        region = (slice(None),) * dimension + (slice(k, k + step * (count - 1) + 1, step),)
        out[region] += g[..., k]
    return out


unfold_op = declare(
    "unfold_op",
    _windows,
    "self",
    "dimension size step",
    node="UnfoldBackward0",
    view=True,
    formula="g summed over the windows that hold an element",
    self=lambda F, g, self_shape, dimension, size, step: F.from_windows(
        g, self_shape, dimension, size, step
    ),
)
declare(
    "from_windows",
    _from_windows,
    "self",
    "shape dimension size step",
    node="UnfoldBackwardBackward0",
    self=lambda F, g, dimension, size, step: F.to_windows(g, dimension, size, step),
)
declare(
    "to_windows",
    lambda x, dimension, size, step: _windows(x, dimension, size, step).copy("K"),
    "self",
    "dimension size step",
    node="UnfoldBackward0",
    self=lambda F, g, self_shape, dimension, size, step: F.from_windows(
        g, self_shape, dimension, size, step
    ),
)


def unfold(self, dimension, size, step):
    """A view of all windows of ``size`` along a dimension, every ``step``."""
    d = wrap_dim(dimension, self._a.ndim)
    most = self._a.shape[d] if self._a.ndim else 1
    if size > most:
        raise RuntimeError(f"maximum size for tensor at dimension {d} is {most} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return unfold_op(self, d, size, step)


only_method(unfold)


# ---------------------------------------------------------------- stacks and splits by name
def atleast(n, place):
    """A function that gives tensors at least ``n`` dimensions, by views."""

    def one(x):
        if not x._a.ndim:
            return x.reshape((1,) * n)
        while x._a.ndim < n:
            x = unsqueeze(x, place(x._a.ndim))
        return x

    def function(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            return tuple(one(x) for x in all_tensors(tensors[0]))
        if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
            raise no_combination(
                function.__name__,
                tensors,
                [f"{function.__name__}(Tensor input)", f"{function.__name__}(Tensors tensors)"],
            )
        if len(tensors) > 1:
            all_tensors(tensors)
        return one(tensors[0]) if len(tensors) == 1 else tuple(one(x) for x in tensors)

    function.__name__ = f"atleast_{n}d"
    function.__doc__ = f"Views of the tensors with at least {n} dimensions."
    return public(function.__name__, function)


atleast_1d = atleast(1, lambda ndim: 0)
atleast_2d = atleast(2, lambda ndim: 0)
atleast_3d = atleast(3, lambda ndim: 0 if ndim < 2 else 2)


def _some(name, tensors):
    """``tensors``; RuntimeError where there are none."""
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return all_tensors(tensors)


def hstack(tensors):
    """Joined along columns (along the only dimension of vectors)."""
    tensors = [atleast_1d(x) for x in _some("hstack", tensors)]
    return cat(tensors, 0 if tensors[0]._a.ndim == 1 else 1)


def vstack(tensors):
    """Joined along rows."""
    return cat([atleast_2d(x) for x in _some("vstack", tensors)], 0)


def dstack(tensors):
    """Joined along the third dimension."""
    return cat([atleast_3d(x) for x in _some("dstack", tensors)], 2)


def column_stack(tensors):
    """Vectors as columns, and matrices, side by side."""
    tensors = _some("column_stack", tensors)
    return hstack([x if x._a.ndim > 1 else reshape(x, (-1, 1)) for x in tensors])


for _f in (hstack, vstack, dstack, column_stack):
    public(_f.__name__, _f)
public("row_stack", vstack)


def _splitter(name, least, dim_of):
    def function(input, indices_or_sections):
        if input._a.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} "
                "dimension, but got a tensor with "
                f"{input._a.ndim} dimensions!"
            )
        dim = dim_of(input._a.ndim)
        n = indices_or_sections
        if isinstance(n, int) and (n == 0 or input._a.shape[dim] % n):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the "
                f"dimension {input._a.shape[dim]} is not "
                f"divisible by the split_size {n}!"
            )
        return tensor_split(input, n, dim)

    function.__doc__ = f"``tensor_split`` along the dimension of ``{name}``."
    method(function, name)


_splitter("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1)
_splitter("vsplit", 2, lambda ndim: 0)
_splitter("dsplit", 3, lambda ndim: 2)


# ---------------------------------------------------------------- products of sets, blocks
def _block_forward(*arrays):
    rows, columns = sum(a.shape[0] for a in arrays), sum(a.shape[1] for a in arrays)
    out = xp.zeros((rows, columns), xp.result_type(*arrays), like=arrays[0])
    r = c = 0
    for a in arrays:
        out[r : r + a.shape[0], c : c + a.shape[1]] = a
        r, c = r + a.shape[0], c + a.shape[1]
    return out


def _block_joint(F, g, dim, shapes):
    out, r, c = [], 0, 0
    for shape in shapes:
        full = (1,) * (2 - len(shape)) + tuple(shape)
        part = F.take_region(g, (slice(r, r + full[0]), slice(c, c + full[1])))
        out.append(F.reshape(part, shape))
        r, c = r + full[0], c + full[1]
    return out


_block = variadic(
    "block_diag",
    "BlockDiagBackward0",
    lambda arrays, dim: _block_forward(*[a.reshape((1,) * (2 - a.ndim) + a.shape) for a in arrays]),
    _block_joint,
    "the block of g",
    ("dim",),
)


def block_diag(*tensors):
    """The matrix with the given matrices along its diagonal."""
    for k, x in enumerate(all_tensors(tensors)):
        if x._a.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has "
                f"{x._a.ndim} dimensions"
            )
    return _block(list(tensors), 0)


def kron(input, other):
    """The Kronecker product."""
    n = max(input._a.ndim, other._a.ndim)
    a = (1,) * (n - input._a.ndim) + input._a.shape
    b = (1,) * (n - other._a.ndim) + other._a.shape
    wide_a = tuple(k for size in a for k in (size, 1))
    wide_b = tuple(k for size in b for k in (1, size))
    made = unsafe_view_op(input, wide_a) * unsafe_view_op(other, wide_b)
    return unsafe_view_op(made, tuple(x * y for x, y in zip(a, b, strict=True)))


def cartesian_prod(*tensors):
    """All combinations of elements of vectors, one a row."""
    for x in all_tensors(tensors):
        if x._a.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._a.shape)}")
    if len(tensors) == 1:
        return tensors[0]
    grids = FUNCTIONS["meshgrid"](*tensors, indexing="ij")
    return stack(
        [
            unsafe_view_op(clone(grid, memory_format=contiguous_format), (grid._a.size,))
            for grid in grids
        ],
        1,
    )


def combinations(input, r=2, with_replacement=False):
    """Combinations of ``r`` elements of a vector, one a row."""
    import itertools

    if input._a.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._a.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")

    pick = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(pick(range(input._a.shape[0]), r))
    index = xp.asarray(rows, xp.int64, like=input._a).reshape(len(rows), r)
    if not r:
        return wrap(xp.empty(0, input._a.dtype, like=input._a))
    return stack([input[wrap(contiguous(column))] for column in index.T], 1)


def vander(x, N=None, increasing=False):
    """Powers of the elements of a vector, one column a power, the highest first unless
    ``increasing``.
    """
    if x._a.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    if N is not None and N < 0:
        raise RuntimeError("N must be non-negative.")
    if x._a.dtype.kind in "biu":
        x = x.long()
    n = x._a.shape[0] if N is None else N
    powers = range(n) if increasing else reversed(range(n))
    return stack([x**k for k in powers], -1) if n else x.new_zeros(x._a.shape[0], 0)


method(kron)
for _f in (block_diag, cartesian_prod, combinations, vander):
    public(_f.__name__, _f)


# ---------------------------------------------------------------- sums of what was broadcast
def sum_to_size(self, *size):
    """The sum over what was broadcast: the inverse of ``expand``."""
    shape = sizes(size)
    own = self._a.shape
    extra = len(own) - len(shape)
    if extra < 0 or any(a not in (1, b) for a, b in zip(shape, own[extra:], strict=True)):
        raise RuntimeError(f"size {{{list(own)}}} is not expandable to size {{{list(shape)}}}.")
    dims = [
        *range(extra),
        *[k + extra for k, n in enumerate(shape) if n == 1 and own[k + extra] != 1],
    ]
    out = self.sum(dims, keepdim=True) if dims else self
    return reshape(out, shape) if extra else out


only_method(sum_to_size)
