"""Pixels to channels and back, and channels of different groups next to each other."""

from __future__ import annotations

from ...ops import pixels as table
from ...ops.declare import public


def _check(name, input, what, factor):
    if input.dim() < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with "
            f"{input.dim()} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {factor}")


def pixel_shuffle(input, upscale_factor):
    """(…, C·r², H, W) to (…, C, H·r, W·r)."""
    _check("pixel_shuffle", input, "upscale_factor", upscale_factor)
    if input.shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            "of upscale_factor, but "
            f"input.size(-3)={input.shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return table.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input, downscale_factor):
    """(…, C, H·r, W·r) to (…, C·r², H, W)."""
    _check("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for k, name in ((-2, "height"), (-1, "width")):
        if input.shape[k] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({k})={input.shape[k]} is not divisible by {downscale_factor}"
            )
    return table.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input, groups):
    """Channels of different groups next to each other."""
    if input.dim() < 3:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and "
            f"{groups} groups."
        )
    return table.channel_shuffle(input, groups)


for _f in (pixel_shuffle, pixel_unshuffle, channel_shuffle):
    public(_f.__name__, _f)
