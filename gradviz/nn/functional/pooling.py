"""Pooling."""

from __future__ import annotations

import math

from ...backend import host, xp
from ...engine.dispatch import untracked, wrap
from ...engine.kept import keep, packing
from ...ops import pool as table
from ...ops.declare import public
from ...ops.layout import channels_kept
from ...ops.lower import keeps_precise
from ...ops.random import stream_of, uniform_array
from .conv import spread


def out_size(n, kernel, stride, padding, dilation, ceil_mode):
    """How many windows fit into ``n`` elements."""
    reach = n + 2 * padding - dilation * (kernel - 1) - 1
    found = (-(-reach // stride) if ceil_mode else reach // stride) + 1
    if ceil_mode and (found - 1) * stride >= n + padding:
        found -= 1
    return found


def _windows(name, n, input, kernel_size, stride, padding, dilation, ceil_mode):
    kernel = spread(kernel_size, n)
    given = () if stride is None or stride == [] else spread(stride, n)
    stride = given or kernel
    padding, dilation = spread(padding, n), spread(dilation, n)
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    if any(s == 0 for s in stride):
        raise RuntimeError("stride should not be zero")
    if any(2 * p > k for p, k in zip(padding, kernel, strict=True)):
        p, k = next((p, k) for p, k in zip(padding, kernel, strict=True) if 2 * p > k)
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={p}, "
            f"kernel_size={k} and dilation=1"
        )
    image = tuple(input.shape[-n:])
    out = tuple(
        out_size(i, k, s, p, d, ceil_mode)
        for i, k, s, p, d in zip(image, kernel, stride, padding, dilation, strict=True)
    )
    if any(o < 1 for o in out):
        lead = (input.shape[-n - 1],) + (1,) * (n == 1 and name.startswith("avg"))
        sizes = ["x".join(map(str, (*lead, *part))) for part in (image, out)]
        raise RuntimeError(
            f"Given input size: ({sizes[0]}). Calculated output size: ({sizes[1]}). Output size "
            "is too small"
        )
    return table.Windows(image, kernel, stride, padding, dilation, out, given, ceil_mode)


# ---------------------------------------------------------------- the largest
def _largest(n, input, at, return_indices):
    if input._g is None and not return_indices and input._tangent is None:
        values = channels_kept(table.largest_values)(input._a, at)
        return untracked(table.max_pool[n].op, values, input)
    values, tap = table.largest(input._a, at)
    out = table.max_pool[n](input, [values], tap, at)
    if not (return_indices or packing()):
        return out
    return _with_places(out, table.flat_indices(tap, at), return_indices)


def _with_places(out, index, asked):
    """The result, whose node keeps the places of the largest elements, and if asked the places."""
    places = wrap(index)
    keep(out, places)
    return (out, places) if asked else out


def _max_pool(n):
    name = f"max_pool{n}d"

    def pool(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        if n == 1:
            return _max_pool1d(
                input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
            )
        at = _windows(name, n, input, kernel_size, stride, padding, dilation, ceil_mode)
        return _largest(n, input, at, return_indices)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The largest element of each window over {n} dimension{'s' * (n > 1)}."
    return pool


def _max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    _check_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)
    at = _windows("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode)
    at = table.Windows(
        (1, *at.image),
        (1, *at.kernel),
        (1, *at.stride),
        (0, *at.padding),
        (1, *spread(dilation, 1)),
        (1, *at.out),
        None,
        ceil_mode,
    )
    found = _largest(2, input.unsqueeze(-2), at, return_indices)
    return tuple(x.squeeze(-2) for x in found) if return_indices else found.squeeze(-2)


def _check_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode):
    (kernel,), (side,), (spacing,) = (spread(x, 1) for x in (kernel_size, padding, dilation))
    (step,) = (kernel,) if stride is None or stride == [] else spread(stride, 1)
    said = None
    if kernel <= 0:
        said = f"kernel_size must be greater than zero, but got {kernel}"
    elif step <= 0:
        said = f"stride must be greater than zero, but got {step}"
    elif side < 0:
        said = f"padding must be non-negative, but got {side}"
    elif side > kernel // 2:
        said = (
            "padding should be at most half of kernel size, but got "
            f"padding={side} and kernel_size={kernel}"
        )
    elif spacing <= 0:
        said = f"dilation must be greater than zero, but got {spacing}"
    elif input.dim() in (2, 3):
        count = out_size(input.shape[-1], kernel, step, side, spacing, ceil_mode)
        said = f"Invalid computed output size: {count}" if count <= 0 else None
    if said is not None:
        raise RuntimeError(f"max_pool1d() {said}")


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)


def _with_indices(n):
    pool = (max_pool1d, max_pool2d, max_pool3d)[n - 1]

    def with_indices(
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        return pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    with_indices.__name__ = f"max_pool{n}d_with_indices"
    with_indices.__doc__ = f"``max_pool{n}d`` with the places of the largest elements."
    return with_indices


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _with_indices, (1, 2, 3)
)


