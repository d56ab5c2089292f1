"""Distributions of whole numbers."""

from __future__ import annotations

from ..backend import beside, host, xp
from ..engine.dispatch import wrap
from ..engine.modes import no_grad
from ..nn.functional import binary_cross_entropy_with_logits
from ..ops.declare import FUNCTIONS
from ..ops.random import stream_of
from . import constraints
from .distribution import Distribution, tensors


def _only_one(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def _inside(probs):
    eps = float(xp.finfo(probs._a.dtype).eps)
    return probs.clamp(min=eps, max=1 - eps)


class Bernoulli(Distribution):
    """1 with probability ``probs``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        _only_one(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        (self.__dict__[name],) = tensors(value)
        super().__init__(self.__dict__[name].size(), validate_args=validate_args)

    def __getattr__(self, name):
        own = self.__dict__
        if name == "probs" and "logits" in own:
            return own["logits"].sigmoid()
        if name == "logits" and "probs" in own:
            inside = _inside(own["probs"])
            return inside.log() - (-inside).log1p()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

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


class Categorical(Distribution):
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

    def __getattr__(self, name):
        own = self.__dict__
        if name == "probs" and "logits" in own:
            return own["logits"].softmax(-1)
        if name == "logits" and "probs" in own:
            return _inside(own["probs"]).log()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return (self.__dict__.get("probs", self.__dict__.get("logits"))).size()

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
            rate = self.rate._a
            wide = xp.broadcast_to(host(rate), self._extended_shape(sample_shape))
            found = _counts(wide, stream_of(None, rate)).astype(rate.dtype)
            return wrap(beside(found, rate))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        rate, value = FUNCTIONS["broadcast_tensors"](self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


def _counts(rate, stream):
    """How many unit waiting times fit into ``rate``."""
    out, left = xp.zeros(rate.shape), xp.array(rate, dtype=xp.float64)
    while True:
        left = left + xp.log1p(-stream.doubles(left.size)).reshape(left.shape)
        inside = left > 0
        if not inside.any():
            return out
        out += inside
        left = xp.where(inside, left, -xp.inf)
