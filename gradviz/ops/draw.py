"""Draws from other distributions, on PyTorch's stream: Cauchy, log-normal, geometric, exponential,
Poisson, binomial, multinomial.
"""

from __future__ import annotations

import math

from ..backend import MetaArray, beside, contiguous, host, xp
from ..engine import dtypes, views
from ..engine.dispatch import wrap
from ..engine.modes import local
from . import known
from .box_muller import scaled
from .declare import method, only_method, public
from .random import by_slice, stored_like, stream_of


def _check_continuous(name, np_dtype):
    """PyTorch's errors where integers are to be drawn from a continuous distribution."""
    if np_dtype.kind not in "biuc" or name == "geometric_":
        return
    kind = dtypes.scalar_name(dtypes.from_np(np_dtype))
    if name == "log_normal_":
        raise NotImplementedError(f"\"log_normal_cpu\" not implemented for '{kind}'")
    raise RuntimeError(
        f"{name[:-1].capitalize()} distribution is a continuous probability distribution. dtype "
        f"must be a floating point but you specified {kind}"
    )


def _fill(name, draw):
    node = "".join(part.capitalize() for part in name[:-1].split("_")) + "Backward0"

    def inplace(self, *args, generator=None, **kwargs):
        if local.batch is not None:
            local.batch.filling()

        def drawn():
            _check_continuous(name, self._a.dtype)
            values = draw(self._a.size, stream_of(generator, self._a), *args, **kwargs)
            return stored_like(self._a, values)

        return views.overwrite(self, drawn, node)

    inplace.__name__ = name
    inplace.__doc__ = f"Fill in place with random numbers (``{name}``)."
    only_method(inplace, name)


def _exactly(function, x):
    """``function`` of the C library, which PyTorch asks too; NumPy's own may differ in the last
    digit of a double.
    """
    if isinstance(x, MetaArray):
        return x
    return xp.fromiter(map(function, x.tolist()), xp.float64, x.size)


def _cauchy(n, g, median=0.0, sigma=1.0):
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return median + sigma * _exactly(math.tan, math.pi * (g.doubles(n) - 0.5))


def _log_normal(n, g, mean=1.0, std=2.0):
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    drawn = xp.asarray([g.normal_double() for _ in range(n)], xp.float64)
    return _exactly(math.exp, scaled(drawn, mean, std))


def _geometric(n, g, p):
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    with xp.errstate(divide="ignore"):
        return xp.ceil(xp.log(g.doubles(n)) / math.log1p(-p))


def _exponential(n, g, lambd=1.0):
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return -1 / lambd * _exactly(math.log1p, -g.doubles(n))


for _n, _d in [
    ("cauchy_", _cauchy),
    ("log_normal_", _log_normal),
    ("geometric_", _geometric),
    ("exponential_", _exponential),
]:
    _fill(_n, _d)


# ---------------------------------------------------------------- counts
def _poisson_small(rate, draw):
    limit, product, count = math.exp(-rate), draw(), 0
    while product > limit:
        product *= draw()
        count += 1
    return count


def _poisson_large(rate, draw):
    """Transformed rejection (Hörmann)."""
    slam, loglam = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * slam
    a = -0.059 + 0.02483 * b
    inv_alpha = 1.1239 + 1.1328 / (b - 3.4)
    vr = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = draw() - 0.5, draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= vr:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(inv_alpha) - math.log(
            a / (us * us) + b
        ) <= -rate + k * loglam - math.lgamma(k + 1):
            return k


def _one_poisson(rate, draw):
    if rate < 0:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return (
        0 if rate == 0 else _poisson_large(rate, draw) if rate >= 10 else _poisson_small(rate, draw)
    )


@by_slice
def poisson(input, generator=None):
    """A Poisson draw for every rate in ``input``."""
    g = stream_of(generator, input._a)
    rates = host(input._a).ravel()
    draws = [_one_poisson(float(rate), lambda: float(g.doubles(1)[0])) for rate in rates]
    values = xp.asarray(draws, input._a.dtype).reshape(input._a.shape)
    return _drawn_poisson(input, beside(values, input._a))


_drawn_poisson = known.drawn("poisson", "PoissonBackward0")


def _binomial_few(count, p, draw):
    total, successes = 0.0, 0
    while True:
        total += math.ceil(math.log(draw()) / math.log1p(-p))
        if total > count:
            return successes
        successes += 1


def _stirling(k):
    tail = (
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    )
    if k <= 9:
        return tail[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _binomial_many(count, p, draw):
    """Transformed rejection with squeeze (Hörmann's BTRS)."""
    stddev = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * stddev
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c, r = count * p + 0.5, p / (1 - p)
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * stddev
    m = math.floor((count + 1) * p)
    while True:
        u, v = draw() - 0.5, draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or k > count:
            continue
        v = math.log(v * alpha / (a / (us * us) + b))
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(r * (count - k + 1) / (k + 1))
            + _stirling(m)
            + _stirling(count - m)
            - _stirling(k)
            - _stirling(count - k)
        )
        if v <= bound:
            return k


def _one_binomial(count, p, draw):
    if count <= 0 or p <= 0:
        return 0
    if p >= 1:
        return count
    if p > 0.5:
        return count - _one_binomial(count, 1 - p, draw)
    return _binomial_many(count, p, draw) if count * p >= 10 else _binomial_few(count, p, draw)


@by_slice
def binomial(count, prob, generator=None):
    """A binomial draw for every pair of ``count`` and ``prob``."""
    g = stream_of(generator, count._a)
    counts, probs = xp.broadcast_arrays(host(count._a), host(prob._a))
    draws = [
        _one_binomial(float(n), float(p), lambda: float(g.doubles(1)[0]))
        for n, p in zip(counts.ravel(), probs.ravel(), strict=True)
    ]
    values = xp.asarray(draws, count._a.dtype).reshape(counts.shape)
    return _drawn_binomial(count, prob, beside(values, count._a))


_drawn_binomial = known.without_derivative("binomial", "count prob")


def _with_replacement(weights, count, g):
    out = xp.empty((weights.shape[0], count), xp.int64)
    for row, w in enumerate(weights.astype(xp.float64)):
        total = xp.cumsum(w)
        out[row] = xp.searchsorted(total, g.doubles(count) * total[-1], side="right")
    return out


@by_slice
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices drawn with the weights of each row."""
    given = host(input._a)
    weights = given if given.ndim == 2 else given[None]
    if given.dtype.kind in "biu":
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{dtypes.scalar_name(input.dtype)}"
        )
    if input._a.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if (weights < 0).any() or not xp.isfinite(weights).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > weights.shape[1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if (weights.sum(1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    g = stream_of(generator, input._a)
    if replacement and num_samples > 1:
        found = _with_replacement(weights, num_samples, g)
    else:
        # the largest of weight/exponential is a draw in proportion to the weights
        race = weights / _exponential(weights.size, g).reshape(weights.shape).astype(weights.dtype)
        order = xp.argsort(-race, -1, kind="stable")
        found = order[:, :num_samples].astype(xp.int64, copy=False)
    return wrap(beside(contiguous(found if input._a.ndim == 2 else found[0]), input._a))


method(multinomial)
public("poisson", poisson)
public("binomial", binomial)
