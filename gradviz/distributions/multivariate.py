"""Distributions of vectors."""

from __future__ import annotations

import math
from importlib import import_module

from ..engine.tensor import Size
from . import constraints
from .distribution import Distribution, standard_normal


def _linalg():
    return import_module("gradviz.linalg")


def _triangular(lower, b):
    return _linalg().solve_triangular(lower, b, upper=False)


class MultivariateNormal(Distribution):
    """Mean ``loc`` (…, n) and one of: covariance, its inverse, or its Cholesky factor (…, n, n)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc,
        covariance_matrix=None,
        precision_matrix=None,
        scale_tril=None,
        validate_args=None,
    ):
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {k: v for k, v in given.items() if v is not None}
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            what = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(
                f"{what} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = _joint(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = self._factor(name, matrix)

    @staticmethod
    def _factor(name, matrix):
        if name == "scale_tril":
            return matrix
        if name == "covariance_matrix":
            return _linalg().cholesky(matrix)
        turned = _linalg().cholesky(matrix.flip((-2, -1))).flip((-2, -1)).transpose(-2, -1)
        eye = import_module("gradviz").eye(matrix.shape[-1], dtype=matrix.dtype)
        return _triangular(turned, eye)

    def __getattr__(self, name):
        own = self.__dict__
        factor = own.get("_unbroadcasted_scale_tril")
        if factor is not None:
            shape = (*self._batch_shape, *self._event_shape, *self._event_shape)
            if name == "scale_tril":
                return factor.expand(shape)
            if name == "covariance_matrix":
                return (factor @ factor.mT).expand(shape)
            if name == "precision_matrix":
                return _linalg().inv(factor @ factor.mT).expand(shape)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self):
        return (
            self._unbroadcasted_scale_tril.pow(2)
            .sum(-1)
            .expand(self._batch_shape + self._event_shape)
        )

    def rsample(self, sample_shape=()):
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self._unbroadcasted_scale_tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def _distance(self, difference):
        """The squared Mahalanobis distance."""
        solved = _triangular(self._unbroadcasted_scale_tril, difference.unsqueeze(-1))
        return solved.squeeze(-1).pow(2).sum(-1)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = self._distance(value - self.loc)
        return (
            -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()
        )

    def entropy(self):
        half = self._half_log_det()
        out = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half
        return out if not self._batch_shape else out.expand(self._batch_shape)


def _joint(a, b):
    from ..backend import xp

    return Size(xp.broadcast_shapes(tuple(a), tuple(b)))


class Independent(Distribution):
    """Batch dimensions of another distribution, taken as dimensions of one value."""

    arg_constraints = {}

    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        base, count = base_distribution, reinterpreted_batch_ndims
        if count > len(base.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{count} vs {len(base.batch_shape)}"
            )
        shape = base.batch_shape + base.event_shape
        event = count + len(base.event_shape)
        self.base_dist, self.reinterpreted_batch_ndims = base, count
        super().__init__(shape[: len(shape) - event], shape[len(shape) - event :], validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)
    has_enumerate_support = property(
        lambda self: self.base_dist.has_enumerate_support and not self.reinterpreted_batch_ndims
    )
    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    @property
    def support(self):
        inner = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(inner, count) if count else inner

    def expand(self, batch_shape):
        kept = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *kept))
        return Independent(base, self.reinterpreted_batch_ndims, self._validate_args)

    def _sum(self, x):
        count = self.reinterpreted_batch_ndims
        return x if not count else x.sum(list(range(x.dim() - count, x.dim())))

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return self._sum(self.base_dist.log_prob(value))

    def entropy(self):
        return self._sum(self.base_dist.entropy())

    def enumerate_support(self, expand=True):
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self):
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
