"""Sizes and dtypes of matrix products: PyTorch's errors where they do not go together.

Each function looks at what PyTorch looks at, in its order.
"""

from __future__ import annotations

from ..engine import dtypes
from ..engine.dispatch import Tensor
from ..engine.operands import not_a_tensor
from ..engine.tensor import wrap_dim


def _x(shape):
    return "x".join(map(str, shape))


def _c(x):
    return dtypes.c_name(x.dtype)


def _name(x):
    return dtypes.scalar_name(x.dtype)


def _refuse_bool(x, kernel):
    if x._a.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def _tensors(name, a, b, second):
    if not isinstance(a, Tensor):
        raise not_a_tensor(name, "input", 1, a)
    if not isinstance(b, Tensor):
        raise not_a_tensor(name, second, 2, b)


def _multiply(a, b):
    if a._a.shape[1] != b._a.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_x(a._a.shape)} and {_x(b._a.shape)})"
        )


# ---------------------------------------------------------------- products alone
def check_mm(a, b):
    """Two matrices."""
    _tensors("mm", a, b, "mat2")
    if a._a.ndim != 2 or b._a.ndim != 2:
        raise RuntimeError(f"{'self' if a._a.ndim != 2 else 'mat2'} must be a matrix")
    _multiply(a, b)
    check_same(a, b)
    if a._a.size and b._a.size:
        _refuse_bool(a, "addmm_impl_cpu_")


def check_same(a, b):
    """Two factors of one dtype."""
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {_c(a)} != {_c(b)}"
        )


def check_mv(mat, vec):
    """A matrix and a vector."""
    _tensors("mv", mat, vec, "vec")
    if not mat._a.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    _check_vector(1, mat._a.shape[0], mat, vec)
    if mat._a.dtype != vec._a.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{_name(vec)}, {_name(mat)}, and {_name(vec)}"
        )
    if mat._a.size:
        _refuse_bool(mat, "addmv_impl_cpu")


def _check_vector(ndim, size, mat, vec):
    wide, long = mat._a, vec._a
    if ndim > 1 or wide.ndim != 2 or long.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {ndim}, {wide.ndim}, {long.ndim}"
        )
    if wide.shape[1] != long.size or size not in (0, 1, wide.shape[0]):
        raise RuntimeError(
            f"size mismatch, got input ({size}), mat ({_x(wide.shape)}), vec ({long.size})"
        )


def check_dot(a, b):
    """Two vectors."""
    _tensors("dot", a, b, "tensor")
    if a._a.ndim != 1 or b._a.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a._a.ndim}D and {b._a.ndim}D tensors")
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {_name(a)} and {_name(b)}"
        )
    m, n = a._a.size, b._a.size
    if m != n:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{m}] and src [{n}] to have the same "
            f"number of elements, but got {m} and {n} elements respectively"
        )
    _refuse_bool(a, "dot")


def check_bmm(a, b):
    """Two batches of matrices."""
    _tensors("bmm", a, b, "mat2")
    _batches(a, b)
    _check_batch(a._a.shape[0], a._a.shape[2], b)
    check_scalars(a, b)
    if a._a.shape[0] * a._a.shape[1] * b._a.shape[2]:
        _refuse_bool(a, "bmm")


def _batches(a, b):
    for which, x in ((1, a), (2, b)):
        if x._a.ndim != 3:
            raise RuntimeError(f"batch{which} must be a 3D tensor")


def _check_batch(count, inner, b):
    if b._a.shape[:2] != (count, inner):
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {inner}] "
            f"but got: {list(b._a.shape[:2])}."
        )


def check_scalars(a, b):
    """Two batches of one dtype."""
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(f"expected scalar type {_name(a)} but found {_name(b)}")


def check_stacked(count, a, b):
    """Batches that broadcast against each other, ``count`` of them together."""
    if b._a.shape[-2] != a._a.shape[-1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: "
            f"[{count}, {a._a.shape[-1]}] but got: [{count}, {b._a.shape[-2]}]."
        )
    check_scalars(a, b)


def check_linear(x, weight, bias):
    """Rows, a weight (out, in) and a bias of one dtype."""
    if bias is None:
        check_same(x, weight)
    else:
        if bias._a.dtype != weight._a.dtype:
            raise RuntimeError(
                f"self and mat2 must have the same dtype, but got {_name(bias)} and {_name(weight)}"
            )
        check_added(x, weight)
    _refuse_bool(x, "addmm_impl_cpu_")


