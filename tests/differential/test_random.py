"""The same seed gives the same numbers as in PyTorch; the streams stay together over a long mix of
draws.
"""

import copy
import pickle

import numpy as np
import pytest

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)

DRAWS = """
t.rand(5)
t.randn(3)
t.randn(40)
t.randn(17)
t.rand(3, dtype=t.float64)
t.randn(3, dtype=t.float64)
t.randn(20, dtype=t.float64)
t.randn(3, dtype=t.complex64)
t.rand(3, dtype=t.float16)
t.randn(20, dtype=t.float16)
t.randn(3, dtype=t.float16)
t.randn(40, dtype=t.bfloat16).float()
t.randint(0, 10, (5,))
t.randint(0, 2**40, (3,))
t.randint_like(t.ones(4), 5)
t.randperm(10)
t.randperm(5, dtype=t.int32)
t.rand_like(t.ones(3))
t.empty(4).uniform_(-1, 2)
t.empty(5).normal_(1, 2)
t.empty(30).normal_(1, 2)
t.ones(2, 8).t().normal_()
t.ones(2, 3).t().uniform_()
t.normal(0.0, 1.0, (4,))
t.normal(t.zeros(3), t.ones(3))
t.normal(t.zeros(20), 2.0)
t.bernoulli(t.full((5,), 0.3))
t.bernoulli(t.full((5,), 0.3, dtype=t.float64))
t.empty(5).bernoulli_(0.4)
t.empty(5).exponential_()
t.empty(4).cauchy_()
t.empty(4).log_normal_()
t.empty(4).geometric_(0.3)
t.poisson(t.full((4,), 3.0))
t.poisson(t.full((4,), 30.0))
t.binomial(t.full((4,), 10.0), t.full((4,), 0.3))
t.binomial(t.full((4,), 100.0), t.full((4,), 0.7))
t.multinomial(t.ones(5), 3)
t.multinomial(t.rand(3, 5), 3)
t.multinomial(t.ones(5), 3, replacement=True)
t.empty(4).random_(7)
t.empty(4).random_()
t.empty(4, dtype=t.int64).random_()
t.empty(3, dtype=t.int8).random_()
t.nn.functional.dropout(t.ones(10))
t.nn.functional.dropout(t.ones(3, 4).t(), 0.3)
t.nn.functional.alpha_dropout(t.ones(20), 0.3)
t.nn.functional.dropout2d(t.ones(5, 3, 4, 2), 0.3)
t.nn.functional.gumbel_softmax(t.ones(4, 3))
t.nn.functional.rrelu(-t.ones(9), training=True)
t.rand(5, dtype=t.complex64)
t.rand(3000, dtype=t.bfloat16).float()
t.rand_like(t.ones(3, 4).t())
t.randn_like(t.ones(4, 5).t())
t.empty(3, 2).t().bernoulli_(0.5)
t.multinomial(t.linspace(0.1, 1, 9), 1, replacement=True)
t.normal(t.zeros(3, dtype=t.float64), 2.0)
t.nn.init.trunc_normal_(t.empty(16, 5))
t.nn.init.kaiming_uniform_(t.empty(5, 3, 3, 3))
t.nn.init.xavier_normal_(t.empty(64, 33))
t.nn.init.orthogonal_(t.empty(5, 4))
t.nn.init.sparse_(t.empty(8, 4), 0.3)
t.nn.LSTM(3, 4).weight_hh_l0.detach()
t.nn.MultiheadAttention(8, 2).in_proj_weight.detach()
t.randn(40, generator=t.Generator().manual_seed(5))
""".strip().splitlines()


@pytest.mark.parametrize("seed", [0, 1, 123456789012])
def test_streams_stay_together(seed):
    torch.manual_seed(seed)
    gradviz.manual_seed(seed)
    for draw in DRAWS:
        theirs, ours = (eval(draw, {"t": engine}) for engine in (torch, gradviz))  # noqa: S307
        assert str(ours.dtype) == str(theirs.dtype), draw
        assert np.allclose(
            ours.numpy(),
            theirs.resolve_conj().numpy(),
            rtol=1e-3 if "16" in draw else 1e-5,
            atol=1e-6,
        ), draw


def test_the_state_goes_back_and_forth():
    torch.manual_seed(3)
    gradviz.manual_seed(3)
    gradviz.randn(5)
    state = gradviz.get_rng_state()
    first = gradviz.rand(4)
    gradviz.set_rng_state(state)
    assert gradviz.equal(first, gradviz.rand(4))
    for drawn in (0, 3, 624, 625, 631):
        for engine in (torch, gradviz):
            engine.manual_seed(drawn)
            engine.rand(drawn)
        ours, theirs = gradviz.get_rng_state().numpy(), torch.get_rng_state().numpy()
        assert np.array_equal(ours, theirs)
    torch.randn(1)
    gradviz.set_rng_state(gradviz.from_numpy(torch.get_rng_state().numpy()))
    expected = torch.randn(5).tolist()
    for copied in (copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))):
        assert gradviz.randn(5, generator=copied(gradviz.default_generator)).tolist() == expected


