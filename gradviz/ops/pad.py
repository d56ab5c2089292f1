"""Padding: with a value, or with copies of the tensor's own elements."""

from __future__ import annotations

from ..backend import beside, xp, zeros_by
from .declare import declare, public
from .layout import channels_kept


def _regions(shape, sides):
    """Where the tensor lies in the padded one, and what of it is kept; negative sides cut."""
    inner, kept = [], []
    for n, (a, b) in zip(shape, sides, strict=True):
        inner.append(slice(max(a, 0), max(a, 0) + n + min(a, 0) + min(b, 0)))
        kept.append(slice(max(-a, 0), n - max(-b, 0)))
    return tuple(inner), tuple(kept)


def _constant(x, sides, value):
    inner, kept = _regions(x.shape, sides)
    out = xp.full(
        tuple(n + a + b for n, (a, b) in zip(x.shape, sides, strict=True)),
        value,
        x.dtype,
        like=x,
    )
    out[inner] = x[kept]
    return out


def _opposite(sides):
    return tuple((-a, -b) for a, b in sides)


def _as_written(sides):
    """(before, after) of every padded dimension, last dimension first."""
    while len(sides) > 1 and sides[0] == (0, 0):
        sides = sides[1:]
    return tuple(n for side in reversed(sides) for n in side)


constant_pad_op = declare(
    "constant_pad_nd",
    channels_kept(_constant),
    "self",
    "sides value",
    formula="g without the padding",
    hidden=("sides",),
    also={"pad": lambda node: _as_written(node.at[0])},
    self=lambda F, g, sides: F.constant_pad_nd(g, _opposite(sides), 0),
)


def constant_pad_nd(input, pad, value=0):
    """``input`` with ``value`` around it: pairs of widths from the last dimension on; negative
    widths cut.
    """
    n = input._a.ndim
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) // 2 > n:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. "
            f"Pad length is {len(pad)}while the input has {n}dimensions."
        )
    sides = [(0, 0)] * (n - len(pad) // 2) + list(zip(pad[-2::-2], pad[-1::-2], strict=True))
    for size, (a, b) in zip(input._a.shape, sides, strict=True):
        if size + min(a, 0) < 0 or size + min(a, 0) + min(b, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return constant_pad_op(input, tuple(sides), value)


public("constant_pad_nd", constant_pad_nd)


# ---------------------------------------------------------------- copies
def _take(x, places):
    for dim, index in places:
        x = xp.take(x, beside(index, x), dim)
    return x


def _give_back(g, places, shape):
    """The sum of what every copy of an element received."""
    for dim, index in reversed(places):
        out = zeros_by(g, (*g.shape[:dim], shape[dim], *g.shape[dim + 1 :]))
        xp.add.at(out, (*[slice(None)] * dim, beside(index, out)), g)
        g = out
    return g


def _copying(name, node):
    declare(
        f"{name}_back",
        lambda g, x, places, padding: _give_back(g, places, x.shape),
        "grad_output self",
        "places padding",
        node=node.replace("Backward0", "BackwardBackward0"),
        formula="∂g: g, padded",
        hidden=("places",),
        grad_output=lambda F, g, places, padding: getattr(F, name)(g, places, padding),
        self=lambda F, g: F.zeros_like(g),
    )
    return declare(
        name,
        channels_kept(lambda x, places, padding: _take(x, places)),
        "self",
        "places padding",
        node=node,
        formula="g summed over all copies",
        hidden=("places",),
        self=lambda F, g, self, places, padding: getattr(F, f"{name}_back")(
            g, self, places, padding
        ),
    )


COPYING = {
    (mode, n): _copying(f"{word}_pad{n}d", f"{word.capitalize()}Pad{n}DBackward0")
    for mode, word in (
        ("reflect", "reflection"),
        ("replicate", "replication"),
    )
    for n in (1, 2, 3)
}


def index(mode, n, before, after):
    """Which elements of a dimension of size ``n`` the padded one shows."""
    at = xp.arange(-before, n + after)
    if mode == "replicate":
        return xp.clip(at, 0, n - 1)
    at = xp.abs(at)
    return xp.where(at >= n, 2 * (n - 1) - at, at)
