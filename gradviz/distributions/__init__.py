"""``gradviz.distributions``: random variables with densities, moments and samples, as in
``torch.distributions``."""

from ..absent import absent as _absent
from . import constraints
from .continuous import Beta, Dirichlet, Exponential, Gamma, Laplace, LogNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical, Poisson
from .distribution import Distribution
from .kl import kl_divergence, register_kl
from .multivariate import Independent, MultivariateNormal

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "Gamma",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "Poisson",
    "Uniform",
    "constraints",
    "kl_divergence",
    "register_kl",
]

globals().update(_absent("torch.distributions"))
