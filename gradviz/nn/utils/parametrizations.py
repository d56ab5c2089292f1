"""Ready-made parametrizations: weight norm, spectral norm, orthogonal matrices."""

from __future__ import annotations

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.modes import no_grad
from ..functional import normalize
from ..modules.module import Module
from .norms import norm_except_dim
from .parametrize import register_parametrization


class _WeightNorm(Module):
    """``g · v / ‖v‖``, one norm an index of ``dim``."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight):
        """Length and direction of ``weight``."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Learn length and direction of a weight apart."""
    return register_parametrization(module, name, _WeightNorm(dim))


class _SpectralNorm(Module):
    """A weight divided by an estimate of its largest singular value."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.ndim or dim < -weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
                f"{weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._matrix(weight.detach())
            height, width = matrix.shape
            u, v = (
                wrap(xp.empty(n, matrix._a.dtype, like=matrix._a)).normal_(0, 1)
                for n in (height, width)
            )
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _iterate(self, matrix, times):
        with no_grad():
            for _ in range(times):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        sigma = self._u.clone().dot(matrix.mv(self._v.clone()))
        return weight / sigma

    def right_inverse(self, value):
        """The value itself."""
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value."""
    weight = getattr(module, name, None)
    if weight is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    return register_parametrization(
        module, name, _SpectralNorm(weight, n_power_iterations, dim, eps)
    )


class _Orthogonal(Module):
    """The Cayley map of the skew part of a square matrix, times a fixed orthogonal base."""

    def __init__(self, weight):
        super().__init__()
        self.register_buffer("base", weight.detach().clone())
        self.register_buffer("_eye", wrap(xp.eye(max(weight.shape[-2:]), dtype=weight._a.dtype)))

    def forward(self, x):
        rows, columns = self.base.shape[-2:]
        tall = x if rows >= columns else x.t()
        n, k = tall.shape
        lower = tall.tril(-1)
        square = lower if n == k else lower.new_zeros(n, n) + _widen(lower, n)
        skew = square - square.t()
        eye = self._eye
        q = _solve(eye + skew * 0.5, eye - skew * 0.5)
        base = self.base if rows >= columns else self.base.t()
        out = q.matmul(base)
        return out if rows >= columns else out.t()


def _widen(x, n):
    from ..functional import pad

    return pad(x, (0, n - x.shape[1]))


def _solve(a, b):
    from importlib import import_module

    return import_module("gradviz.linalg").solve(a, b)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a matrix orthogonal: it starts as the nearest such matrix, and moves among them."""
    weight = getattr(module, name, None)
    if weight is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    with no_grad():
        u, _, vh = xp.linalg.svd(weight._a, full_matrices=False)
        start = wrap((u @ vh).astype(weight._a.dtype))
        parametrization = _Orthogonal(start)
        weight.zero_()
    return register_parametrization(module, name, parametrization)
