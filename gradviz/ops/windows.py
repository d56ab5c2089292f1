"""A view's part replaced, out of place: select_scatter, slice_scatter and their kin."""

from __future__ import annotations

from ..backend import zeros_by
from ..engine.dispatch import call
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from .casting import refuse_complex
from .declare import declare, method
from .join import _select_forward, check_place
from .place import along
from .scatter import (
    _array_of,
)
from .shape import as_strided_op


# ---------------------------------------------------------------- a view's part replaced, out of
# place
def _window_op(name, node, attrs, window, read):
    """``x`` with ``src`` in the place that ``window(x, *attrs)`` shows; the operation ``read``
    shows it too.
    """

    def forward(x, src, *given):
        out = x.copy("K")
        window(out, *given)[...] = 0 if src is None else src
        return out

    names = ", ".join(attrs.split())
    env = {}
    exec(  # noqa: S102
        f"def self_(F, g, {names}): return blank(F, g, {names})\n"
        f"def read_(F, g, {names}): return F.{read}(g, {names})\n",
        {
            "blank": lambda F, g, *given: (
                forward(g, None, *given) if F is RAW else call(op, (g, None), given)
            ),
        },
        env,
    )
    made = declare(
        f"{name}_op",
        forward,
        "self src",
        attrs,
        node=node,
        formula="∂self: g, zero in the window    ∂src: g in the window",
        self=env["self_"],
        src=env["read_"],
    )
    op = made.op
    return made


def _diagonal_window(x, offset, dim1, dim2):
    out = x.diagonal(offset, dim1, dim2)
    if x.flags.writeable:
        out.flags.writeable = True
    return out


select_scatter_op = _window_op(
    "select_scatter", "SelectScatterBackward0", "dim index", _select_forward, "select"
)
slice_scatter_op = _window_op(
    "slice_scatter",
    "SliceScatterBackward0",
    "dim start end step",
    lambda x, dim, start, end, step: x[along(slice(start, end, step), dim, x.ndim)],
    "slice",
)
diagonal_scatter_op = _window_op(
    "diagonal_scatter", "DiagonalScatterBackward0", "offset dim1 dim2", _diagonal_window, "diagonal"
)
strided_place_op = _window_op(
    "as_strided_scatter",
    "AsStridedScatterBackward0",
    "size stride storage_offset",
    lambda x, size, stride, offset: as_strided_op.op.forward(x, size, stride, offset, None),
    "strided_read",
)
declare(
    "strided_read",
    lambda x, size, stride, offset: as_strided_op.op.forward(x, size, stride, offset, None).copy(
        "K"
    ),
    "self",
    "size stride storage_offset",
    node="AsStridedBackward0",
    self=lambda F, g, self_shape, size, stride, storage_offset: (
        strided_place_op(
            F.constant(zeros_by(_array_of(F, g), self_shape)), g, size, stride, storage_offset
        )
        if F is TENSOR
        else strided_place_op.op.forward(zeros_by(g, self_shape), g, size, stride, storage_offset)
    ),
)


def _same_shape(expected, src):
    if tuple(src._a.shape) != tuple(expected):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._a.shape)}, slice size = {list(expected)}"
        )


def select_scatter(input, src, dim, index):
    """A copy with ``src`` in place of the slice at ``index``."""
    d = wrap_dim(dim, input._a.ndim)
    check_place("select", input, d, index)
    _same_shape(input._a.shape[:d] + input._a.shape[d + 1 :], src)
    refuse_complex("select_scatter", input, src)
    return select_scatter_op(input, src, d, index % input._a.shape[d])


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy with ``src`` in place of a slice."""
    d = wrap_dim(dim, input._a.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    shape = input._a.shape
    start, end, step = slice(start, end, step).indices(shape[d])
    _same_shape((*shape[:d], len(range(start, end, step)), *shape[d + 1 :]), src)
    refuse_complex("slice_scatter", input, src)
    return slice_scatter_op(input, src, d, start, end, step)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy with ``src`` on a diagonal."""
    part = input.detach().diagonal(offset, dim1, dim2)
    _same_shape(part._a.shape, src)
    n = input._a.ndim
    return diagonal_scatter_op(input, src, offset, wrap_dim(dim1, n), wrap_dim(dim2, n))


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy with ``src`` in place of the strided view."""
    source = input.contiguous() if input.requires_grad else input
    _same_shape(source.detach().as_strided(size, stride, storage_offset)._a.shape, src)
    return strided_place_op(source, src, tuple(size), tuple(stride), storage_offset or 0)


for _f in (select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter):
    method(_f)
