"""Distributions give PyTorch's draws, densities, moments, divergences, gradients and messages."""

import warnings

import numpy as np
import pytest

import gradviz
import gradviz.distributions  # (joins the namespace)

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)

MADE = """
Normal(t.zeros(3), t.ones(3) * 2)
Normal(t.zeros(2, 1), t.ones(3))
Bernoulli(t.tensor([0.3, 0.6]))
Bernoulli(logits=t.tensor([0.3, -0.6]))
Beta(t.tensor([1.0, 2.0]), t.tensor([0.5, 3.0]))
Categorical(t.tensor([[0.3, 0.7], [0.5, 0.5]]))
Categorical(logits=t.tensor([0.3, 1.0, -2.0]))
Dirichlet(t.tensor([[1.0, 2.0, 3.0], [0.5, 0.5, 0.5]]))
Exponential(t.tensor([1.0, 2.0]))
Gamma(t.tensor([1.0, 2.0]), t.tensor([0.5, 3.0]))
Independent(d.Normal(t.zeros(3, 2), t.ones(3, 2)), 1)
Laplace(t.tensor([0.0, 1.0]), t.tensor([1.0, 2.0]))
LogNormal(t.tensor([0.0, 1.0]), t.tensor([1.0, 2.0]))
MultivariateNormal(t.zeros(2), t.eye(2) * 2)
MultivariateNormal(t.zeros(3, 2), scale_tril=t.tensor([[1.0, 0], [0.5, 2]]))
MultivariateNormal(t.zeros(2), precision_matrix=t.eye(2) * 2)
Poisson(t.tensor([1.0, 20.0]))
Uniform(t.tensor([0.0, 1.0]), t.tensor([1.0, 4.0]))
Uniform(0.0, 2.0)
""".strip().splitlines()
ASKED = """
p.sample()
p.sample((2, 3))
p.sample_n(3)
p.rsample((4,))
p.entropy()
p.perplexity()
p.enumerate_support()
p.enumerate_support(False)
p.expand((5, *p.batch_shape)).log_prob(v)
p.log_prob(v)
p.log_prob(v * 0 - 5)
p.log_prob(v * 0 + 0.5)
p.log_prob(t.zeros(7, 5))
p.log_prob(3)
p.cdf(v)
p.cdf(v - 100)
p.icdf(t.full_like(v, 0.3))
repr(p)
repr(p.support)
p.support.check(v)
p.batch_shape
p.event_shape
p.mean
p.mode
p.variance
p.stddev
p.has_rsample
p.has_enumerate_support
p.arg_constraints
p.logits
p.probs
p.param_shape
p.covariance_matrix
p.precision_matrix
p.scale_tril
""".strip().splitlines()
REFUSED = """
Normal(0.0, -1.0)
Normal(t.zeros(3), t.zeros(2))
Normal('a', 1)
Normal(float('nan'), 1.0)
Bernoulli(2.0)
Bernoulli()
Bernoulli(0.5, logits=0.5)
Categorical(t.tensor([-1.0, 2.0]))
Categorical(t.tensor(1.0))
Categorical()
Uniform(2.0, 1.0)
Beta(-1.0, 1.0)
Gamma(1.0, 0.0)
Exponential(-1.0)
Dirichlet(t.tensor(1.0))
Dirichlet(t.tensor([1.0, -1.0]))
MultivariateNormal(t.zeros(2))
MultivariateNormal(t.tensor(0.0), t.eye(2))
MultivariateNormal(t.zeros(2), -t.eye(2))
Poisson(-1.0)
Laplace(0.0, -1.0)
LogNormal(0.0, -2.0)
Independent(d.Normal(0.0, 1.0), 1)
""".strip().splitlines()
MOVED = """
Normal(a, b)
Beta(b, c)
Gamma(b, c)
Exponential(b)
Laplace(a, b)
LogNormal(a, b)
Uniform(a, a + b)
Dirichlet(b)
MultivariateNormal(a, t.diag(b))
""".strip().splitlines()


def _outcome(engine, ask):
    """What ``ask`` gives: ("tensor", dtype, numbers), ("error", type, words) or ("other", text)."""
    engine.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ask(engine, {"t": engine, "d": engine.distributions})
        except Exception as error:  # noqa: BLE001
            words = str(error).split("\n\n")[0].replace("gradviz", "torch")
            return ("error", type(error).__name__, words)
    if isinstance(found, engine.Tensor):
        return ("tensor", str(found.dtype), found.detach().double().numpy())
    return ("other", "", repr(found).replace("gradviz", "torch"))


def _same(ask):
    theirs, ours = (_outcome(engine, ask) for engine in (torch, gradviz))
    if theirs[0] == ours[0] == "tensor":
        assert ours[1] == theirs[1]
        assert ours[2].shape == theirs[2].shape
        assert np.allclose(ours[2], theirs[2], rtol=1e-4, atol=1e-5, equal_nan=True)
    else:
        assert ours == theirs


@pytest.mark.parametrize("made", MADE)
def test_what_a_distribution_says(made):
    for asked in ASKED:

        def ask(engine, scope, asked=asked):
            scope["p"] = eval(f"d.{made}", scope)  # noqa: S307
            scope["v"] = scope["p"].sample()
            return eval(asked, scope)  # noqa: S307

        _same(ask)


@pytest.mark.parametrize("made", REFUSED)
def test_what_is_refused(made):
    _same(lambda engine, scope: eval(f"d.{made}", scope))  # noqa: S307


@pytest.mark.parametrize("first", MADE)
def test_divergences(first):
    for second in MADE:
        pair = f"d.kl_divergence(d.{first}, d.{second})"
        theirs, ours = (
            _outcome(engine, lambda e, scope: eval(pair, scope))  # noqa: B023, S307
            for engine in (torch, gradviz)
        )
        if theirs[0] == "error" and theirs[1] == "RuntimeError":
            assert ours[:2] == theirs[:2], second  # shapes that do not broadcast
        elif theirs[0] == "error":
            assert ours == theirs, second
        else:
            assert np.allclose(ours[2], theirs[2], rtol=1e-4, atol=1e-5, equal_nan=True), second


@pytest.mark.parametrize("made", MOVED)
@pytest.mark.parametrize(
    "asked", ["p.rsample()", "p.rsample((5,))", "p.entropy()", "p.log_prob(p.sample())"]
)
def test_gradients_reach_the_parameters(made, asked):
    found = []
    for engine in (torch, gradviz):
        leaves = [
            engine.tensor(v, requires_grad=True)
            for v in ([0.3, -0.5, 1.0], [0.6, 1.5, 2.2], [1.6, 0.5, 3.2])
        ]
        scope = {"t": engine, "d": engine.distributions, **dict(zip("abc", leaves, strict=True))}
        engine.manual_seed(4)
        scope["p"] = eval(f"d.{made}", scope)  # noqa: S307
        eval(asked, scope).sum().backward()  # noqa: S307
        found.append([None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves])
    for theirs, ours in zip(*found, strict=True):
        assert (theirs is None) == (ours is None)
        assert theirs is None or np.allclose(ours, theirs, rtol=1e-3, atol=1e-4)
