"""The base of distributions."""

from __future__ import annotations

import warnings
from numbers import Number

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import Tensor, wrap
from ..engine.modes import no_grad
from ..engine.tensor import Size
from ..ops.declare import FUNCTIONS


def tensors(*values):
    """Values as tensors of one shape; numbers take the dtype of the tensors among them."""
    like = next((v.dtype for v in values if isinstance(v, Tensor)), dtypes.default.float)
    for value in values:
        if not isinstance(value, (Tensor, Number)):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects "
                "implementing __torch_function__."
            )
    made = [v if isinstance(v, Tensor) else FUNCTIONS["tensor"](v, dtype=like) for v in values]
    return FUNCTIONS["broadcast_tensors"](*made) if len(made) > 1 else made


class Distribution:
    """``sample``, ``rsample`` (differentiable), ``log_prob``, moments. ``batch_shape``: independent
    distributions; ``event_shape``: dimensions of one value."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = True
    arg_constraints = {}

    @staticmethod
    def set_default_validate_args(value):
        """Whether arguments are checked unless a distribution says otherwise."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name in self.__dict__:
                    self._check_parameter(name, constraint)

    def _check_parameter(self, name, constraint):
        value = getattr(self, name)
        if not constraint.check(value).all():
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"of distribution {self!r} to satisfy the constraint {constraint!r}, but found "
                f"invalid values:\n{value}"
            )

    def _validate_sample(self, value):
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if tuple(value.shape[start:]) != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        wanted = self._batch_shape + self._event_shape
        for a, b in zip(reversed(value.shape), reversed(wanted), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {Size(wanted)}."
                )
        if not self.support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                "to "
                f"be within the support ({self.support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    @property
    def batch_shape(self):
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of a single value."""
        return self._event_shape

    def _extended_shape(self, sample_shape=()):
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Values of shape sample_shape + batch_shape + event_shape, outside the graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Values through which gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """``sample((n,))``, under its old name."""
        warnings.warn(
            "sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2
        )
        return self.sample((n,))

    def log_prob(self, value):
        """The logarithm of density or probability."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of at most ``value``."""
        raise NotImplementedError

    def icdf(self, value):
        """The inverse of ``cdf``."""
        raise NotImplementedError

    def entropy(self):
        """The entropy, one a batch element."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution."""
        raise NotImplementedError

    def perplexity(self):
        """``exp(entropy)``."""
        return self.entropy().exp()

    def expand(self, batch_shape):
        """The same distribution over a larger batch."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                kept = value.shape[value.dim() - self._inner_dims(name) :]
                made.__dict__[name] = value.expand((*batch_shape, *kept))
        made._batch_shape = Size(batch_shape)
        return made

    def _inner_dims(self, name):
        return self.arg_constraints[name].event_dim

    def __repr__(self):
        names = [n for n in self.arg_constraints if n in self.__dict__]
        parts = []
        for name in names:
            value = self.__dict__[name]
            parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(parts)})"


def standard_normal(shape, like):
    """Normal numbers with mean 0 and deviation 1, in the dtype of ``like``, where it lies."""
    return wrap(xp.empty(shape, like._a.dtype, like=like._a)).normal_()


def standard_uniform(shape, like):
    """Uniform numbers in [0, 1), in the dtype of ``like``, where it lies."""
    return wrap(xp.empty(shape, like._a.dtype, like=like._a)).uniform_()
