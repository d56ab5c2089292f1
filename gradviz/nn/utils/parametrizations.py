"""Ready-made parametrizations: weight norm, spectral norm, orthogonal matrices."""

from __future__ import annotations

from ...backend import xp
from ...engine.dispatch import Tensor, wrap
from ...engine.modes import no_grad
from ...engine.operation import TENSOR
from ...ops.linalg import solve
from ...ops.matrix import geqrf, householder_product, matrix_exp
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
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state, prefix, *_):
        """States of the older ``nn.utils.weight_norm`` have other keys."""
        older = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state for key in older):
            for k, key in enumerate(older):
                state[f"{prefix}parametrizations.{name}.original{k}"] = state.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


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


_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A matrix with orthonormal columns (or rows, where there are more columns), and complex ones
    alike: the exponential or Cayley map of a skew matrix, or a product of Householder reflections,
    times ``base`` where there is one.
    """

    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x):
        wide = x.shape[-2] < x.shape[-1]
        if wide:
            x = x.mT
        n, k = x.shape[-2:]
        if self.orthogonal_map == "householder":
            lower = x.tril(-1)
            tau = 2.0 / (1.0 + (lower * lower).sum(-2))
            q = householder_product(lower, tau)
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            lower = x.tril()
            if n != k:
                zeros = lower.new_zeros(*lower.shape[:-1], n - k)
                lower = TENSOR.cat([lower, zeros], -1)
            skew = lower - lower.mH
            if self.orthogonal_map == "matrix_exp":
                q = matrix_exp(skew)
            else:
                eye = wrap(xp.eye(n, dtype=skew._a.dtype, like=skew._a))
                q = solve(eye - skew * 0.5, eye + skew * 0.5)
            if n != k:
                q = q[..., :k]
        if getattr(self, "base", None) is not None:
            q = self.base.matmul(q)
        return q.mT if wide else q

    @no_grad()
    def right_inverse(self, value):
        """What is mapped to the orthogonal matrix that is nearest ``value`` in a sense."""
        if value.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {value.shape}."
            )
        wide = value.shape[-2] < value.shape[-1]
        tall = value.mT if wide else value
        n, k = tall.shape[-2:]
        if "base" not in self._buffers:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            reflections, tau = geqrf(tall)
            diagonal = reflections.diagonal(dim1=-2, dim2=-1)
            diagonal.sign_()
            diagonal[tau == 0] *= -1
            return reflections.mT if wide else reflections
        if n == k:
            self.base = tall.clone() if _is_orthogonal(tall) else _made_orthogonal(tall)
        else:
            shape = (*tall.shape[:-2], n, n - k)
            noise = wrap(xp.empty(shape, tall._a.dtype, like=tall._a)).normal_(0, 1)
            self.base = _made_orthogonal(TENSOR.cat([tall, noise], -1))
        start = TENSOR.zeros_like(value)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _is_orthogonal(q):
    n, k = q.shape[-2:]
    eye = wrap(xp.eye(k, dtype=q._a.dtype, like=q._a))
    atol = 10.0 * n * float(xp.finfo(q._a.dtype).eps)
    return xp.allclose(q.mH.matmul(q)._a, eye._a, atol=atol)


def _made_orthogonal(a):
    """The Q of a QR decomposition whose R has a positive diagonal."""
    reflections, tau = geqrf(a)
    q = householder_product(reflections, tau)
    return q * reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a matrix or a batch of matrices orthogonal (unitary): ``orthogonal_map`` is one of
    ``"matrix_exp"`` (for square and complex ones the default), ``"cayley"``, ``"householder"``.

    Source of the maps: Lezcano-Casado, Trivializations for Gradient-Based Optimization on
    Manifolds, 2019.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
