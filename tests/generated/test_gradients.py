"""First and second derivatives of every operation of the table against finite differences."""

import itertools
import warnings

import pytest

import gradviz as torch
from gradviz.autograd import gradcheck, gradgradcheck

from . import calls
from .outcome import flat, numbers

TRIES = 40  # seeds, until one gives finite numbers that a derivative moves
# Names whose derivatives finite differences do not show, and why.
_TRIANGLE = "of symmetric matrices one triangle is read, its gradient goes to both"
_WRITES = "of several writes to one place the last counts"
APART = {
    **dict.fromkeys(
        (".logical_not_", ".logical_and_", ".logical_or_", ".logical_xor_"),
        "as in PyTorch the gradient passes through",
    ),
    ".float": "single precision",
    ".half": "half precision",
    ".bfloat16": "half precision",
    ".cfloat": "single precision",
    ".scatter_": _WRITES,
    "scatter": _WRITES,
    "index_copy": _WRITES,
    "index_put": _WRITES,
    ".index_put_": _WRITES,
    "F.batch_norm": "the running statistics get no gradient",
    ".index_copy_": _WRITES,
    "linalg.cholesky": _TRIANGLE,
    "cholesky": _TRIANGLE,
    "linalg.cholesky_ex": _TRIANGLE,
    "cholesky_solve": _TRIANGLE,
    "cholesky_inverse": _TRIANGLE,
    "linalg.eigvalsh": _TRIANGLE,
    ".igamma_": "its first argument has no derivative",
    ".igammac_": "its first argument has no derivative",
    "F.embedding": "the row of padding_idx gets no gradient",
    "F.ctc_loss": "the derivative is that for logarithms of probabilities",
    "F.hardsigmoid": "as in PyTorch it has no second derivative",
}


class Shifted:
    """Inputs as in the call, none of them at a kink."""

    def __init__(self, moving):
        self.made, self.moving = [], moving

    def __call__(self, dtype, shape, seed, kind="A", layout=""):
        array = numbers(dtype, shape, seed, kind)
        if array.dtype.kind in "fc":
            array = array * 0.97 + 0.0137 * (len(self.made) + 1)
        made = torch.tensor(array)
        if array.dtype.kind in "fc" and self.moving in (None, len(self.made)):
            made.requires_grad_()
        self.made.append(made)
        return made


def prepared(text, moving=None):
    """(function, inputs) of a call: what it does to the tensors that take a gradient, or to the one
    numbered ``moving``.
    """
    *makes, expression = text.split("; ")
    scope = {"torch": torch, "t": Shifted(moving)}
    for make in makes:
        exec(make, scope)  # noqa: S102
    names = [make.partition(" = ")[0] for make in makes]
    moving = [name for name in names if scope[name].requires_grad]

    def function(*values):
        # in-place forms write into what is not a leaf
        own = {name: value * 1.0 for name, value in zip(moving, values, strict=True)}
        results = flat(eval(expression, {**scope, **own}), torch.Tensor)  # noqa: S307
        return tuple(r for r in results if isinstance(r, torch.Tensor) and r.requires_grad)

    return function, [scope[name] for name in moving]


def usable(name, line):
    """The first call of a line that has finite results and finite derivatives."""
    for seed, moving in itertools.product(range(TRIES), (None, 0, 1)):
        call = calls.Call(name, line, seed, mistaken=0, dtypes=("float64",))
        if "out=" in call.text:
            continue
        try:
            function, inputs = prepared(call.text, moving)
            results = function(*inputs)
            if not results or not any(r.numel() for r in results):
                continue
            grads = torch.autograd.grad(
                [r.abs().sum() for r in results], inputs, allow_unused=True, create_graph=True
            )
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
            continue
        found = [*results, *(g for g in grads if g is not None)]
        if all(bool(t.isfinite().all()) for t in found):
            return (
                call.text,
                function,
                inputs,
                any(g is not None and g.requires_grad for g in grads),
            )
    return None


NAMES = calls.names(torch.Tensor)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in APART])
def test_derivatives_are_those_of_the_function(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for line in NAMES[name]:
            found = usable(name, line)
            if found is None:
                continue
            text, function, inputs, twice = found
            many = sum(x.numel() for x in inputs) > 40
            assert gradcheck(function, inputs, fast_mode=many), text
            if twice:
                assert gradgradcheck(function, inputs, fast_mode=True), text


def test_most_names_are_checked():
    """A line that no call fits would be passed over in silence."""
    checked = [n for n in NAMES if any(usable(n, line) for line in NAMES[n])]
    assert len(checked) > 560