# ---------------------------------------------------------------- products added to a tensor
def check_addmm(own, a, b):
    """Two matrices and what their product is added to."""
    if own._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {_name(own)} and {_name(b)}"
        )
    check_added(a, b)
    for name, x in (("mat1", a), ("mat2", b)):
        if x._a.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {x._a.ndim}-D tensor")
    _multiply(a, b)
    require_expandable(own, (a._a.shape[0], b._a.shape[1]))
    _refuse_bool(a, "addmm_impl_cpu_")


def check_added(a, b):
    """Two matrices, whose product is added, of one dtype."""
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {_name(a)} and {_name(b)}"
        )


def check_addmv(own, mat, vec):
    """A matrix, a vector and what their product is added to."""
    whole = own._a.ndim or mat._a.ndim == 2 and vec._a.shape == mat._a.shape[1:]
    if not whole or not mat._a.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    _check_vector(own._a.ndim, own._a.size, mat, vec)
    if not own._a.dtype == mat._a.dtype == vec._a.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{_name(own)}, {_name(mat)}, and {_name(vec)}"
        )
    _refuse_bool(mat, "addmv_impl_cpu")


def check_addr(own, a, b):
    """Two vectors."""
    for name, x in (("vec1", a), ("vec2", b)):
        if x._a.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {x._a.ndim}-D")


def check_addr_in_place(own, a, b):
    """Two vectors and a matrix of the size of their product."""
    check_addr(own, a, b)
    if own._a.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {own._a.ndim}D tensor for input")
    if own._a.shape != (a._a.size, b._a.size):
        raise RuntimeError(
            f"size mismatch, input: {list(own._a.shape)}, v1: {list(a._a.shape)}, "
            f"v2: {list(b._a.shape)}"
        )


def check_addbmm(own, a, b):
    """Batches of matrices and what the sum of their products is added to."""
    wrap_dim(1, a._a.ndim)
    wrap_dim(2, b._a.ndim)
    require_expandable(own, (a._a.shape[1], b._a.shape[2]))
    _batches(a, b)
    if a._a.shape[0] != b._a.shape[0]:
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches, got "
            f"{a._a.shape[0]} and {b._a.shape[0]}"
        )
    if a._a.shape[2] != b._a.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({_x(a._a.shape[1:])} and {_x(b._a.shape[1:])})"
        )
    if own._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {_name(own)} and {_name(b)}"
        )
    check_added(a, b)
    _refuse_bool(a, "addmm_impl_cpu_")


def check_baddbmm(own, a, b):
    """Batches of matrices and what their products are added to."""
    wrap_dim(1, a._a.ndim)
    wrap_dim(2, b._a.ndim)
    _batches(a, b)
    require_expandable(own, (*a._a.shape[:2], b._a.shape[2]))
    _check_batch(a._a.shape[0], a._a.shape[2], b)
    if own._a.dtype != a._a.dtype:
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {_c(own)}, batch1: {_c(a)}, batch2: {_c(b)}"
        )
    check_scalars(a, b)


def check_baddbmm_in_place(own, a, b):
    """The same where the result takes the place of ``own``."""
    if a._a.ndim == b._a.ndim == 3:
        require_expandable(own, (*a._a.shape[:2], b._a.shape[2]))
        _check_batch(a._a.shape[0], a._a.shape[2], b)
        if own._a.dtype == a._a.dtype != b._a.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {_c(own)} and output tensor dtype {_c(b)} "
                "should match"
            )
    check_baddbmm(own, a, b)


def check_target(own, shape):
    """RuntimeError unless ``own`` has the shape of the result that takes its place."""
    if own._a.shape != shape:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(own._a.shape)} and output tensor size "
            f"{list(shape)} should match"
        )


# ---------------------------------------------------------------- expanding
def require_expandable(tensor, wanted):
    """RuntimeError unless a tensor can be expanded to ``wanted``."""
    own = tensor._a.shape
    if len(own) > len(wanted):
        raise RuntimeError(
            f"expand({dtypes.tensor_name(tensor._a)}{{{list(own)}}}, size={list(wanted)}): the "
            f"number of sizes provided ({len(wanted)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(own)})"
        )
    if any(a not in (1, b) for a, b in zip(own[::-1], wanted[::-1], strict=False)):
        raise does_not_expand(own, wanted)


def does_not_expand(own, wanted):
    """PyTorch's error for a tensor that cannot be expanded to ``wanted``."""
    end = list(zip(range(len(wanted))[::-1], wanted[::-1], own[::-1], strict=False))
    d, target, size = next((x for x in end if x[1] != x[2] != 1), end[0])
    return RuntimeError(
        f"The expanded size of the tensor ({target}) must match the existing size ({size}) at "
        f"non-singleton dimension {d}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(own)}"
    )
