"""``gradviz.testing``: ``assert_close`` with PyTorch's tolerances and messages, ``make_tensor``."""

from __future__ import annotations

import cmath
import collections.abc
import contextlib
import math
import warnings

from .backend import xp
from .engine import dtypes
from .engine.device import strided
from .engine.tensor import Tensor
from .ops import FUNCTIONS as F

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

_NUMBERS = {int: "int64", float: "float64", complex: "complex128"}
_TOLERANCES = {
    "float16": (0.001, 1e-5),
    "bfloat16": (0.016, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_OLD_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


class _Unlike(Exception):
    """What failed, of which type, for which item of the nesting."""

    def __init__(self, kind, text, place):
        super().__init__(text)
        self.kind, self.place = kind, place

    def error(self, msg):
        """The exception that the caller gets."""
        text = str(self)
        if self.place:
            text += f"\n\nThe failure occurred for item {''.join(str([k]) for k in self.place)}"
        return self.kind(msg if isinstance(msg, str) else msg(text) if callable(msg) else text)


def assert_close(
    actual,
    expected,
    *,
    allow_subclasses=True,
    rtol=None,
    atol=None,
    equal_nan=False,
    check_device=True,
    check_dtype=True,
    check_layout=True,
    check_stride=False,
    msg=None,
):
    """AssertionError unless ``actual`` and ``expected``, tensors, numbers or a nesting of both, are
    close: ``|a - e| <= atol + rtol · |e|``, with tolerances by dtype unless given. ``msg``: a text
    instead of ours, or a function of ours.
    """
    __tracebackhide__ = True
    checks = {
        "allow_subclasses": allow_subclasses,
        "check_device": check_device,
        "check_dtype": check_dtype,
        "check_layout": check_layout,
        "check_stride": check_stride,
    }
    try:
        pairs = list(_pairs(actual, expected, (), (rtol, atol), checks))
    except _Unlike as unlike:
        raise unlike.error(None) from None
    try:
        for compare, a, e, place, tolerances in pairs:
            compare(a, e, place, tolerances, equal_nan, checks)
    except _Unlike as unlike:
        raise unlike.error(msg) from None


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The older form of ``assert_close``: looser, and of any dtypes."""
    __tracebackhide__ = True
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
        "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, Tensor):
        actual = F["tensor"](actual)
    if not isinstance(expected, Tensor):
        expected = F["tensor"](expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = _loosest(_OLD_TOLERANCES, actual.dtype, expected.dtype)
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        msg=msg or None,
    )


# ---------------------------------------------------------------- what is compared with what
def _pairs(actual, expected, place, given, checks):
    """(how to compare, both sides, their place, tolerances) of every two leaves."""
    both = (actual, expected)
    if _both(both, collections.abc.Sequence) and not any(isinstance(x, str) for x in both):
        if len(actual) != len(expected):
            text = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _Unlike(AssertionError, text, place)
        for k, (a, e) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(a, e, (*place, k), given, checks)
    elif _both(both, collections.abc.Mapping):
        _same_keys(actual, expected, place)
        keys = list(actual)
        with contextlib.suppress(TypeError):
            keys = sorted(keys)
        for k in keys:
            yield from _pairs(actual[k], expected[k], (*place, k), given, checks)
    elif actual is None or expected is None:
        yield _nones, actual, expected, place, None
    elif _both(both, (bool, xp.bool_)):
        yield _booleans, bool(actual), bool(expected), place, None
    elif _both(both, (*_NUMBERS, xp.number)):
        a, e = (x.item() if isinstance(x, xp.number) else x for x in both)
        kinds = [_NUMBERS[type(x)] if type(x) in _NUMBERS else "" for x in (a, e)]
        yield _numbers, a, e, place, _tolerances(given, kinds, place)
    else:
        a, e = _as_tensors(actual, expected, place, checks["allow_subclasses"])
        yield _tensors, a, e, place, _tolerances(given, (a.dtype, e.dtype), place)


def _both(pair, kinds):
    return all(isinstance(x, kinds) for x in pair)


def _same_keys(actual, expected, place):
    missing, more = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    if missing or more:
        raise _Unlike(
            AssertionError,
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing)}\n"
            f"Additional keys in the actual mapping: {sorted(more)}",
            place,
        )


def _as_tensors(actual, expected, place, allow_subclasses):
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    made = None
    if related and (allow_subclasses or type(actual) is type(expected)):
        with contextlib.suppress(Exception):
            made = [x if isinstance(x, Tensor) else F["as_tensor"](x) for x in (actual, expected)]
    if made is None:
        raise _Unlike(
            TypeError,
            "No comparison pair was able to handle inputs of type "
            f"{_shown(actual)} and {_shown(expected)}.",
            place,
        )
    return made


def _shown(x):
    return "<class 'torch.Tensor'>" if type(x) is Tensor else str(type(x))


def _tolerances(given, names, place):
    rtol, atol = given
    if (rtol is None) != (atol is None):
        raise _Unlike(
            ValueError,
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}.",
            place,
        )
    return _loosest(_TOLERANCES, *names) if rtol is None else given


def _loosest(table, *names):
    found = [table.get(str(name).split(".")[-1], (0.0, 0.0)) for name in names]
    return max(r for r, _ in found), max(a for _, a in found)


# ---------------------------------------------------------------- comparing
def _nones(a, e, place, tolerances, equal_nan, checks):
    if not (a is None and e is None):
        raise _Unlike(AssertionError, f"None mismatch: {a} is not {e}", place)


def _booleans(a, e, place, tolerances, equal_nan, checks):
    if a is not e:
        raise _Unlike(AssertionError, f"Booleans mismatch: {a} is not {e}", place)


def _numbers(a, e, place, tolerances, equal_nan, checks):
    if checks["check_dtype"] and type(a) is not type(e):
        text = f"The (d)types do not match: {type(a)} != {type(e)}."
        raise _Unlike(AssertionError, text, place)
    if a == e or equal_nan and cmath.isnan(a) and cmath.isnan(e):
        return
    rtol, atol = tolerances
    apart = abs(a - e)
    if not (cmath.isfinite(apart) and apart <= atol + rtol * abs(e)):
        raise _Unlike(AssertionError, _scalars_differ(a, e, tolerances), place)


def _tensors(a, e, place, tolerances, equal_nan, checks):
    attributes = [("shape", a.shape, e.shape)]
    if checks["check_layout"] or a.layout == e.layout == strided:
        attributes.append(("layout", a.layout, e.layout))
    if checks["check_stride"]:
        attributes.append(("stride()", a.stride(), e.stride()))
    attributes += [
        (name, getattr(a, name), getattr(e, name))
        for name in ("device", "dtype")
        if checks[f"check_{name}"]
    ]
    for name, x, y in attributes:
        if x != y:
            text = f"The values for attribute '{name}' do not match: {x} != {y}."
            raise _Unlike(AssertionError, text, place)
    if a.is_meta or e.is_meta:
        return  # there is nothing else to compare
    if a.device != e.device:
        a, e = a.cpu(), e.cpu()
    if a.dtype != e.dtype:
        common = dtypes.promote_types(a.dtype, e.dtype)
        a, e = a.to(common), e.to(common)
    rtol, atol = tolerances
    a, e = a.detach(), e.detach()
    near = F["isclose"](a, e, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(near.all()):
        return
    if a.shape:
        raise _Unlike(AssertionError, _tensors_differ(a, e, near, tolerances), place)
    raise _Unlike(AssertionError, _scalars_differ(a.item(), e.item(), tolerances), place)


def _scalars_differ(a, e, tolerances):
    apart = abs(a - e)
    relative = math.inf if e == 0 else apart / abs(e)
    return _differ(
        "Scalars", f"Expected {e} but got {a}.", [(apart, None), (relative, None)], tolerances
    )


def _tensors_differ(a, e, near, tolerances):
    count = near.numel()
    wrong = count - int(near.sum())
    if not (a.is_floating_point() or a.is_complex()):
        a, e = a.to(dtypes.PUBLIC["int64"]), e.to(dtypes.PUBLIC["int64"])
    apart = (a - e).abs()
    apart[near] = 0
    relative = apart / e.abs()
    relative[near] = 0
    extra = f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})"
    return _differ("Tensor-likes", extra, [_greatest(apart), _greatest(relative)], tolerances)


def _greatest(differences):
    """(the largest of them, where it is)."""
    value, at = differences.flatten().max(0)
    where = xp.unravel_index(int(at), tuple(differences.shape))
    return value.item(), tuple(map(int, where))


def _differ(what, extra, differences, tolerances):
    rtol, atol = tolerances
    equal = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equal else 'close'}!", "", extra]
    for kind, (value, at), allowed in zip(
        ("absolute", "relative"), differences, (atol, rtol), strict=True
    ):
        start = f"{kind.title()} difference: {value}"
        if at is not None:
            start = f"Greatest {kind} difference: {value} at index {at}"
        lines.append(start if equal else f"{start} (up to {allowed} allowed)")
    return "\n".join(lines)


# ---------------------------------------------------------------- making tensors
def make_tensor(
    *shape,
    dtype,
    device,
    low=None,
    high=None,
    requires_grad=False,
    noncontiguous=False,
    exclude_zero=False,
    memory_format=None,
):
    """A tensor of random values in ``[low, high)``, from -9 to 9 unless given. ``noncontiguous``:
    every second element of a larger one. ValueError for bounds that fit no such values.
    """
    if len(shape) == 1 and isinstance(shape[0], collections.abc.Sequence):
        (shape,) = shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    whole = dtype.category < 2
    if requires_grad and whole:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}"
        )
    noncontiguous = noncontiguous and math.prod(shape) > 1
    shape = (*shape[:-1], 2 * shape[-1]) if noncontiguous else tuple(shape)
    low, high = _bounds(low, high, dtype)
    if whole:
        made = F["randint"](math.ceil(low), math.ceil(high), shape, device=device, dtype=dtype)
    else:
        made = F["empty"](shape, device=device, dtype=dtype)
        _fill(F["view_as_real"](made) if dtype.is_complex else made, low, high)
    if noncontiguous:
        made = made[..., 1::2]
    elif memory_format is not None:
        made = made.clone(memory_format=memory_format)
    if exclude_zero:
        made[made == 0] = 1 if whole else F["finfo"](dtype).tiny
    return made if whole else made.requires_grad_(requires_grad)


def _fill(made, low, high):
    if high - low >= F["finfo"](made.dtype).max:
        made.uniform_(low / 2, high / 2).mul_(2)
    else:
        made.uniform_(low, high)


def _limits(dtype):
    """(lowest value, first one that is too large, default bounds)."""
    if str(dtype) == "torch.bool":
        return 0, 2, 0, 2
    if dtype.category < 2:
        info = F["iinfo"](dtype)
        return info.min, info.max + (str(dtype) != "torch.int64"), -9, 10
    info = F["finfo"](dtype)
    return info.min, info.max, -9, 9


def _bounds(low, high, dtype):
    lowest, end, default_low, default_high = _limits(dtype)
    low, high = default_low if low is None else low, default_high if high is None else high
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype.category >= 2:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < lowest or low >= end:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{lowest}, {end})"
        )
    return min(max(low, lowest), end), min(max(high, lowest), end)
