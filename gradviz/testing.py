"""``torch.testing``: comparing values in tests, and random tensors for them."""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

import gradviz as torch

_TOLERANCES = {  # (rtol, atol), as PyTorch documents them
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
_NUMBERS = {bool: (0.0, 0.0), int: (0.0, 0.0), float: (1e-7, 1e-7), complex: (1e-7, 1e-7)}


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
    """Raise AssertionError unless ``|actual − expected| ≤ atol + rtol · |expected|`` everywhere.

    Both are tensors or arrays of one shape, numbers, None, or sequences and mappings of these.
    Without ``rtol`` and ``atol`` they follow from the dtypes (0 for integers). ``msg`` is the text
    of the error, or a function of the text that would be used. Raises TypeError for what cannot be
    compared and ValueError when only one tolerance is given.
    """
    if (rtol is None) != (atol is None):
        lacking = "rtol" if rtol is None else "atol"
        raise ValueError(
            f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {lacking}."
        )
    checked = {
        "shape": True,
        "layout": check_layout,
        "device": check_device,
        "dtype": check_dtype,
        "stride()": check_stride,
    }
    pairs = list(_pairs(actual, expected, "", allow_subclasses, msg))
    for first, second, where in pairs:
        if first is None or second is None:
            said = None if first is second else f"None mismatch: {first} is not {second}"
        elif isinstance(first, bool):
            said = None if first is second else f"Booleans mismatch: {first} is not {second}"
        elif isinstance(first, torch.Tensor):
            said = _tensors(first, second, rtol, atol, equal_nan, checked)
        else:
            said = _numbers(first, second, rtol, atol, equal_nan, check_dtype)
        if said is not None:
            raise _failure(said, where, msg)


def _pairs(actual, expected, where, allow_subclasses, msg):
    """The pairs of tensors and of numbers in two structures, each with its place in them."""
    if isinstance(actual, str) or isinstance(expected, str):
        raise _incomparable(actual, expected)
    if isinstance(actual, Sequence) and isinstance(expected, Sequence):
        if len(actual) != len(expected):
            said = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            raise _failure(said, where, msg)
        for k, (first, second) in enumerate(zip(actual, expected, strict=True)):
            yield from _pairs(first, second, f"{where}[{k}]", allow_subclasses, msg)
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            raise _failure(_keys(actual.keys(), expected.keys()), where, msg)
        for key in _ordered(actual.keys()):
            place = f"{where}[{key!r}]"
            yield from _pairs(actual[key], expected[key], place, allow_subclasses, msg)
    elif actual is None or expected is None:
        yield actual, expected, where
    elif isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_):
        yield bool(actual), bool(expected), where
    elif _is_number(actual) and _is_number(expected):
        yield _number(actual), _number(expected), where
    elif _related(actual, expected, allow_subclasses) and isinstance(
        actual, torch.Tensor | np.ndarray
    ):
        yield (
            *(x if isinstance(x, torch.Tensor) else torch.as_tensor(x) for x in (actual, expected)),
            where,
        )
    else:
        raise _incomparable(actual, expected)


def _is_number(x):
    return isinstance(x, int | float | complex | np.number) and not isinstance(x, bool)


def _number(x):
    return x.item() if isinstance(x, np.number) else x


def _related(a, b, allow_subclasses):
    if type(a) is type(b):
        return True
    return allow_subclasses and (isinstance(a, type(b)) or isinstance(b, type(a)))


def _ordered(keys):
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _keys(actual, expected):
    lacking, more = _ordered(expected - actual), _ordered(actual - expected)
    said = "The keys of the mappings do not match:"
    if lacking:
        said += f"\nMissing keys in the actual mapping: {lacking}"
    if more:
        said += f"\nAdditional keys in the actual mapping: {more}"
    return said


def _incomparable(actual, expected):
    return TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )


def _failure(said, where, msg):
    if where:
        said += f"\n\nThe failure occurred for item {where}"
    if msg is not None:
        said = msg(said) if callable(msg) else msg
    return AssertionError(said)


def _tolerance(kinds, table, rtol, atol):
    """(rtol, atol) as given, or the wider ones of the two ``kinds``."""
    if rtol is not None:
        return rtol, atol
    found = [table.get(kind, (0.0, 0.0)) for kind in kinds]
    return max(found)[0], max(one[1] for one in found)


def _allowed(tolerance, equal):
    return "" if equal else f" (up to {tolerance} allowed)"


