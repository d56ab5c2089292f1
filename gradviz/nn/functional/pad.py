"""``pad``."""

from __future__ import annotations

from ...ops import pad as table
from ...ops.lower import raised


def pad(input, pad, mode="constant", value=None):
    """Add elements at the sides of the last dimensions: ``pad`` lists (before, after), last
    dimension first.

    ``mode``: constant (with ``value``), reflect, replicate or circular; negative numbers cut
    (constant mode).
    """
    pad = tuple(pad)
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.dim():
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but "
            f"got padding length {len(pad)} and "
            f"input of dimension {input.dim()}"
        )
    if mode == "constant":
        return table.constant_pad_nd(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return _copied(input, pad, mode)


_FITS = (
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)


def _copied(input, pad, mode):
    if mode != "circular":
        (input,) = raised(input)
    n = len(pad) // 2
    if not n:
        raise NotImplementedError(
            f"Padding size 0 is not supported for {input.dim()}D input tensor."
        )
    if n not in (1, 2, 3) or input.dim() not in (n + 1, n + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.\n{_FITS}"
        )
    if mode == "circular":
        return _circular(input, pad)
    places = []
    for k in range(n):
        dim, before, after = input.dim() - 1 - k, pad[2 * k], pad[2 * k + 1]
        size = input.shape[dim]
        if mode == "reflect" and (before >= size or after >= size):
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                "but got: padding "
                f"({before}, {after}) at dimension {dim} of input "
                f"[{', '.join(map(str, input.shape))}]"
            )
        places.append((dim, table.index(mode, size, before, after)))
    return table.COPYING[mode, n](input, tuple(places), pad)


def _circular(input, pad):
    """Written part by part into an empty tensor, as in PyTorch: the middle, then both sides of one
    dimension after another.
    """
    sides = {input.dim() - 1 - k: (pad[2 * k], pad[2 * k + 1]) for k in range(len(pad) // 2)}
    shape = list(input.shape)
    for dim, (before, after) in sides.items():
        if before > shape[dim] or after > shape[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        shape[dim] += before + after
    out = input.new_empty(shape)
    middle, source = out, input
    for dim in sorted(sides):
        before, after = sides[dim]
        size = input.shape[dim]
        middle = middle.narrow(dim, max(before, 0), size + min(before, 0) + min(after, 0))
        source = source.narrow(dim, max(-before, 0), size + min(before, 0) + min(after, 0))
    middle.copy_(source)
    for dim, (before, after) in sides.items():
        size = out.shape[dim]
        if before > 0:
            source = out.narrow(dim, size - before - max(after, 0), before)
            out.narrow(dim, 0, before).copy_(source)
        if after > 0:
            source = out.narrow(dim, max(before, 0), after)
            out.narrow(dim, size - after, after).copy_(source)
    return out
