"""The older ``weight_norm`` and ``spectral_norm``, which recompute the weight before each
``forward``."""

from __future__ import annotations

import warnings

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.modes import no_grad
from ..functional import normalize
from ..parameter import Parameter


def norm_except_dim(v, dim):
    """The 2-norm over all dimensions but ``dim``, kept for broadcasting; −1: over everything."""
    if dim == -1:
        return v.norm(2)
    dims = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v.norm(2, dims, True) if dims else v.abs()


class WeightNorm:
    """The forward pre-hook of ``weight_norm``."""

    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute(self, module):
        """The weight from length and direction."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / norm_except_dim(v, self.dim))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute(module))


def _refuse_two(module, kind, name, what):
    for other in module._forward_pre_hooks.values():
        if isinstance(other, kind) and other.name == name:
            raise RuntimeError(f"Cannot register two {what} hooks on the same parameter {name}")


def weight_norm(module, name="weight", dim=0):
    """Learn length and direction of a weight apart: ``<name>_g`` and ``<name>_v``."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    hook = WeightNorm(name, dim)
    _refuse_two(module, WeightNorm, name, "weight_norm")
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, hook.dim).data))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """Make the weight an ordinary parameter again."""
    key, hook = _find(module, WeightNorm, name, "weight_norm")
    weight = hook.compute(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(weight.data))
    del module._forward_pre_hooks[key]
    return module


def _find(module, cls, name, what):
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, cls) and hook.name == name:
            return key, hook
    raise ValueError(f"{what} of '{name}' not found in {module}")


class SpectralNorm:
    """The forward pre-hook of ``spectral_norm``."""

    def __init__(self, name, n_power_iterations, dim, eps):
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight):
        """The weight as a matrix with ``dim`` first."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.reshape(weight.size(0), -1)

    def compute(self, module, iterate):
        """The weight divided by the estimate of its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if iterate:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
            u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value before each ``forward``."""
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    _refuse_two(module, SpectralNorm, name, "spectral_norm")
    weight = module._parameters[name]
    with no_grad():
        height, width = hook.matrix(weight).shape
        u, v = (
            normalize(
                wrap(xp.empty(n, weight._a.dtype, like=weight._a)).normal_(0, 1), dim=0, eps=eps
            )
            for n in (height, width)
        )
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module, name="weight"):
    """Make the weight an ordinary parameter again."""
    key, hook = _find(module, SpectralNorm, name, "spectral_norm")
    with no_grad():
        weight = hook.compute(module, False)
    delattr(module, name)
    for end in ("_u", "_v"):
        delattr(module, name + end)
    delattr(module, name + "_orig")
    module.register_parameter(name, Parameter(weight.detach()))
    del module._forward_pre_hooks[key]
    return module
