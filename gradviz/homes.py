"""Modules that PyTorch has and gradviz has not, whose names are elsewhere here:
``from gradviz.distributions.normal import Normal`` gives ``gradviz.distributions``' own.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec

_ROOT = __package__
_ELSEWHERE = {
    "distributions": (
        "distributions",
        "bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet "
        "exponential fishersnedecor geometric gumbel half_cauchy half_normal independent "
        "inverse_gamma kumaraswamy laplace lkj_cholesky log_normal logistic_normal "
        "lowrank_multivariate_normal mixture_same_family multinomial multivariate_normal "
        "negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli "
        "relaxed_categorical studentT transformed_distribution uniform von_mises weibull wishart",
    ),
    "optim": ("optim", "adadelta adagrad adamax adamw asgd nadam radam rmsprop rprop"),
    "nn.modules": ("nn.modules", "channelshuffle distance flatten fold pixelshuffle upsampling"),
    "nn.modules.normalization": ("nn.modules", "batchnorm instancenorm"),
    "nn.utils.convert": ("nn.utils", "convert_parameters"),
    "utils.data.loader": ("utils.data", "dataloader"),
    "amp.autocast": ("amp", "autocast_mode"),
    "engine.tensor": ("", "_tensor"),
}
_HOMES = {
    ".".join(part for part in (_ROOT, parent, name) if part): f"{_ROOT}.{home}"
    for home, (parent, names) in _ELSEWHERE.items()
    for name in names.split()
}


class StandIn:
    """Finds a module under another name than its own: the very module, not a copy."""

    def home(self, fullname):
        """The module that ``fullname`` stands for; None where it stands for none."""
        return _HOMES.get(fullname)

    def find_spec(self, fullname, path=None, target=None):
        """A spec for the names that stand for a module; nothing for others."""
        return None if self.home(fullname) is None else ModuleSpec(fullname, self)

    def create_module(self, spec):
        """The module that the name stands for."""
        module = importlib.import_module(self.home(spec.name))
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        """It has run already; give it its own spec back."""
        module.__spec__ = self._spec


def install():
    """Answer for the names that no file answers for."""
    if not any(type(finder) is StandIn for finder in sys.meta_path):
        sys.meta_path.append(StandIn())
