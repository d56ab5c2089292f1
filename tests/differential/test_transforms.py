"""``autograd.functional``, ``gradcheck``, ``forward_ad``, ``graph`` and ``func`` beside PyTorch:
results, whether they are
tracked, errors and their words.
"""

import importlib
import warnings

import pytest

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)


class Wrong:
    """A function with a wrong derivative, on either engine."""

    def __init__(self, t):
        class Twice(t.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x**2

            @staticmethod
            def backward(ctx, g):
                return g

        self.apply = Twice.apply


def scope(t):
    """The names that the programs below use."""
    named = {
        n: importlib.import_module(f"{t.__name__}.{path}")
        for n, path in [("fn", "func"), ("A", "autograd")]
    }
    functional = importlib.import_module(f"{t.__name__}.autograd.functional")
    forward = importlib.import_module(f"{t.__name__}.autograd.forward_ad")
    x = t.tensor([1.0, 2.0, 3.0], dtype=t.float64)
    w = t.tensor([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]], dtype=t.float64)
    z = t.tensor([1 + 2j, 0.5 - 1j], dtype=t.complex128, requires_grad=True)
    return {
        **named,
        "F": functional,
        "D": forward,
        "t": t,
        "x": x,
        "w": w,
        "z": z,
        "xr": x.clone().requires_grad_(),
        "wr": w.clone().requires_grad_(),
        "wrong": Wrong(t).apply,
        "f": lambda v: (v**3).sum(),
    }


PROGRAMS = """
A.gradcheck(wrong, (xr,))
A.gradcheck(wrong, (xr,), raise_exception=False)
A.gradcheck(lambda v: v.sum(), (t.ones(2),))
A.gradcheck(lambda v: (v * 2).exp(), (xr,))
A.gradcheck(lambda v: v.detach(), (xr,))
A.gradgradcheck(lambda v: (v * 2).exp(), (xr,))
A.gradcheck(lambda a, b: a @ b.t(), (wr, wr.detach().clone().requires_grad_()))
A.gradcheck(lambda v: v * v, (z,))
A.gradcheck(lambda v: v.abs(), (z,))
A.gradcheck(lambda v: t.view_as_real(v), (z,))
F.jacobian(lambda v: v**2, xr)
F.jacobian(lambda v: v**2, xr, create_graph=True)
F.jacobian(lambda a, b: (a * b, a.sum()), (xr, xr))
F.jacobian(lambda v: v.detach(), xr)
F.jacobian(lambda v: v.detach(), xr, strict=True)
F.jacobian(lambda a, b: a, (xr, xr), strict=True)
F.jacobian(lambda v: 3, xr)
F.jacobian(lambda v: v, 3)
F.hessian(f, xr)
F.hessian(lambda a, b: (a**2 * b).sum(), (xr, xr))
F.hessian(lambda v: v.sum(), xr)
F.hessian(lambda v: v.sum(), xr, strict=True)
F.hessian(lambda v: v * 2, xr)
F.vjp(lambda v: v**2, xr, t.ones(3, dtype=t.float64))
F.vjp(lambda v: v.sum(), xr)
F.vjp(lambda v: v * 2, xr)
F.vjp(lambda v: v * 2, xr, t.ones(4))
F.vjp(lambda v: (v, 3), xr)
F.jvp(lambda v: v**2, xr, t.ones(3, dtype=t.float64))
F.jvp(lambda v: v, xr)
F.hvp(f, xr, t.ones(3, dtype=t.float64))
F.hvp(lambda v: v.sum(), xr)
F.vhp(f, xr, t.ones(3, dtype=t.float64))
F.vhp(lambda v: (v.sum(), v.sum()), xr, xr)
D.make_dual(t.ones(1), t.ones(1))
tuple(D.unpack_dual(t.ones(1)))
A.grad(xr.exp(), xr, t.eye(3, dtype=t.float64), is_grads_batched=True)
A.grad((xr * 2).sum(), [A.graph.get_gradient_edge(xr)])
A.grad(A.graph.get_gradient_edge(xr * 2), xr)
A.grad(A.graph.get_gradient_edge(xr * 2), xr, t.ones(3, dtype=t.float64))
A.graph.register_multi_grad_hook((xr,), print, mode="z")
fn.grad(f)(x)
fn.grad(f)(xr)
fn.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x)
fn.grad(lambda v: (f(v), v * 2), has_aux=True)(x)
fn.grad(lambda d: (d["a"] ** 2).sum())({"a": x})
fn.grad(fn.grad(lambda v: v**3))(t.tensor(2.0))
fn.grad(lambda v: v * 2)(x)
fn.grad(f, argnums=3)(x)
fn.grad_and_value(f)(x)
fn.vjp(lambda v: v**2, x)[1](x)
fn.vjp(lambda v: {"o": v * 2}, x)[1]({"o": x})
fn.jvp(lambda v: v**2, (x,), (x,))
fn.jvp(lambda a, b: (a * b,), (x, x), (x, x))
fn.jacrev(lambda v: v**2)(x)
fn.jacrev(lambda v: w @ v)(x)
fn.jacrev(lambda a, b: (a @ b, a.sum()), argnums=(0, 1))(w, x)
fn.jacfwd(lambda a, b: (a @ b, a.sum()), argnums=(0, 1))(w, x)
fn.hessian(lambda v: v.sin().sum())(x)
fn.linearize(lambda v: v**2, x)[1](x)
fn.vmap(lambda v: v.sum())(w)
fn.vmap(t.dot)(w, w)
fn.vmap(lambda a, b: a * b, in_dims=(0, None))(w, x)
fn.vmap(lambda a: a * 2, out_dims=1)(w)
fn.vmap(lambda a: (a * 2, a.sum()))(w)
fn.vmap(lambda d: d["a"] * 2)({"a": w})
fn.vmap(fn.grad(f))(w)
fn.vmap(fn.jacrev(lambda v: v**2))(w)
fn.vmap(lambda a, b: a)(t.ones(3), t.ones(4))
fn.vmap(lambda a: a)(t.tensor(1.0))
fn.vmap(lambda a: 3)(t.ones(3))
fn.vmap(lambda a: t.rand(1))(w)
fn.vmap(lambda a: a, in_dims=(None,))(x)
""".strip().splitlines()


