"""First and second derivatives of the operations against finite differences, with nothing but
gradviz.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

import gradviz as torch
from gradviz.autograd import gradcheck, gradgradcheck

TABLE = Path(__file__).resolve().parent.parent / "differential"


def _load(name):
    spec = importlib.util.spec_from_file_location(f"differential_{name}", TABLE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


compare, table = _load("compare"), _load("table")
FAMILIES = (
    "arithmetic",
    "unary",
    "reductions",
    "shapes",
    "products",
    "linalg",
    "fourier",
    "specials",
)
# Not functions that can be differentiated at these points: no derivative, a jump or a kink, a
# choice of sign or gauge, no output to move.
LEFT_OUT = {
    "x // p",
    "x // 2",
    "2 % p",
    "torch.heaviside(x, y)",
    "torch.nextafter(x, y)",
    "torch.igamma(p, q)",
    "torch.igammac(p, q)",
    "torch.special.gammainc(p, q)",
    "torch.special.zeta(p + 1, p)",
    "0 ** p",
    "ties.max()",
    "ties.max(1)",
    "ties.amax((0, 1))",
    "ties.amin(1, keepdim=True)",
    "torch.maximum(ties, ties)",
    "ties.mode(1)",
    "x.norm('nuc')",
    "torch.nan_to_num(x / zeros)",
    "torch.linalg.eigvals(S).abs().sort().values",
    "u.logit()",
    "torch.linalg.matrix_rank(S)",
    "torch.nanquantile(x, 0.3)",
    # of symmetric matrices only one triangle is read; of several writes to one place one is taken
    "torch.linalg.cholesky(P)",
    "torch.cholesky(P)",
    "torch.linalg.cholesky_ex(P)",
    "torch.linalg.eigvalsh(P)",
    "torch.linalg.eigh(P)[0]",
    "torch.cholesky_solve(x, P)",
    "x.scatter(1, n, y)",
    "x.index_put((iv, iv), h)",
    "x.put(iv, h)",
}
SINGLE = (
    "torch.float32",
    ".float()",
    "half",
    "complex64",
    "x.int()",
    "torch.histc",
    "torch.frexp",
    "type_as",
    "n1",
)


def _cases():
    for family in FAMILIES:
        for expression in table.FAMILIES[family]:
            if expression in LEFT_OUT or any(word in expression for word in SINGLE):
                continue
            given = {n: compare.INPUTS[n] for n in compare.names_in(expression)}
            result = compare.evaluate(torch, expression, given, True)[1]
            if not isinstance(result, Exception) and any(
                _moves(t) for t in compare.flatten(result, torch.Tensor)
            ):
                yield expression


def _moves(t):
    return isinstance(t, torch.Tensor) and t.requires_grad and t.numel()


def _function(expression):
    names = compare.names_in(expression)
    inputs = [torch.tensor(compare.INPUTS[n]) for n in names]
    inputs = [
        t.requires_grad_() if t.dtype.is_floating_point or t.dtype.is_complex else t for t in inputs
    ]

    def function(*args):
        found = eval(expression, {"torch": torch, **dict(zip(names, args, strict=True))})  # noqa: S307
        return tuple(
            t
            for t in compare.flatten(found, torch.Tensor)
            if isinstance(t, torch.Tensor) and t.dtype.category >= 2
        )

    return function, inputs


@pytest.mark.parametrize("expression", list(_cases()))
def test_derivatives_are_those_of_the_function(expression):
    function, inputs = _function(expression)
    assert gradcheck(function, inputs)


SECOND = [
    "x * y",
    "x / p",
    "p ** x",
    "x.sigmoid()",
    "x.softmax(-1)",
    "x @ m",
    "torch.det(S)",
    "torch.linalg.inv(SB)",
    "x.logsumexp(1)",
    "torch.fft.fft(z)",
    "x.prod(0)",
    "zeros.prod(1)",
    "x.std()",
    "x.norm()",
    "torch.gather(x, 1, n)",
    "x[iv]",
    "z.abs()",
    "torch.linalg.svdvals(x)",
    "torch.nn.functional.gelu(x)",
    "x.scatter_add(1, n, y)",
    "torch.linalg.solve(S, x)",
    "x.cumprod(1)",
    "B @ C",
]


@pytest.mark.parametrize("expression", SECOND)
def test_second_derivatives(expression):
    function, inputs = _function(expression)
    assert gradgradcheck(function, inputs)