def _numbers(actual, expected, rtol, atol, equal_nan, check_type):
    """What is wrong with two numbers, None where nothing is."""
    if check_type and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = _tolerance((type(actual), type(expected)), _NUMBERS, rtol, atol)
    if actual == expected or (equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return None
    absolute = abs(actual - expected)
    if cmath.isfinite(absolute) and absolute <= atol + rtol * abs(expected):
        return None
    relative = absolute / abs(expected) if expected else math.inf
    return _scalars(actual, expected, absolute, relative, rtol, atol)


def _scalars(actual, expected, absolute, relative, rtol, atol):
    equal = rtol == atol == 0
    return (
        f"Scalars are not {'equal' if equal else 'close'}!\n\n"
        f"Expected {expected} but got {actual}.\n"
        f"Absolute difference: {absolute}{_allowed(atol, equal)}\n"
        f"Relative difference: {relative}{_allowed(rtol, equal)}"
    )


def _tensors(actual, expected, rtol, atol, equal_nan, checked):
    """What is wrong with two tensors, None where nothing is."""
    actual, expected = actual.detach(), expected.detach()
    for name, wanted in checked.items():
        first, second = (
            x.stride() if name == "stride()" else getattr(x, name) for x in (actual, expected)
        )
        if wanted and first != second:
            return f"The values for attribute '{name}' do not match: {first} != {second}."
    rtol, atol = _tolerance((actual.dtype, expected.dtype), _TOLERANCES, rtol, atol)
    actual, expected = actual.cpu(), expected.cpu()
    if actual.dtype != expected.dtype:
        common = torch.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if bool(matches.all()):
        return None
    if actual.dim() == 0:
        if actual.dtype == torch.bool:
            actual, expected = actual.to(torch.int64), expected.to(torch.int64)
        a, b = actual.item(), expected.item()
        absolute = abs(a - b)
        return _scalars(a, b, absolute, absolute / abs(b) if b else math.inf, rtol, atol)
    if not actual.dtype.is_floating_point and not actual.dtype.is_complex:
        actual, expected = actual.to(torch.int64), expected.to(torch.int64)
    absolute = torch.abs(actual - expected)
    relative = absolute / torch.abs(expected)
    equal, wrong = rtol == atol == 0, int((~matches).sum())
    said = (
        f"Tensor-likes are not {'equal' if equal else 'close'}!\n\n"
        f"Mismatched elements: {wrong} / {matches.numel()} ({wrong / matches.numel():.1%})"
    )
    for name, difference, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
        difference[matches] = 0
        at = int(torch.argmax(difference.flatten()))
        index = tuple(int(k) for k in np.unravel_index(at, difference.shape))
        said += (
            f"\nGreatest {name} difference: {difference.flatten()[at].item()} at index {index}"
            f"{_allowed(allowed, equal)}"
        )
    return said


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
    """A tensor of ``shape`` with values drawn evenly from ``[low, high)``: −9 … 9 where nothing is
    given, 0 … 9 for uint8 and False or True for bool.

    ``noncontiguous`` gives every second element of a larger tensor; ``exclude_zero`` puts the
    smallest positive value in the place of zeros. Raises ValueError for bounds that are empty or
    NaN and for ``requires_grad`` of integers.
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        (shape,) = shape
    inexact = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got {noncontiguous=} and {memory_format=}"
        )
    if requires_grad and not inexact:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, "
            f"but got {dtype=}"
        )
    low, high = _bounds(low, high, dtype, inexact)
    wanted = tuple(shape)
    noncontiguous = noncontiguous and math.prod(wanted) > 1
    if noncontiguous:
        shape = (*wanted[:-1], 2 * wanted[-1])
    if inexact:
        real = {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)
        parts = (*shape, 2) if dtype.is_complex else tuple(shape)
        found = torch.empty(parts, dtype=real, device=device).uniform_(low, high)
        found = torch.view_as_complex(found) if dtype.is_complex else found
    else:
        found = torch.randint(low, high, tuple(shape), dtype=dtype, device=device)
    if noncontiguous:
        found = found[..., 1::2]
    elif memory_format is not None:
        found = found.clone(memory_format=memory_format)
    if exclude_zero:
        found[found == 0] = torch.finfo(dtype).tiny if inexact else 1
    return found.requires_grad_(requires_grad)


def _bounds(low, high, dtype, inexact):
    """The bounds within those of ``dtype``; whole numbers for integers."""
    usual = {torch.bool: (0, 2), torch.uint8: (0, 10)}.get(dtype, (-9, 9 if inexact else 10))
    low, high = (usual[k] if one is None else one for k, one in enumerate((low, high)))
    if any(isinstance(one, float) and math.isnan(one) for one in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and inexact:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    if dtype == torch.bool:
        least, most = 0, 2
    elif inexact:
        least, most = torch.finfo(dtype).min, torch.finfo(dtype).max
    else:
        least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max + 1
    low, high = max(low, least), min(high, most)
    return (low, high) if inexact else (math.ceil(low), math.ceil(high))