REFUSED = """
t.manual_seed(2**64)
t.set_rng_state(t.zeros(3))
t.set_rng_state(t.zeros(3, dtype=t.uint8))
t.set_rng_state(t.zeros(5056, dtype=t.uint8))
t.rand(2, dtype=t.int64)
t.randn(2, dtype=t.int32)
t.empty(2, dtype=t.int64).uniform_()
t.empty(2, dtype=t.bool).normal_()
t.empty(2, dtype=t.int64).exponential_()
t.empty(2, dtype=t.int64).log_normal_()
t.randint(0, 300, (2,), dtype=t.uint8)
t.empty(2, dtype=t.int8).random_(-200, 3)
t.empty(2, dtype=t.bool).random_(3)
t.randperm(300, dtype=t.uint8)
t.multinomial(t.ones(2, dtype=t.int64), 1)
""".strip().splitlines()


@pytest.mark.parametrize("draw", REFUSED)
def test_what_cannot_be_drawn(draw):
    said = []
    for engine in (torch, gradviz):
        with pytest.raises(Exception) as caught:  # noqa: B017, PT011
            eval(draw, {"t": engine})  # noqa: S307
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("low, high", [(-0.0357, 0.0357), (-9, 9), (0.1, 0.7)])
def test_uniform_numbers_are_the_same_to_the_last_bit(low, high, dtype):
    drawn = []
    for engine in (torch, gradviz):
        engine.manual_seed(3)
        x = engine.empty(5000, dtype=getattr(engine, dtype)).uniform_(low, high)
        drawn.append(x.double().numpy())
    assert (drawn[0] == drawn[1]).all()


EXACT = """
t.randn(5)
t.randn(40)
t.randn(100003)
t.randn(5, dtype=t.float64)
t.randn(4001, dtype=t.float64)
t.randn(77, dtype=t.float16).float()
t.randn(77, dtype=t.bfloat16).float()
t.randn(33, dtype=t.complex64)
t.empty(9).normal_(1.5, 0.3)
t.empty(5000).normal_(1.5, 0.3)
t.empty(5000, dtype=t.float64).normal_(1.5, 0.3)
t.normal(t.arange(50.0), 0.5)
t.normal(t.arange(50.0), t.arange(50.0) + 0.1)
t.empty(3, 8, 4, 5).to(memory_format=t.channels_last).normal_()
t.nn.init.kaiming_normal_(t.empty(30, 20))
t.nn.init.xavier_normal_(t.empty(64, 33))
t.nn.init.trunc_normal_(t.empty(16, 5))
t.nn.Embedding(10, 7).weight.detach()
t.empty(500).exponential_(1.5)
t.empty(500, dtype=t.float64).exponential_(1.5)
t.empty(500, dtype=t.float64).cauchy_(0.5, 2.0)
t.empty(50, dtype=t.float64).log_normal_(0.5, 0.7)
t.multinomial(t.arange(50.0), 20)
t.multinomial(t.arange(50.0), 20, replacement=True)
t.nn.functional.dropout(t.ones(200), 0.3)
t.nn.functional.dropout(t.ones(200, dtype=t.float16), 0.3).float()
t.nn.functional.dropout(t.ones(200, dtype=t.bfloat16), 0.3).float()
t.randint(0, 2**28 - 1, (9,))
t.randint(0, 2**28, (9,))
t.randint(-(2**30), 2**31, (9,))
t.randperm(500)
t.bernoulli(t.linspace(0, 1, 300))
t.poisson(t.linspace(0, 50, 300))
t.rand(3)
""".strip().splitlines()


@pytest.mark.parametrize("seed", [0, 42])
def test_draws_are_the_same_to_the_last_bit(seed):
    torch.manual_seed(seed)
    gradviz.manual_seed(seed)
    for draw in EXACT:
        theirs, ours = (eval(draw, {"t": engine}).numpy() for engine in (torch, gradviz))  # noqa: S307
        assert np.array_equal(ours, theirs), draw


@pytest.mark.parametrize(
    "layer", ["Linear(64, 32)", "Conv2d(3, 8, 3)", "LSTM(8, 16)", "TransformerEncoderLayer(16, 4)"]
)
def test_new_layers_have_the_same_weights_to_the_last_bit(layer):
    states = []
    for engine in (torch, gradviz):
        engine.manual_seed(1)
        states.append(eval(f"engine.nn.{layer}", {"engine": engine}).state_dict())  # noqa: S307
    for name, theirs in states[0].items():
        assert (theirs.numpy() == states[1][name].numpy()).all(), name
