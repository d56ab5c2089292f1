"""Distinct values: ``unique`` and ``unique_consecutive``."""

from __future__ import annotations

from ..backend import as_array, xp
from ..engine import dtypes
from ..engine.operands import not_a_tensor, type_name
from ..engine.tensor import Tensor, existing_dim
from .casting import lacking
from .declare import declare, method
from .mistakes import told


def _refuse_complex(name, x):
    if x.dtype.kind == "c":
        raise NotImplementedError(
            f"\"{name}\" not implemented for '{dtypes.scalar_name(dtypes.of(x))}'"
        )


def _results(x, found, shape):
    """(values, inverse, counts) with empty ones for those that were not asked for."""
    values, inverse, counts = found
    none = xp.zeros(0, xp.int64, like=x)
    inverse = none if inverse is None else as_array(inverse, dtype=xp.int64).reshape(shape)
    return values, inverse, none if counts is None else as_array(counts, dtype=xp.int64)


def _unique(x, dim, inverse, counts):
    _refuse_complex("unique" if dim is None else "unique_dim", x)
    if not (inverse or counts):
        return _results(x, (xp.unique(x, axis=dim, equal_nan=False), None, None), -1)
    values, *rest = xp.unique(
        x, return_inverse=inverse, return_counts=counts, axis=dim, equal_nan=False
    )
    found = (values, rest[0] if inverse else None, rest[-1] if counts else None)
    return _results(x, found, x.shape if dim is None else -1)


def _consecutive(x, dim, inverse, counts):
    _refuse_complex("unique" if dim is None else "unique_dim", x)
    rows = x.ravel()[:, None] if dim is None else xp.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    fresh = xp.ones(len(rows), bool, like=rows)
    fresh[1:] = (rows[1:] != rows[:-1]).any(1)
    starts = xp.nonzero(fresh)[0]
    found = (
        x.ravel()[starts] if dim is None else xp.take(x, starts, dim),
        xp.cumsum(fresh) - 1 if inverse else None,
        xp.diff(xp.append(starts, len(rows))) if counts else None,
    )
    return _results(x, found, x.shape if dim is None else -1)


def _declared(name, forward, node):
    return declare(
        f"{name}_op",
        forward,
        "self",
        "dim inverse counts",
        node=node,
        outputs=(True, False, False),
        formula="—",
        self=lacking(name),
    )


_sorted_op = _declared("_unique2", _unique, "Unique2Backward0")
_dim_op = _declared("unique_dim", _unique, "UniqueDimBackward0")
_consecutive_op = _declared("unique_consecutive", _consecutive, "UniqueConsecutiveBackward0")


def _check(name, input, dim, **flags):
    """TypeError in the words of the function below, told before anything is computed."""
    if not isinstance(input, Tensor):
        raise told(not_a_tensor(name, "input", 1, input))
    for key, value in flags.items():
        if not isinstance(value, bool):
            raise told(
                TypeError(f"{name}(): argument '{key}' must be bool, not {type_name(value)}")
            )
    if dim is not None and not isinstance(dim, int):
        place = " (position 2)" if name == "unique_dim" else ""
        raise told(TypeError(f"{name}(): argument 'dim'{place} must be int, not {type_name(dim)}"))


def _dim(input, dim):
    """``dim`` from the front; RuntimeError where nothing lies beside it."""
    d = existing_dim(dim, input._a.ndim)
    if 0 in input._a.shape[:d] + input._a.shape[d + 1 :]:
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )
    return d


def _chosen(found, return_inverse, return_counts):
    values, inverse, counts = found
    if not (return_inverse or return_counts):
        return values
    return (values, *[inverse] * return_inverse, *[counts] * return_counts)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in order (slices along ``dim``); with their inverse indices and counts
    on request. A NaN is distinct from every other.
    """
    flags = {"sorted": sorted, "return_inverse": return_inverse, "return_counts": return_counts}
    _check("_unique2" if dim is None else "unique_dim", input, dim, **flags)
    if dim is None:
        found = _sorted_op(input, None, return_inverse, return_counts)
    else:
        found = _dim_op(input, _dim(input, dim), return_inverse, return_counts)
    return _chosen(found, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (slices along ``dim``) without immediate repetitions."""
    flags = {"return_inverse": return_inverse, "return_counts": return_counts}
    _check("unique_consecutive", input, dim, **flags)
    d = None if dim is None else _dim(input, dim)
    found = _consecutive_op(input, d, return_inverse, return_counts)
    return _chosen(found, return_inverse, return_counts)


method(unique)
method(unique_consecutive)
