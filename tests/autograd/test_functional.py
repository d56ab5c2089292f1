"""Jacobians, Hessians, their products, and the check against finite differences."""

import pytest

import gradviz as torch
from gradviz.autograd import Function, functional, gradcheck, gradgradcheck
from gradviz.autograd.gradcheck import GradcheckError

X = (1.0, 2.0)


def x(**options):
    return torch.tensor(X, dtype=torch.float64, **options)


def test_jacobian_and_hessian():
    assert functional.jacobian(lambda v: v * v, x()).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert functional.hessian(lambda v: (v**3).sum(), x()).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    pair = functional.jacobian(lambda a, b: a.sum() * b, (x(), x()))
    assert [t.tolist() for t in pair] == [[[1.0, 1.0], [2.0, 2.0]], [[3.0, 0.0], [0.0, 3.0]]]


def test_products_with_vectors():
    ones = torch.ones(2, dtype=torch.float64)
    assert functional.vjp(lambda v: v * v, x(), ones)[1].tolist() == [2.0, 4.0]
    assert functional.jvp(lambda v: v * v, x(), ones)[1].tolist() == [2.0, 4.0]
    for product in (functional.hvp, functional.vhp):
        assert product(lambda v: (v**3).sum(), x(), ones)[1].tolist() == [6.0, 12.0]


def test_strict_refuses_independence():
    with pytest.raises(RuntimeError, match="strict mode"):
        functional.jacobian(lambda v: torch.ones(2), x(), strict=True)
    assert functional.jacobian(lambda v: torch.ones(2), x()).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        functional.jacobian(lambda v: v, 3)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        functional.vjp(lambda v: v, x(), torch.ones(3))
    with pytest.raises(RuntimeError, match="should contain a single element"):
        functional.hvp(lambda v: v, x(), torch.ones(2))


class Wrong(Function):
    """A square whose derivative is wrong."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return v * v

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def test_gradcheck_tells_right_from_wrong():
    v = x(requires_grad=True)
    assert gradcheck(lambda v: v.sin() * v.exp(), (v,))
    assert gradgradcheck(lambda v: v.sin() * v.exp(), (v,))
    with pytest.raises(
        GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"
    ):
        gradcheck(Wrong.apply, (v,))
    assert gradcheck(Wrong.apply, (v,), raise_exception=False) is False
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda v: v, (x(),))


@pytest.mark.parametrize(
    "function",
    [
        lambda c: c * c,
        lambda c: c.abs(),
        lambda c: (c * c).real,
        lambda c: c * c.conj() * c,
        lambda c: c.exp(),
    ],
)
def test_gradcheck_of_complex_functions(function):
    c = torch.tensor([1 + 2j, 0.5 - 1j], dtype=torch.complex128, requires_grad=True)
    assert gradcheck(function, (c,))
