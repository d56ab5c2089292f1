"""Kullback–Leibler divergences, by the classes of both distributions."""

from __future__ import annotations

import math

from ..nn.functional import softplus
from ..ops.declare import FUNCTIONS
from .continuous import Beta, Dirichlet, Exponential, Gamma, Laplace, LogNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical, Poisson
from .multivariate import Independent, MultivariateNormal, _triangular

_RULES = {}
_EXPONENTIAL = (Normal, Bernoulli, Beta, Dirichlet, Exponential, Gamma, Poisson)


def register_kl(type_p, type_q):
    """Decorator: the divergence from ``type_p`` to ``type_q``."""

    def decorator(function):
        _RULES[type_p, type_q] = function
        return function

    return decorator


def kl_divergence(p, q):
    """The mean of log p − log q under p; NotImplementedError for a pair without a rule."""
    found = [
        (type(p).__mro__.index(a) + type(q).__mro__.index(b), f)
        for (a, b), f in _RULES.items()
        if isinstance(p, a) and isinstance(q, b)
    ]
    if not found and isinstance(p, _EXPONENTIAL) and isinstance(q, _EXPONENTIAL):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot "
            "                            be computed using Bregman divergences"
        )
    if not found:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}"
        )
    return min(found, key=lambda pair: pair[0])[1](p, q)


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normal(p, q):
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    term = p.probs * (p.logits - q.logits)
    term = term.masked_fill((q.probs == 0).expand_as(term), math.inf)
    return term.masked_fill((p.probs == 0).expand_as(term), 0).sum(-1)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    return (
        q.concentration * (p.rate / q.rate).log()
        + q.concentration.lgamma()
        - p.concentration.lgamma()
        + (p.concentration - q.concentration) * p.concentration.digamma()
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    first = total.lgamma() - b.sum(-1).lgamma()
    second = (a.lgamma() - b.lgamma()).sum(-1)
    return first - second + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p, q):
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    out = ((q.high - q.low) / (p.high - p.low)).log()
    return out.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


# ---------------------------------------------------------------- between two kinds
# Each is −entropy(p) − E[log q] with the moments of p.
def _to_normal(p, q):
    spread = p.variance + (p.mean - q.loc).pow(2)
    return 0.5 * math.log(2 * math.pi) + q.scale.log() + spread / (2 * q.scale.pow(2)) - p.entropy()


def _to_exponential(p, q):
    return q.rate * p.mean - q.rate.log() - p.entropy()


def _to_gamma(p, q):
    a = q.concentration
    normalizer = a.lgamma() - a * q.rate.log()
    return normalizer - (a - 1) * _mean_log(p) + q.rate * p.mean - p.entropy()


def _mean_log(p):
    """E[log x]."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -_EULER - p.rate.log()
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low, high):
    return (high.xlogy(high) - low.xlogy(low)) / (high - low) - 1


def _outside(name):
    """The parameter whose shape an infinite divergence has."""

    def divergence(p, q):
        return FUNCTIONS["full_like"](getattr(p, name), math.inf)

    return divergence


def _where_outside(divergence, outside):
    """Infinite where p reaches outside of where q lives."""
    return lambda p, q: divergence(p, q).masked_fill(outside(p, q), math.inf)


_EULER = 0.57721566490153286
for _from in (Uniform, Beta, Exponential, Gamma, Laplace):
    register_kl(_from, Normal)(_to_normal)
register_kl(Beta, Exponential)(_to_exponential)
register_kl(Gamma, Exponential)(_to_exponential)
register_kl(Beta, Gamma)(_to_gamma)
register_kl(Exponential, Gamma)(_to_gamma)
register_kl(Uniform, Exponential)(_where_outside(_to_exponential, lambda p, q: p.low < 0))
register_kl(Uniform, Gamma)(_where_outside(_to_gamma, lambda p, q: p.low < 0))
_NOWHERE: tuple[tuple[type, str, tuple[type, ...]], ...] = (
    (Normal, "loc", (Beta, Exponential, Gamma, Uniform)),
    (Laplace, "loc", (Beta, Exponential, Gamma, Uniform)),
    (Exponential, "rate", (Beta, Uniform)),
    (Gamma, "concentration", (Beta, Uniform)),
    (Poisson, "rate", (Bernoulli,)),
)
for _p, _name, _others in _NOWHERE:
    for _q in _others:
        register_kl(_p, _q)(_outside(_name))


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    distance, spread = p.loc - q.loc, p.scale * math.sqrt(2)
    near = p.scale * math.sqrt(2 / math.pi) * (-(distance / spread).pow(2)).exp()
    mean = near + distance * (distance / spread).erf()
    return (2 * q.scale).log() + mean / q.scale - p.entropy()


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    out = (q.high - q.low).log() - p.entropy()
    return out.masked_fill((q.low > 0) | (q.high < 1), math.inf)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    a, b = q.concentration1, q.concentration0
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    first = (a - 1) * _mean_log_between(p.low, p.high)
    second = (b - 1) * _mean_log_between(1 - p.high, 1 - p.low)
    out = normalizer - first - second - p.entropy()
    return out.masked_fill((p.high > 1) | (p.low < 0), math.inf)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be "
            "computed"
        )
    solved = _triangular(q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril)
    trace = solved.pow(2).sum(-1).sum(-1)
    distance = q._distance(q.loc - p.loc)
    return q._half_log_det() - p._half_log_det() + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._sum(kl_divergence(p.base_dist, q.base_dist))
