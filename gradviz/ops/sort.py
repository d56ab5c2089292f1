"""Order: median, sort, topk, search; and scans along one dimension: cumsum, cumprod, cummax,
logcumsumexp.
"""

from __future__ import annotations

from ..backend import MetaArray, as_array, contiguous, meta, on_host, readable, xp
from ..engine import dtypes
from ..engine.dispatch import Tensor, untracked, wrap
from ..engine.errors import warn_once
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import part
from ..engine.tensor import wrap_dim
from ..engine.views import write
from . import known
from .declare import declare, method, only_method, public
from .extremes import _chooser, _even_or_nan, _pair, return_types
from .join import _region
from .out import write_out
from .reduce import _as, _summing, check_summed, narrowed


# ---------------------------------------------------------------- median, mode, k-th value
def _middle(x, d):
    order = xp.argsort(x, d, kind="stable")
    found = xp.take(order, (x.shape[d] - 1) // 2, d)
    if x.dtype.kind == "f":
        bad = xp.isnan(x)
        if readable(bad) and bad.any():
            found = xp.where(bad.any(d), bad.argmax(d), found)
    return found.astype(xp.int64)


def _nan_middle(x, d):
    """The lower median of what is not NaN: NaN sorts last."""
    order = xp.argsort(x, d, kind="stable")
    kept = (~xp.isnan(x)).sum(d) if x.dtype.kind == "f" else xp.full_like(x.sum(d), x.shape[d])
    at = xp.expand_dims(xp.maximum(kept - 1, 0) // 2, d)
    return xp.take_along_axis(order, at, d).squeeze(d).astype(xp.int64)


def _whole_median(pick):
    def forward(x):
        flat = x.ravel()
        return flat[pick(flat, 0)] if x.size else xp.full((), xp.nan, x.dtype, like=x)

    return forward


def _median(name, pick, nodes):
    along = _chooser(f"{name}_dim", pick, nodes[1])
    whole = declare(
        name,
        _whole_median(pick),
        "self",
        node=nodes[0],
        formula="g shared by the elements equal to the median",
        self=_even_or_nan,
    )

    def function(input, dim=None, keepdim=False):
        return whole(input) if dim is None else along(input, dim, keepdim)

    function.__name__ = name
    function.__doc__ = "The lower median of all elements, or (values, indices) along ``dim``."
    return method(function)


median = _median("median", _middle, ("MedianBackward0", "MedianBackward1"))
nanmedian = _median("nanmedian", _nan_middle, ("NanmedianBackward0", "NanmedianBackward1"))


@on_host
def _most_frequent(x, d):
    """The last index of the smallest of the most frequent values."""
    moved = xp.moveaxis(x, d, -1)
    out = xp.empty(moved.shape[:-1], xp.int64)
    for place in xp.ndindex(out.shape):
        values, counts = xp.unique(moved[place], return_counts=True, equal_nan=False)
        chosen = values[counts.argmax()]
        out[place] = xp.nonzero((moved[place] == chosen) | (chosen != chosen))[0][-1]
    return out


_mode = _chooser("mode_dim", _most_frequent, "ModeBackward0")


def mode(input, dim=-1, keepdim=False):
    """(values, indices) of the most frequent value along ``dim``, the smallest of several."""
    return _mode(input, dim, keepdim)


_kth = {}


def kthvalue(input, k, dim=-1, keepdim=False):
    """(value, index) of the ``k``-th smallest along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    if input._a.ndim and not input._a.shape[d]:
        raise IndexError(f"kthvalue(): Expected reduction dim {d} to have non-zero size.")
    if not 1 <= k <= (input._a.shape[d] if input._a.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(d))
    if k not in _kth:
        _kth[k] = _chooser(
            "kthvalue_dim",
            lambda x, d: xp.take(xp.argpartition(x, k - 1, d), k - 1, d).astype(xp.int64),
            "KthvalueBackward0",
        )
    return _kth[k](input, dim, keepdim)


method(mode)
method(kthvalue)


# ---------------------------------------------------------------- sorting
def _sort_joint(F, g, self_shape, dim, indices):
    g = g[0]
    return (F.put_along(g, indices, self_shape, dim) if self_shape else g,)


def _picked(x, dim, indices):
    return (xp.take_along_axis(x, indices, dim) if x.ndim else x.copy(), indices)


sort_op = declare(
    "sort",
    _picked,
    "self",
    "dim indices",
    node="SortBackward0",
    outputs=(True, False),
    formula="g put back in the old order",
    joint=_sort_joint,
)
topk_op = declare(
    "topk",
    _picked,
    "self",
    "dim indices",
    node="TopkBackward0",
    outputs=(True, False),
    formula="g at the chosen elements",
    joint=_sort_joint,
)


def _order(a, dim, descending):
    if a.ndim == 0:
        return xp.zeros((), xp.int64, like=a)
    if not descending:
        return _ascending(a, dim)
    return a.shape[dim] - 1 - xp.flip(_ascending(xp.flip(a, dim), dim), dim)


def _ascending(a, dim):
    return xp.argsort(a, dim, kind="stable").astype(xp.int64, copy=False)


def sort(input, dim=-1, descending=False, *, stable=False):
    """(values, indices) sorted along ``dim``; equal elements keep their order."""
    d = wrap_dim(dim, input._a.ndim)
    return _pair("sort", sort_op(input, d, _order(input._a, d, descending)))


def argsort(input, dim=-1, descending=False, *, stable=False):
    """The indices that sort along ``dim``."""
    order = contiguous(_order(input._a, wrap_dim(dim, input._a.ndim), descending))
    return untracked("argsort", order, input)


def topk(input, k, dim=-1, largest=True, sorted=True):
    """(values, indices) of the ``k`` largest or smallest along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    if input._a.ndim and not 0 <= k <= input._a.shape[d]:
        raise RuntimeError("selected index k out of range")
    return _pair("topk", topk_op(input, d, _chosen(input._a, k, d, largest)))


def _chosen(a, k, d, largest):
    """The indices of the ``k`` largest or smallest, in order: few are chosen first, then sorted."""
    if a.ndim == 0:
        return xp.zeros((), xp.int64, like=a)
    n = a.shape[d]
    if k == 0 or 8 * k > n:
        return contiguous(_order(a, d, largest)[_region(a.ndim, d, slice(0, k))])
    parted = xp.argpartition(a, n - k if largest else k - 1, d).astype(xp.int64, copy=False)
    few = xp.sort(parted[_region(a.ndim, d, slice(n - k, n) if largest else slice(0, k))], d)
    return xp.take_along_axis(few, _order(xp.take_along_axis(a, few, d), d, largest), d)


for _f in (sort, argsort, topk):
    method(_f)
method(lambda input: sort(input, 0)[0], "msort")


# ---------------------------------------------------------------- sums and products so far
def _scanned(ufunc):
    return lambda x, dim: (
        ufunc.accumulate(contiguous(x), dim, _summing(x.dtype))
        if x.ndim
        else x.astype(_summing(x.dtype))
    )


cumsum_op = declare(
    "cumsum",
    _scanned(xp.add),
    "self",
    "dim",
    formula="sums of g from here on",
    self=lambda F, g, dim: F.reverse_cumsum(g, dim),
)


def _reverse_cumsum(x, dim):
    return xp.flip(xp.cumsum(xp.flip(x, dim), dim), dim) if x.ndim else x


RAW.reverse_cumsum = _reverse_cumsum
TENSOR.reverse_cumsum = lambda x, dim: (
    TENSOR.flip(TENSOR.cumsum(TENSOR.flip(x, (dim,)), dim), (dim,)) if x._a.ndim else x
)


def _cumprod_grad(F, g, self, result, dim):
    array = self if F is RAW else self._a
    if array.ndim == 0:
        return g
    if not readable(array) or (array != 0).all():
        return F.reverse_cumsum(F.conj(result) * g, dim) / F.conj(self)
    return _cumprod_with_zeros(F, g, self, dim, array.shape[dim])


def _cumprod_with_zeros(F, g, self, dim, n):
    """Element by element: the product before it times the sum of g over products after it."""
    parts = []
    before = None
    for i in range(n):
        total = F.narrow(g, dim, i, 1)
        if i + 1 < n:
            after = F.conj(F.cumprod(F.narrow(self, dim, i + 1, n - i - 1), dim))
            total = total + F.sum_dims(F.narrow(g, dim, i + 1, n - i - 1) * after, (dim,), True)
        parts.append(total if before is None else total * F.conj(before))
        here = F.narrow(self, dim, i, 1)
        before = here if before is None else before * here
    return F.cat(parts, dim)


cumprod_op = declare(
    "cumprod",
    _scanned(xp.multiply),
    "self",
    "dim",
    formula="sums of g · result from here on, / self",
    self=_cumprod_grad,
)


def _scan(name, op_function):
    def function(input, dim, *, dtype=None, out=None):
        check_summed(input, dtype)
        input = _as(input, dtype)
        result = narrowed(op_function(input, wrap_dim(dim, input._a.ndim)), dtype)
        if out is None:
            return result
        return write_out(name, result, out, (input,))

    def inplace(self, dim, *, dtype=None):
        wanted = dtypes.PYTHON.get(dtype, dtype)
        if wanted is not None and wanted is not self.dtype:
            raise RuntimeError(
                f"Bad in-place call: input tensor dtype {dtypes.c_name(self.dtype)} and output "
                f"tensor dtype {dtypes.c_name(wanted)} should match"
            )
        return write(op_function.op, (self,), (wrap_dim(dim, self._a.ndim),))

    function.__name__, function.__doc__ = name, f"Running results of ``{name}`` along ``dim``."
    inplace.__name__, inplace.__doc__ = f"{name}_", f"In-place ``{name}``."
    only_method(inplace)
    return method(function)


cumsum, cumprod = _scan("cumsum", cumsum_op), _scan("cumprod", cumprod_op)


def _logcumsumexp_grad(F, g, self, result, dim):
    """Backwards along ``dim``: every exponent is negative, so nothing overflows."""
    shape = (self if F is RAW else self._a).shape
    if not shape:
        return g
    n = shape[dim]
    if not n:
        return F.zeros_like(g)
    parts, carried = [None] * n, None
    for i in reversed(range(n)):
        total = F.narrow(g, dim, i, 1)
        here = F.narrow(result, dim, i, 1)
        if carried is not None:
            total = total + F.conj(F.exp(here - F.narrow(result, dim, i + 1, 1))) * carried
        carried = total
        parts[i] = F.conj(F.exp(F.narrow(self, dim, i, 1) - here)) * total
    return F.cat(parts, dim)


def _logcumsumexp(x, dim):
    if x.ndim == 0:
        return x.copy()
    if x.dtype.kind != "c":
        return xp.logaddexp.accumulate(contiguous(x), dim)
    out = x.copy()
    rows = xp.moveaxis(out, dim, 0)
    for k in range(1, len(rows)):
        rows[k] = RAW.logaddexp(rows[k - 1], rows[k])
    return out


logcumsumexp_op = declare(
    "logcumsumexp",
    _logcumsumexp,
    "self",
    "dim",
    formula="Σ g · exp(self − result) from here on",
    self=_logcumsumexp_grad,
)
method(lambda input, dim: logcumsumexp_op(input, wrap_dim(dim, input._a.ndim)), "logcumsumexp")


def _record_holder(x, dim, better):
    """The index of the largest (smallest) so far, the latest of equals."""
    if x.ndim == 0:
        return x.copy(), xp.zeros((), xp.int64, like=x)
    best = (xp.maximum if better == "max" else xp.minimum).accumulate(x, dim)
    hit = (x == best) | ((x != x) & (best != best))
    steps = xp.arange(x.shape[dim], like=x).reshape([-1 if d == dim else 1 for d in range(x.ndim)])
    return best, xp.maximum.accumulate(xp.where(hit, steps, 0), dim).astype(xp.int64)


def _record(name, better, node):
    def joint(F, g, self, result, self_shape, dim):
        if not self_shape:
            return (g[0],)
        indices = result[1]
        return (F.scatter_back(g[0], indices, self_shape, dim),)

    op = declare(
        f"{name}_op",
        lambda x, dim: _record_holder(x, dim, better),
        "self",
        "dim",
        node=node,
        outputs=(True, False),
        formula="g added to the element that held the record",
        joint=joint,
        hidden=("self_sym_sizes", "result"),
        also={"indices": part(1)},
    )

    def function(input, dim):
        return _pair(name, op(input, wrap_dim(dim, input._a.ndim)))

    function.__name__, function.__doc__ = (
        name,
        f"(values, indices) of the {better}imum so far along ``dim``.",
    )
    method(function)


_record("cummax", "max", "CummaxBackward0")
_record("cummin", "min", "CumminBackward0")


# ---------------------------------------------------------------- search
_SLOW = (
    "torch.searchsorted(): {what} tensor is non-contiguous, this will lower the performance due to "
    "extra data copy when converting non-contiguous tensor to contiguous, please use contiguous "
    "{what} tensor if possible. This message will only appear once per program."
)


def searchsorted(
    sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None
):
    """Where the values of ``input`` belong in the sorted rows of ``sorted_sequence``."""
    side = "right" if right or side == "right" else "left"
    rows = sorted_sequence._a
    if rows.dtype.kind in "bc":
        shown = dtypes.scalar_name(sorted_sequence.dtype)
        raise NotImplementedError(f"\"searchsorted_out_cpu\" not implemented for '{shown}'")
    for what, x in (("input value", input), ("boundary", sorted_sequence)):
        if isinstance(x, Tensor) and not x._a.flags.c_contiguous:
            warn_once(_SLOW.format(what=what))
    values = input._a if isinstance(input, Tensor) else xp.asarray(input, like=rows)
    if sorter is not None:
        rows = xp.take_along_axis(rows, sorter._a, -1)
    if rows.ndim == 1:
        found = xp.searchsorted(rows, values, side)
    else:
        if rows.shape[:-1] != values.shape[:-1]:
            raise RuntimeError(
                "boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                "boundaries tensor and input value "
                f"tensor must match, but we got boundaries tensor {list(rows.shape)} and input "
                "value tensor "
                f"{list(values.shape)}"
            )
        found = xp.empty(values.shape, xp.int64, like=rows)
        for place in xp.ndindex(rows.shape[:-1]):
            found[place] = xp.searchsorted(rows[place], values[place], side)
    if values.dtype.kind == "f":
        found = xp.where(xp.isnan(values), rows.shape[-1], found)
    return wrap(as_array(found, dtype=xp.int32 if out_int32 else xp.int64))


def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The bucket of every element among sorted ``boundaries``."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Whether every element occurs in ``test_elements``."""
    a, b = (x._a if isinstance(x, Tensor) else xp.asarray(x) for x in (elements, test_elements))
    for x in (a, b):
        if x.dtype.kind in "bc":
            raise RuntimeError(
                f"Unsupported input type encountered for isin(): {dtypes.scalar_name(dtypes.of(x))}"
            )
    return wrap(xp.isin(a, b, assume_unique=assume_unique, invert=invert))


for _f in (searchsorted, bucketize, isin):
    public(_f.__name__, _f)


# ---------------------------------------------------------------- counts
def bincount(input, weights=None, minlength=0):
    """How often every number occurs, or the sum of its weights."""
    if input._a.dtype.kind not in "iu":
        shown = dtypes.scalar_name(input.dtype)
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{shown}'")
    if input._a.ndim != 1 or (readable(input._a) and input._a.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if isinstance(input._a, MetaArray):
        meta.refuse("bincount")
    found = xp.bincount(input._a, None if weights is None else weights._a, minlength)
    if weights is None:
        return wrap(found.astype(xp.int64, copy=False))
    if not input._a.size:
        return wrap(found)
    return _bincount(input, weights, found)


_bincount = known.without_derivative("bincount", "self weights")


def _range(a, low, high):
    return (a.min(), a.max()) if low == high and readable(a) else (low, high)


def histc(input, bins=100, min=0, max=0):
    """Counts in ``bins`` equal parts of [min, max], or of the range of the elements."""
    if input._a.dtype.kind == "c":
        shown = dtypes.scalar_name(input.dtype)
        raise NotImplementedError(f"\"aminmax_cpu\" not implemented for '{shown}'")
    low, high = _range(input._a, min, max)
    return wrap(
        xp.histogram(input._a, bins, (low, high if high > low else low + 1))[0].astype(
            input._a.dtype
        )
    )


def histogram(input, bins, *, range=None, weight=None, density=False):
    """(hist, bin_edges) with equal parts, or with given edges."""
    if isinstance(bins, Tensor):
        bins = bins._a
    if input._a.dtype.kind != "f":
        shown = dtypes.scalar_name(input.dtype)
        raise NotImplementedError(f"\"histogram_cpu\" not implemented for '{shown}'")
    counts, edges = xp.histogram(
        input._a, bins, range, density, None if weight is None else weight._a
    )
    dtype = input._a.dtype
    made = [_histogram(input, x.astype(dtype)) for x in (counts, edges)]
    return return_types("histogram", ("hist", "bin_edges"))(*made)


_histogram = known.without_derivative("histogram")


def histogramdd(input, bins, *, range=None, weight=None, density=False):
    """(hist, bin_edges) of points, one a row."""
    bins = (
        [b._a if isinstance(b, Tensor) else b for b in bins]
        if isinstance(bins, (list, tuple))
        else bins
    )
    pairs = (
        None if range is None else [tuple(range[k : k + 2]) for k in xp.arange(0, len(range), 2)]
    )
    counts, edges = xp.histogramdd(
        input._a, bins, pairs, density, None if weight is None else weight._a
    )
    dtype = input._a.dtype
    return return_types("histogramdd", ("hist", "bin_edges"))(
        wrap(counts.astype(dtype)), tuple(wrap(e.astype(dtype)) for e in edges)
    )


method(bincount)
method(histc)
method(histogram)
public("histogramdd", histogramdd)


def _logical(name, ufunc):
    def function(input, dim=None, keepdim=False):
        a = input._a
        kind = xp.uint8 if a.dtype == xp.uint8 else bool
        if dim is not None and not isinstance(dim, int) and not len(dim):
            return untracked(name, (a != 0).astype(kind), input)
        dims = _axes(dim, a.ndim)
        found = as_array(ufunc.reduce(a != 0, dims, None, None, keepdim)).astype(kind)
        return untracked(name, found, input)

    function.__name__ = name
    function.__doc__ = f"Whether {name} elements are nonzero, in all or along ``dim``."
    method(function, name)


def _axes(dim, ndim):
    from .reduce import axes

    return axes(dim, ndim)


_logical("all", xp.logical_and)
_logical("any", xp.logical_or)


def count_nonzero(input, dim=None):
    """The number of nonzero elements."""
    return wrap(
        as_array(
            xp.count_nonzero(input._a, axis=None if dim is None else _axes(dim, input._a.ndim)),
            dtype=xp.int64,
        )
    )


method(count_nonzero)


# ---------------------------------------------------------------- agreement
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements agree within ``atol + rtol · |other|``."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._a.all())


def _word(x):
    return {"float32": "Float", "float64": "Double"}.get(x.dtype.name, dtypes.scalar_name(x.dtype))


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Elementwise agreement within ``atol + rtol · |other|``."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{_word(input)} did not match {_word(other)}")
    return wrap(as_array(xp.isclose(input._a, other._a, rtol, atol, equal_nan)))


def equal(input, other):
    """Whether shapes and all elements are equal."""
    if isinstance(input._a, MetaArray) or isinstance(other._a, MetaArray):
        meta.refuse("equal")
    return input._a.shape == other._a.shape and bool((input._a == other._a).all())


for _f in (allclose, isclose, equal):
    method(_f)