# ---------------------------------------------------------------- means
def _avg_pool(n):
    name = f"avg_pool{n}d"

    def mean(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        at = _windows(name, n, input, kernel_size, stride, padding, 1, ceil_mode)
        return table.avg_pool[n](
            input,
            at,
            table.divisor(at, count_include_pad, divisor_override, input._a.dtype),
            (count_include_pad, divisor_override),
        )

    if n == 1:

        def pool(
            input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True
        ):
            at = _windows(name, 1, input, kernel_size, stride, padding, 1, ceil_mode)
            kernel, step, side = (1, *at.kernel), (1, *at.stride), (0, *at.padding)
            return avg_pool2d(
                input.unsqueeze(-2), kernel, step, side, ceil_mode, count_include_pad
            ).squeeze(-2)

    else:

        def pool(
            input,
            kernel_size,
            stride=None,
            padding=0,
            ceil_mode=False,
            count_include_pad=True,
            divisor_override=None,
        ):
            return mean(
                input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
            )

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The mean of each window over {n} dimension{'s' * (n > 1)}."
    return pool


avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), _avg_pool(3)


def _lp_pool(n):
    def pool(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        if math.isinf(norm_type):
            largest = (max_pool1d, max_pool2d, max_pool3d)[n - 1]
            found = largest(
                input.abs() if norm_type > 0 else -input.abs(), kernel_size, stride, 0, 1, ceil_mode
            )
            return found if norm_type > 0 else -found
        powered = input.pow(norm_type)
        mean = (avg_pool1d, avg_pool2d, avg_pool3d)[n - 1](
            powered, kernel_size, stride, 0, ceil_mode
        )
        count = math.prod(spread(kernel_size, n))
        return (mean.sign() * mean.abs().relu() * count).pow(1.0 / norm_type)

    pool.__name__ = f"lp_pool{n}d"
    pool.__doc__ = f"The p-norm of each window over {n} dimension{'s' * (n > 1)}."
    return pool


lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)


# ---------------------------------------------------------------- adaptive
def _targets(input, output_size, n):
    sizes = spread(output_size, n)
    return tuple(s if t is None else t for t, s in zip(sizes, input.shape[-n:], strict=True))


def _refuse_none(name, output_size):
    """In one dimension a size cannot be left as it is."""
    told = f"{name}(): argument 'output_size' (position 2) must be tuple of ints, "
    if output_size is None:
        raise TypeError(f"{told}not NoneType")
    if isinstance(output_size, (tuple, list)) and None in output_size:
        at = output_size.index(None)
        raise TypeError(f"{told}but found element of type NoneType at pos {at}")


def _check_adaptive(name, input, n):
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(
            f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got {list(input.shape)}"
        )


def _adaptive_avg(n):
    name = f"adaptive_avg_pool{n}d"

    def pool(input, output_size):
        _check_adaptive(name, input, n)
        if n == 1:
            _refuse_none(name, output_size)
            return pool_2d(input.unsqueeze(-2), (1, *spread(output_size, 1))).squeeze(-2)
        out = _targets(input, output_size, n)
        if any(o < 0 for o in out):
            raise RuntimeError(
                f"{name}: elements of output_size must be greater than or equal to 0 but received "
                f"{{{', '.join(map(str, out))}}}"
            )
        if all(o == 1 for o in out):
            return input.mean(list(range(-n, 0)), keepdim=True)
        return table.adaptive_avg[n](input, tuple(input.shape[-n:]), out)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The means of bins that cover {n} dimension{'s' * (n > 1)} evenly."
    return pool


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive_avg(2), _adaptive_avg(3)
pool_2d = adaptive_avg_pool2d
adaptive_avg_pool1d = _adaptive_avg(1)


def _binned(kind, n, input, spans, return_indices):
    values, index = table.largest_in_bins(input._a, spans)
    out = table.binned[kind, n](input, [values], index, tuple(input.shape), n, ())
    return _with_places(out, index, return_indices) if return_indices or packing() else out


def _adaptive_max(n):
    name = f"adaptive_max_pool{n}d"

    def pool(input, output_size, return_indices=False):
        _check_adaptive(name, input, n)
        if n == 1:
            _refuse_none(name, output_size)
            found = adaptive_max_pool2d(
                input.unsqueeze(-2), (1, *spread(output_size, 1)), return_indices
            )
            return tuple(x.squeeze(-2) for x in found) if return_indices else found.squeeze(-2)
        out = _targets(input, output_size, n)
        return _binned(
            "adaptive",
            n,
            input,
            [table.bins(s, o) for s, o in zip(input.shape[-n:], out, strict=True)],
            return_indices,
        )

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The largest elements of bins that cover {n} dimension{'s' * (n > 1)} evenly."
    return pool


adaptive_max_pool2d, adaptive_max_pool3d = _adaptive_max(2), _adaptive_max(3)
adaptive_max_pool1d = _adaptive_max(1)


