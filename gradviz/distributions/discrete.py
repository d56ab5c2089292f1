"""Distributions of whole numbers."""

from __future__ import annotations

from ..backend import xp
from ..engine.modes import enable_grad, no_grad
from ..nn.functional import binary_cross_entropy_with_logits
from ..ops.declare import FUNCTIONS
from . import constraints
from .distribution import Distribution, tensors


def _only_one(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _inside(probs):
    eps = float(xp.finfo(probs._a.dtype).eps)
    return probs.clamp(min=eps, max=1 - eps)


class _Weighed(Distribution):
    """``probs`` and ``logits``: one is given, the other is computed when it is first asked for, and
    kept."""

    def __getattr__(self, name):
        own, other = self.__dict__, {"probs": "logits", "logits": "probs"}.get(name)
        if other not in own:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        with enable_grad():
            own[name] = getattr(self, f"_{name}")()
        return own[name]

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return self.__dict__.get("probs", self.__dict__.get("logits")).size()


class Bernoulli(_Weighed):
    """1 with probability ``probs``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _only_one(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        (self.__dict__[name],) = tensors(value)
        super().__init__(self.__dict__[name].size(), validate_args=validate_args)

    def _probs(self):
        return self.logits.sigmoid()

    def _logits(self):
        inside = _inside(self.probs)
        return inside.log() - (-inside).log1p()

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        out = (self.probs >= 0.5).to(self.probs.dtype)
        return out.masked_fill(self.probs == 0.5, float("nan"))

    def sample(self, sample_shape=()):
        with no_grad():
            return self.probs.expand(self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = FUNCTIONS["broadcast_tensors"](self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value.to(logits.dtype), reduction="none")

    def entropy(self):
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = FUNCTIONS["arange"](2, dtype=self.probs.dtype).view(
            -1, *[1] * len(self._batch_shape)
        )
        return values.expand(-1, *self._batch_shape) if expand else values


class Categorical(_Weighed):
    """One of several classes."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _only_one(probs, logits)
        given = probs if logits is None else logits
        if given.dim() < 1:
            name = "probs" if logits is None else "logits"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.__dict__["probs"] = probs / probs.sum(-1, keepdim=True)
        else:
            self.__dict__["logits"] = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = given.size(-1)
        super().__init__(given.size()[:-1], validate_args=validate_args)

    def _probs(self):
        return self.logits.softmax(-1)

    def _logits(self):
        return _inside(self.probs).log()

    @property
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self):
        return FUNCTIONS["full"](self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    variance = mean
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape=()):
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            count = 1
            for n in sample_shape:
                count *= n
            drawn = FUNCTIONS["multinomial"](rows, count, True).t()
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = FUNCTIONS["broadcast_tensors"](value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        least = float(xp.finfo(self.logits._a.dtype).min)
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = FUNCTIONS["arange"](self._num_events).view(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Poisson(Distribution):
    """Counts with mean ``rate``."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate, validate_args=None):
        (self.rate,) = tensors(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape=()):
        with no_grad():
            return FUNCTIONS["poisson"](self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = FUNCTIONS["broadcast_tensors"](self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()
