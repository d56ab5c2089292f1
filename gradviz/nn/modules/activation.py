"""Activations as modules."""

from __future__ import annotations

from .. import functional as F
from ..parameter import Parameter
from .module import Module


class _Inplace(Module):
    """An activation whose only setting is ``inplace``."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ReLU(_Inplace):
    """``max(input, 0)``."""

    def forward(self, input):
        return F.relu(input, self.inplace)


class SELU(_Inplace):
    """The self-normalising exponential linear unit."""

    def forward(self, input):
        return F.selu(input, self.inplace)


class SiLU(_Inplace):
    """``input · σ(input)``."""

    def forward(self, input):
        return F.silu(input, self.inplace)


class Mish(_Inplace):
    """``input · tanh(softplus(input))``."""

    def forward(self, input):
        return F.mish(input, self.inplace)


class Hardsigmoid(_Inplace):
    """Piecewise linear sigmoid."""

    def extra_repr(self):
        return ""

    def forward(self, input):
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Hardsigmoid):
    """``input · hardsigmoid(input)``."""

    def forward(self, input):
        return F.hardswish(input, self.inplace)


class Sigmoid(Module):
    """``1 / (1 + exp(−input))``."""

    def forward(self, input):
        return input.sigmoid()


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input):
        return input.tanh()


class LogSigmoid(Module):
    """``log(sigmoid(input))``."""

    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    """``input / (1 + |input|)``."""

    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    """``input − tanh(input)``."""

    def forward(self, input):
        return F.tanhshrink(input)


class Threshold(Module):
    """``input`` where it is above ``threshold``, ``value`` elsewhere."""

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input):
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self):
        return (
            f"threshold={self.threshold}, "
            f"value={self.value}{', inplace=True' if self.inplace else ''}"
        )


class RReLU(Module):
    """``LeakyReLU`` with random slopes in training."""

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}{', inplace=True' if self.inplace else ''}"


class Hardtanh(Module):
    """``input`` clipped to [min_val, max_val]."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})"
            )

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        return (
            f"min_val={self.min_val}, "
            f"max_val={self.max_val}{', inplace=True' if self.inplace else ''}"
        )


class ReLU6(Hardtanh):
    """``input`` clipped to [0, 6]."""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ELU(Module):
    """``input`` where positive, ``alpha · (exp(input) − 1)`` elsewhere."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self):
        return f"alpha={self.alpha}{', inplace=True' if self.inplace else ''}"


class CELU(ELU):
    """``ELU`` with a slope that is continuous for every ``alpha``."""

    def forward(self, input):
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(Module):
    """``input`` where positive, ``negative_slope · input`` elsewhere."""

    def __init__(self, negative_slope=1e-2, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}{', inplace=True' if self.inplace else ''}"


class GLU(Module):
    """First half along ``dim``, times the sigmoid of the second."""

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class GELU(Module):
    """``input · Φ(input)``."""

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """``log(1 + exp(beta · input)) / beta``."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardshrink(Module):
    """``input`` where |input| > lambd, 0 elsewhere."""

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def forward(self, input):
        return F.hardshrink(input, self.lambd)

    def extra_repr(self):
        return f"{self.lambd}"


class Softshrink(Hardshrink):
    """``input`` moved towards 0 by ``lambd``."""

    def forward(self, input):
        return F.softshrink(input, self.lambd)


class PReLU(Module):
    """``LeakyReLU`` with learned slopes."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        from ...ops.declare import FUNCTIONS

        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(
            FUNCTIONS["full"](
                (num_parameters,), init, device=device, dtype=dtype or FUNCTIONS["empty"](0).dtype
            )
        )

    def reset_parameters(self):
        """Start again from ``init``."""
        from .. import init

        init.constant_(self.weight, self.init)

    def forward(self, input):
        return F.prelu(input, self.weight)

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class _AlongDim(Module):
    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self):
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """Exponentials along ``dim`` that sum to 1."""

    def forward(self, input):
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """``log(softmax(input))``."""

    def forward(self, input):
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmin(_AlongDim):
    """``softmax(−input)``."""

    def forward(self, input):
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """``softmax`` over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3, _stacklevel=5)