def shown(value, t):
    """A result as plain data: numbers, whether tracked, shape."""
    if isinstance(value, (tuple, list)):
        return [shown(v, t) for v in value]
    if isinstance(value, dict):
        return {k: shown(v, t) for k, v in value.items()}
    if isinstance(value, t.Tensor):
        return value.detach().numpy().round(6).tolist(), value.requires_grad, list(value.shape)
    return "function" if callable(value) else value


def outcome(t, program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shown(eval(program, scope(t)), t)  # noqa: S307
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program):
    assert outcome(gradviz, program) == outcome(torch, program)


def hooks(t, mode):
    """What a hook on three gradients is told over several sweeps."""
    told = []
    a, b = t.ones(2, requires_grad=True), t.ones(2, requires_grad=True)
    c = a * b
    handle = t.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda g: told.append(shown(g, t)), mode=mode
    )
    (c * 2).sum().backward()
    a.sum().backward()
    (a + b).sum().backward()
    handle.remove()
    (a * b).sum().backward()
    return told


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_on_several_gradients(mode):
    assert hooks(gradviz, mode) == hooks(torch, mode)


def mutated(t):
    with t.autograd.graph.allow_mutation_on_saved_tensors():
        a = t.ones(2, 3, requires_grad=True)
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()
        return a.grad.tolist()


def test_mutation_after_saving():
    assert mutated(gradviz) == mutated(torch)


def called(t):
    """A module as a function of its parameters, and its gradient for every example."""
    fn = importlib.import_module(f"{t.__name__}.func")
    t.manual_seed(0)
    layer = t.nn.Linear(2, 3)
    parameters = {k: v.detach() for k, v in layer.named_parameters()}
    loss = lambda p, v: fn.functional_call(layer, p, (v,)).sum()  # noqa: E731
    each = fn.vmap(fn.grad(loss), in_dims=(None, 0))(parameters, t.ones(4, 2))
    return shown(
        [fn.grad(loss)(parameters, t.ones(4, 2)), each, fn.stack_module_state([layer, layer])[0]], t
    )


def test_modules_as_functions():
    assert called(gradviz) == called(torch)