def _fractional(n):
    name = f"fractional_max_pool{n}d"

    def pool(
        input,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        image, kernel = input.shape[-n:], spread(kernel_size, n)
        if output_size is None:
            output_size = [int(s * r) for s, r in zip(image, spread(output_ratio, n), strict=True)]
        sizes = spread(output_size, n)
        if _random_samples is None:
            lead = (1 if input.dim() == n + 1 else input.shape[0], input.shape[-n - 1])
            stream = stream_of(None, input._a)
            drawn = uniform_array(math.prod(lead) * n, input._a.dtype, stream)
            _random_samples = wrap(drawn.reshape(*lead, n))
        return _fractional_planes(n, input, kernel, sizes, host(_random_samples._a), return_indices)

    pool.__name__ = pool.__qualname__ = name
    pool.__doc__ = f"The largest elements of windows at random places over {n} dimensions."
    return pool


def _fractional_planes(n, input, kernel, sizes, samples, return_indices):
    batched = input if input.dim() == n + 2 else input.unsqueeze(0)
    rows, places = [], []
    for b in range(batched.shape[0]):
        for c in range(batched.shape[1]):
            spans = [
                _starts(samples[b, c, n - 1 - d], batched.shape[2 + d], sizes[d], kernel[d])
                for d in range(n)
            ]
            value, index = table.largest_in_bins(batched._a[b : b + 1, c : c + 1], spans)
            rows.append(value)
            places.append(index)
    lead = (*batched.shape[:2], *sizes)
    values, index = xp.concatenate(rows).reshape(lead), xp.concatenate(places).reshape(lead)
    if batched is not input:
        values, index = values[0], index[0]
    out = table.binned["fractional", n](input, [values], index, tuple(input.shape), n, kernel)
    return _with_places(out, index, return_indices) if return_indices or packing() else out


def _starts(sample, size, count, kernel):
    if count == 1:
        return [(size - kernel, size)]
    step = (size - kernel) / (count - 1)
    first = [int((k + float(sample)) * step) - int(float(sample) * step) for k in range(count - 1)]
    return [(s, s + kernel) for s in (*first, size - kernel)]


fractional_max_pool2d, fractional_max_pool3d = (keeps_precise(_fractional(n)) for n in (2, 3))


# ---------------------------------------------------------------- back to where the largest were
def _unpool(n):
    def unpool(input, indices, kernel_size, stride=None, padding=0, output_size=None):
        kernel = spread(kernel_size, n)
        stride = kernel if stride is None else spread(stride, n)
        padding = spread(padding, n)
        sizes = [
            (i - 1) * s + k - 2 * p
            for i, s, k, p in zip(input.shape[-n:], stride, kernel, padding, strict=True)
        ]
        if output_size is not None:
            sizes = _checked_size(list(output_size)[-n:], sizes, stride)
        if n == 1:
            return _unpooled(2, input.unsqueeze(-2), indices.unsqueeze(-2), (1, *sizes)).squeeze(-2)
        return _unpooled(n, input, indices, tuple(sizes))

    unpool.__name__ = f"max_unpool{n}d"
    unpool.__doc__ = (
        f"The pooled elements back at their places over {n} dimension{'s' * (n > 1)}, zeros "
        "elsewhere."
    )
    return unpool


def _checked_size(wanted, natural, stride):
    for d, (w, m, s) in enumerate(zip(wanted, natural, stride, strict=True)):
        if not m - s < w < m + s:
            raise ValueError(
                f"invalid output_size {wanted!r} (dim {d} must be between {m - s} and {m + s})"
            )
    return wanted


def _unpooled(n, input, indices, sizes):
    if input.dim() == n + 1:
        return _unpooled(n, input.unsqueeze(0), indices.unsqueeze(0), sizes).squeeze(0)
    total = math.prod(sizes)
    bad = indices._a[(indices._a < 0) | (indices._a >= total)]
    if bad.size:
        raise RuntimeError(
            f"Found an invalid max index: {bad.flat[0]} (output volumes are of size "
            f"{'x'.join(map(str, sizes))}" + (")" if n == 2 else "")
        )
    return keep(table.max_unpool[n](input, indices._a, (*input.shape[:2], *sizes), n), indices)


max_unpool1d, max_unpool2d, max_unpool3d = (keeps_precise(_unpool(n)) for n in (1, 2, 3))
avg_pool3d, max_pool3d = keeps_precise(avg_pool3d), keeps_precise(max_pool3d)
adaptive_avg_pool3d = keeps_precise(adaptive_avg_pool3d)
adaptive_max_pool3d = keeps_precise(adaptive_max_pool3d)

for _f in (
    max_pool1d,
    max_pool2d,
    max_pool3d,
    avg_pool1d,
    adaptive_avg_pool1d,
    max_pool1d_with_indices,
):
    public(_f.__name__, _f)
