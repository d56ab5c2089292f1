"""Pixels moved into channels and back, and channels dealt out."""

from __future__ import annotations

from .declare import declare
from .layout import channels_kept


def _shuffle(x, r):
    *lead, c, h, w = x.shape
    x = x.reshape(*lead, c // (r * r), r, r, h, w)
    n = len(lead)
    x = x.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2).copy()
    return x.reshape(*lead, c // (r * r), h * r, w * r)


def _unshuffle(x, r):
    *lead, c, h, w = x.shape
    x = x.reshape(*lead, c, h // r, r, w // r, r)
    n = len(lead)
    x = x.transpose(*range(n), n, n + 2, n + 4, n + 1, n + 3).copy()
    return x.reshape(*lead, c * r * r, h // r, w // r)


def _deal(x, groups):
    n, c, *rest = x.shape
    return x.reshape(n, groups, c // groups, *rest).swapaxes(1, 2).copy().reshape(x.shape)


pixel_shuffle = declare(
    "pixel_shuffle",
    channels_kept(_shuffle),
    "self",
    "r",
    formula="g in the old order",
    hidden=("r",),
    also={"upscale_factor": lambda node: node.at[0]},
    self=lambda F, g, r: F.pixel_unshuffle(g, r),
)
pixel_unshuffle = declare(
    "pixel_unshuffle",
    channels_kept(_unshuffle),
    "self",
    "r",
    formula="g in the old order",
    hidden=("r",),
    also={"downscale_factor": lambda node: node.at[0]},
    self=lambda F, g, r: F.pixel_shuffle(g, r),
)
channel_shuffle = declare(
    "channel_shuffle",
    channels_kept(_deal),
    "self",
    "groups",
    formula="g in the old order",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self_shape, groups: F.channel_shuffle(g, self_shape[1] // groups),
)
