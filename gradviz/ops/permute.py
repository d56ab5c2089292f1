"""Views with dimensions in another order: permute, transpose, movedim and their kin."""

from __future__ import annotations

from ..backend import xp
from ..engine.dispatch import Tensor
from ..engine.errors import warn_once
from ..engine.tensor import read_only, wrap_dim
from .declare import alias, declare, method
from .shape import alias_op, sizes, told_of

ndarray = xp.ndarray


permute_op = declare(
    "permute",
    lambda x, dims: x.transpose(dims),
    "self",
    "dims",
    node="PermuteBackward0",
    view=True,
    formula="g, dimensions put back",
    self=lambda F, g, dims: F.permute(g, _inverse(dims)),
)
transpose_op = declare(
    "transpose",
    lambda x, d0, d1: x.swapaxes(d0, d1) if x.ndim else x.view(),
    "self",
    "dim0 dim1",
    node="TransposeBackward0",
    view=True,
    formula="g transposed",
    self=lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
)
t_op = declare(
    "t",
    lambda x: x.T,
    "self",
    "",
    node="TBackward0",
    view=True,
    formula="gᵀ",
    self=lambda F, g: F.t(g),
)
movedim_op = declare(
    "movedim",
    lambda x, dims: x.transpose(dims),
    "self",
    "dims",
    node="PermuteBackward0",
    view=True,
    self=lambda F, g, dims: F.permute(g, _inverse(dims)),
)


def _inverse(dims):
    out = [0] * len(dims)
    for i, d in enumerate(dims):
        out[d] = i
    return tuple(out)


def permute(input, *given, dims=None):
    """A view with its dimensions in another order."""
    try:
        dims = sizes(given if dims is None else (dims,))
    except (TypeError, ValueError) as error:
        raise told_of("permute", given, error) from None
    n = input._a.ndim
    if len(dims) != n:
        if not given and not dims:
            raise told_of("permute", (), None)
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of "
            f"dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    dims = tuple(wrap_dim(d, n) for d in dims)
    if len(set(dims)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return permute_op(input, dims)


def transpose(input, dim0, dim1):
    """A view with two dimensions exchanged."""
    n = input._a.ndim
    try:
        d0, d1 = wrap_dim(dim0, n), wrap_dim(dim1, n)
    except TypeError as error:
        raise told_of("transpose", (dim0, dim1), error) from None
    return transpose_op(input, d0, d1)


def t(input):
    """The transpose of a matrix, a view."""
    if input._a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D"
        )
    return t_op(input)


def movedim(input, source, destination):
    """Dimensions moved to new places, the others in order."""
    n = input._a.ndim
    shown = [list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination)]
    if len(shown[0]) != len(shown[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({shown[0]} dims) should contain "
            f"the same number of dims as destination ({shown[1]} dims)"
        )
    src = [wrap_dim(d, n) for d in (source if isinstance(source, (tuple, list)) else (source,))]
    dst = [
        wrap_dim(d, n)
        for d in (destination if isinstance(destination, (tuple, list)) else (destination,))
    ]
    for what, dims, told in (("source", src, shown[0]), ("destination", dst, shown[1])):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({told})")
    if not n:
        return alias_op(input)
    order = [d for d in range(n) if d not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return permute_op(input, tuple(order))


for _f in (permute, transpose, t, movedim):
    method(_f)
for _new, _old in [("swapaxes", "transpose"), ("swapdims", "transpose"), ("moveaxis", "movedim")]:
    alias(_new, _old)


def adjoint(input):
    """The conjugate transpose of matrices."""
    if input._a.ndim == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return (mT(input) if input._a.ndim else alias_op(input)).conj()


method(adjoint)


def _turned(self, name, instead):
    n = self._a.ndim
    if n == 0:
        warn_once(f"Tensor.{name} is deprecated on 0-D tensors. {instead}")
        return self
    if n == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return transpose(self, -2, -1)


_IDENTITY = "This function is the identity in these cases."


def mT(self):
    """The last two dimensions exchanged."""
    return _turned(self, "mT", _IDENTITY)


Tensor.mT = read_only("mT", mT)
Tensor.mH = read_only("mH", lambda self: _turned(self, "mH", "Consider using x.conj().").conj())


def _H(self):
    if self._a.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self._a.ndim}-D tensor."
        )
    return transpose(self, -2, -1).conj() if self._a.ndim else self.conj()


def _T(self):
    n = self._a.ndim
    if n != 2:
        warn_once(_T_OF_A_NUMBER if n == 0 else _T_OF_OTHERS)
    return permute_op(self, tuple(reversed(range(n))))


_T_OF_A_NUMBER = f"Tensor.T is deprecated on 0-D tensors. {_IDENTITY}"
_T_OF_OTHERS = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
    "and it will throw an error in a future release. Consider `x.mT` to transpose batches of "
    "matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a "
    "tensor."
)
Tensor.H = read_only("H", _H)
Tensor.T = read_only("T", _T)
