"""Convolutions, and the products that are their derivatives, against sums over taps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gradviz.ops import conv, taps

# images, kernel, stride, padding, dilation, groups
CASES = {
    "few outputs": ((3, 1, 28, 28), (6, 1, 5, 5), 1, 2, 1, 1),
    "lines that do not divide": ((2, 2, 11, 7), (5, 2, 3, 3), 1, 1, 1, 1),
    "many channels": ((2, 40, 6, 6), (64, 40, 3, 3), 1, 1, 1, 1),
    "many channels, few outputs": ((2, 40, 9, 9), (3, 40, 5, 5), 1, 0, 1, 1),
    "one tap": ((2, 3, 5, 4), (4, 3, 1, 1), 1, 0, 1, 1),
    "padding beyond the kernel": ((2, 3, 5, 4), (4, 3, 2, 3), 1, 4, 1, 1),
    "kernel of the size of the image": ((2, 3, 5, 5), (4, 3, 5, 5), 1, 0, 1, 1),
    "stride": ((2, 3, 9, 8), (4, 3, 3, 2), 2, 1, 1, 1),
    "dilation": ((2, 3, 9, 8), (4, 3, 3, 2), 1, 1, 2, 1),
    "stride and dilation": ((2, 3, 11, 10), (4, 3, 3, 2), 2, 1, 2, 1),
    "groups": ((2, 4, 7, 6), (6, 2, 3, 3), 1, 1, 1, 2),
    "a group a channel": ((2, 4, 7, 6), (4, 1, 3, 3), 1, 1, 1, 4),
    "one dimension": ((3, 2, 50), (4, 2, 5), 1, 2, 1, 1),
    "three dimensions": ((2, 2, 5, 6, 4), (3, 2, 3, 2, 2), 1, 1, 1, 1),
    "no images": ((0, 2, 5, 5), (3, 2, 3, 3), 1, 1, 1, 1),
}


def arguments(stride, padding, dilation, groups, n):
    return (stride,) * n, (padding,) * n, (dilation,) * n, groups


class Plain:
    """One pair of slices a tap and a group: out[o] += w[o, c, tap] · x[c, seen by tap]."""

    def __init__(self, image, weight, stride, padding, dilation, groups):
        self.n = len(image) - 2
        self.image, self.weight, self.groups = image, weight, groups
        self.padding = padding
        self.out = tuple(
            (s + 2 * padding - dilation * (k - 1) - 1) // stride + 1
            for s, k in zip(image[2:], weight[2:], strict=True)
        )
        self.taps = [
            (
                tap,
                tuple(
                    slice(i * dilation, i * dilation + stride * (o - 1) + 1, stride)
                    for i, o in zip(tap, self.out, strict=True)
                ),
            )
            for tap in itertools.product(*map(range, weight[2:]))
        ]

    def padded(self, x):
        return np.pad(x, [(0, 0), (0, 0), *[(self.padding,) * 2] * self.n])

    def parts(self):
        c, o = self.weight[1], self.weight[0] // self.groups
        for k in range(self.groups):
            yield slice(k * c, (k + 1) * c), slice(k * o, (k + 1) * o)

    def forward(self, x, w):
        x, out = self.padded(x), np.zeros((x.shape[0], w.shape[0], *self.out))
        for c, o in self.parts():
            for tap, seen in self.taps:
                out[:, o] += np.einsum("nc...,oc->no...", x[:, c][..., *seen], w[o][:, :, *tap])
        return out

    def input(self, g, w):
        out = self.padded(np.zeros(self.image))
        for c, o in self.parts():
            for tap, seen in self.taps:
                out[:, c][..., *seen] += np.einsum("no...,oc->nc...", g[:, o], w[o][:, :, *tap])
        return out[..., *[slice(self.padding, self.padding + s) for s in self.image[2:]]]

    def kernel(self, x, g):
        x, out = self.padded(x), np.zeros(self.weight)
        for c, o in self.parts():
            for tap, seen in self.taps:
                out[o][:, :, *tap] = np.tensordot(
                    g[:, o], x[:, c][..., *seen], [[0, *range(2, self.n + 2)]] * 2
                )
        return out


@pytest.fixture(params=CASES)
def case(request):
    image, kernel, *rest = CASES[request.param]
    random = np.random.default_rng(0)
    plain = Plain(image, kernel, *rest)
    x, w = random.normal(size=image), random.normal(size=kernel)
    g = random.normal(size=(image[0], kernel[0], *plain.out))
    return plain, x, w, g, arguments(*rest, len(image) - 2)


@pytest.mark.parametrize("rows", [None, 1, 2, 3])
@pytest.mark.parametrize("block", [taps.BLOCK, 1])
def test_products(case, rows, block, monkeypatch):
    """Whatever the number of lines at once, and with one image a block."""
    plain, x, w, g, at = case
    monkeypatch.setattr(taps, "BLOCK", block)
    if rows is not None:
        monkeypatch.setattr(conv, "best_rows", lambda *sizes: rows)
    bias = np.arange(w.shape[0], dtype=float)
    shaped = bias.reshape(-1, *[1] * plain.n)
    np.testing.assert_allclose(conv.conv_forward(x, w, bias, *at), plain.forward(x, w) + shaped)
    np.testing.assert_allclose(
        conv.conv_input_forward(g, w, x.shape, *at), plain.input(g, w), atol=1e-12
    )
    np.testing.assert_allclose(
        conv.conv_weight_forward(x, g, w.shape, *at), plain.kernel(x, g), atol=1e-12
    )


@pytest.mark.parametrize("kind", ["float32", "float16"])
def test_dtypes(kind):
    image, kernel, *rest = CASES["few outputs"]
    random = np.random.default_rng(0)
    x, w = (random.normal(size=s).astype(kind) for s in (image, kernel))
    out = conv.conv_forward(x, w, None, *arguments(*rest, 2))
    assert out.dtype == kind
    exact = Plain(image, kernel, *rest).forward(x.astype(float), w.astype(float))
    np.testing.assert_allclose(out, exact, atol=2e-5 if kind == "float32" else 2e-2)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e30])
def test_odd_pixels_reach_only_those_that_see_them(value):
    """The kernel is not made taller where its zeros would turn infinity into NaN."""
    image, kernel, *rest = CASES["few outputs"]
    x, w = np.ones(image, np.float32), np.ones(kernel, np.float32)
    x[1, 0, 10, 12] = value
    out = conv.conv_forward(x, w, None, *arguments(*rest, 2))
    plain = out[:, :, 8:13, 10:15]
    assert (plain[1] == out[1].max()).all() if value == value else np.isnan(plain[1]).all()
    out[1, :, 8:13, 10:15] = 25
    assert np.isfinite(out).all() and out.max() == 25
    g = np.ones((*image[:1], 6, 28, 28), np.float32)
    g[1, 0, 10, 12] = value
    back = conv.conv_input_forward(g, w, image, *arguments(*rest, 2))
    odd = ~(back <= 150)
    assert odd.sum() == 25 and odd[1, 0, 8:13, 10:15].all()


def test_lines_at_once_are_chosen_by_shape():
    assert taps.best_rows(1, (5, 5), 6, 28) > 1  # few outputs: a product of bad shape
    assert taps.best_rows(64, (3, 3), 64, 28) == 1
    assert taps.best_rows(1, (5, 5), 6, 1) == 1
