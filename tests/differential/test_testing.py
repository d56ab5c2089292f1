"""``torch.testing``: verdicts and their words."""

import math

import pytest

import gradviz

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")

PAIRS = """
t.tensor([1.0, 2.0, 3.0]), t.tensor([1.0, 2.5, 4.0])
t.tensor(1.0), t.tensor(2.0)
1.0, 2.0
1, 2
1, 1.0
True, False
1 + 2j, 1 + 3j
t.ones(2), t.ones(3)
t.ones(2), t.ones(2, dtype=t.float64)
t.ones(2), t.ones(2, dtype=t.float64), dict(check_dtype=False)
t.ones(2, 3), t.ones(3, 2).t(), dict(check_stride=True)
t.tensor([nan]), t.tensor([nan])
t.tensor([nan]), t.tensor([nan]), dict(equal_nan=True)
nan, nan
t.tensor([inf, 1]), t.tensor([1.0, inf])
[1.0, t.tensor([1.0, 2.0])], [1.0, t.tensor([1.0, 3.0])]
[1], [1, 2]
{"a": t.ones(2)}, {"a": t.zeros(2)}
{"a": [1, {"b": t.ones(2)}]}, {"a": [1, {"b": t.zeros(2)}]}
{"a": 1}, {"b": 1}
None, None
None, 1
t.ones(1), 1.0
"a", "a"
1.0, 1.0, dict(rtol=1)
1.0, 1.0, dict(atol=1)
t.tensor([1.0, 2.0]), t.tensor([1.0, 2.2]), dict(rtol=0.01, atol=0)
t.tensor([1, 2]), t.tensor([1, 3])
t.tensor([1, 2]), t.tensor([1, 4]), dict(rtol=0, atol=1)
t.tensor([True, False]), t.tensor([True, True])
t.arange(6.0).view(2, 3), t.arange(6.0).view(2, 3) * 1.1
t.ones(1), t.zeros(1), dict(msg="said by the caller")
[1.0], [2.0], dict(msg=lambda m: "before " + m)
t.ones(1).numpy(), t.zeros(1).numpy()
t.nn.Parameter(t.ones(1)), t.ones(1)
t.tensor([1 + 2j]), t.tensor([1 + 3j])
t.ones(0), t.ones(0)
t.ones(2, dtype=t.float16), t.ones(2, dtype=t.float16) * 1.01
t.ones(2, dtype=t.bfloat16), t.ones(2, dtype=t.bfloat16) * 1.01
t.ones(2, dtype=t.float16), t.ones(2) * 1.01, dict(check_dtype=False)
t.tensor([0.0, 1.0]), t.tensor([0.0, 0.0])
t.tensor([255], dtype=t.uint8), t.tensor([0], dtype=t.uint8)
object(), object()
""".strip().splitlines()

MADE = """
2, 3, dtype=t.float32
2, 3, dtype=t.float64
2, 3, dtype=t.bfloat16
2, 3, dtype=t.int64
2, 3, dtype=t.uint8
2, 3, dtype=t.bool
2, 3, dtype=t.complex64
(2, 3), dtype=t.float32, low=0, high=1
2, 3, dtype=t.float32, noncontiguous=True, requires_grad=True
1, dtype=t.float32, noncontiguous=True
2, 3, 4, 5, dtype=t.float32, memory_format=t.channels_last
4, dtype=t.int64, low=0, high=3, exclude_zero=True
4, dtype=t.bool, exclude_zero=True
4, dtype=t.int64, low=0.5, high=3.5
4, dtype=t.uint8, low=-3, high=300
0, 3, dtype=t.float32
4, dtype=t.int64, requires_grad=True
4, dtype=t.float32, low=2, high=1
4, dtype=t.float32, low=nan, high=1
""".strip().splitlines()


def words(error):
    for name in ("nn.parameter.", "engine.tensor.", "gradviz.", "torch."):
        error = error.replace(name, "")
    return error.partition("\n\nGiven")[0]


def verdict(engine, pair):
    names = {"t": engine, "nan": math.nan, "inf": math.inf}
    actual, expected, *options = eval(pair, names)  # noqa: S307
    try:
        return engine.testing.assert_close(actual, expected, **dict(*options))
    except (AssertionError, TypeError, ValueError) as error:
        return type(error), words(str(error))


def made(engine, arguments):
    engine.manual_seed(0)
    names = {"t": engine, "nan": math.nan}
    try:
        x = eval(f"t.testing.make_tensor({arguments}, device='cpu')", names)  # noqa: S307
    except ValueError as error:
        return words(str(error))
    return x.tolist(), tuple(x.stride()), x.requires_grad, str(x.dtype)


@pytest.mark.parametrize("pair", PAIRS)
def test_assert_close(pair):
    assert verdict(gradviz, pair) == verdict(torch, pair)


@pytest.mark.parametrize("arguments", MADE)
def test_make_tensor(arguments):
    assert made(gradviz, arguments) == made(torch, arguments)
