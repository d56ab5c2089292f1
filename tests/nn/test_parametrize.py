"""Parametrizations: values, gradients, calls, keys and refusals, compared with PyTorch."""

import importlib
import math

import pytest

import gradviz

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")

MODULES = """
import copy
calls = []
class Sym(nn.Module):
    def forward(self, X): calls.append("f"); return X.triu() + X.triu(1).t()
    def right_inverse(self, A): calls.append("r"); return A.triu()
class Plain(nn.Module):
    def forward(self, X): return X * 2
class Short(nn.Module):
    def forward(self, X): return X[:1]
class Wide(nn.Module):
    def forward(self, X): return X.double()
class Number(nn.Module):
    def forward(self, X): return 3
class Two(nn.Module):
    def forward(self, a, b): return a + b
    def right_inverse(self, X): return X / 2, X / 2
class HalfTwo(Two):
    def right_inverse(self, X): return X / 2, 3
class Same(nn.Module):
    def forward(self, X): return X
class BackNumber(Same):
    def right_inverse(self, X): return 3
class BackShort(Same):
    def right_inverse(self, X): return X[:1]
class BackWide(Same):
    def right_inverse(self, X): return X.double()
class BackNever(Same):
    def right_inverse(self, X): raise NotImplementedError("no")
def on(*parts, name="weight", **more):
    t.manual_seed(0)
    layer = nn.Linear(3, 3)
    for part in parts:
        P.register_parametrization(layer, name, part, **more)
    return layer
def given(layer, value):
    layer.weight = value
    return layer.weight
def turned(rows, columns, kind, free):
    t.manual_seed(1)
    layer = R.orthogonal(nn.Linear(columns, rows), orthogonal_map=kind, use_trivialization=free)
    w = layer.weight
    g, = t.autograd.grad((w * t.arange(float(w.numel())).view(rows, columns)).sum(),
                         layer.parametrizations.weight.original)
    return w, g
def older(layer):
    state = dict(weight_g=t.ones(3, 1), weight_v=t.eye(3) + 1, bias=t.zeros(3))
    layer.load_state_dict(state)
    return layer
def spectral(**more):
    layer = R.spectral_norm(on(), **more)
    return layer.weight, layer.weight, layer.eval().weight, layer.parametrizations.weight[0]._u
def tall(): t.manual_seed(0); return t.randn(4, 3)
"""

KINDS = "Sym Plain Short Wide Number Two HalfTwo BackNumber BackShort BackWide BackNever".split()
PROGRAMS = [
    *(f"on({kind}()).weight" for kind in KINDS),
    *(f"on(Sym(), {kind}()).weight" for kind in KINDS),
    *(f"on({kind}(), unsafe=True).weight" for kind in KINDS),
    *(
        f"turned({rows}, {columns}, {kind!r}, {free})"
        for rows, columns in ((3, 3), (5, 3), (3, 5))
        for kind in (None, "matrix_exp", "cayley", "householder")
        for free in (True, False)
    ),
    *"""
on(Sym()).weight, list(calls)
on(Sym(), Sym()).weight, list(calls)
on(Sym(), name="none")
str(on(Sym())), list(on(Two()).state_dict())
given(on(Sym()), t.eye(3))
given(on(Plain()), t.eye(3))
given(on(Two()), t.eye(3))
given(on(BackNever()), t.eye(3))
type(P.remove_parametrizations(on(Sym()), "weight")).__name__
P.remove_parametrizations(on(Two()), "weight").weight
P.remove_parametrizations(on(Two()), "weight", False)
P.remove_parametrizations(on(), "weight")
P.type_before_parametrizations(on(Sym())).__name__
copy.deepcopy(on(Sym())).weight
P.is_parametrized(on(Sym())), P.is_parametrized(on(Sym()), "bias"), P.is_parametrized(on())
given(R.orthogonal(on()), t.linalg.qr(t.arange(9.0).view(3, 3) + t.eye(3))[0])
given(R.orthogonal(on(), use_trivialization=False), t.eye(3))
given(R.orthogonal(on(), orthogonal_map="householder", use_trivialization=False), t.eye(3))
given(R.orthogonal(on()), t.eye(2))
R.orthogonal(on(), orthogonal_map="other")
R.orthogonal(on(), "bias")
R.orthogonal(on(), "none")
list(R.orthogonal(on()).state_dict())
list(R.orthogonal(on(), use_trivialization=False).state_dict())
spectral()
spectral(n_power_iterations=3)
spectral(dim=1)
spectral(n_power_iterations=0)
spectral(dim=4)
R.spectral_norm(on(), "bias").bias
R.weight_norm(on()).weight, R.weight_norm(on(), dim=None).weight
given(R.weight_norm(on()), t.eye(3) + 1)
older(R.weight_norm(on())).weight
t.geqrf(tall())
t.orgqr(*t.geqrf(tall()))
t.ormqr(*t.geqrf(tall()), t.eye(4))
t.ormqr(*t.geqrf(tall()), t.eye(4), left=False, transpose=True)
""".strip().splitlines(),
]


def plain(value):
    """The value in plain Python, numbers to compare within rounding."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def outcome(name, text):
    engine = importlib.import_module(name)
    utils = importlib.import_module(f"{name}.nn.utils.parametrize")
    made = importlib.import_module(f"{name}.nn.utils.parametrizations")
    names = {"t": engine, "nn": engine.nn, "P": utils, "R": made}
    exec(MODULES, names)  # noqa: S102
    try:
        return plain(eval(text, names))  # noqa: S307
    except Exception as error:
        return type(error).__name__, str(error).replace(f"{name}.", "torch.")


def alike(a, b):
    if isinstance(a, float):
        return isinstance(b, float) and math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-5)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(alike, a, b))
    return a == b


@pytest.mark.parametrize("text", PROGRAMS)
def test_as_in_pytorch(text):
    ours, theirs = outcome("gradviz", text), outcome("torch", text)
    assert alike(ours, theirs), (ours, theirs)


def test_cached_reads_once():
    utils = importlib.import_module("gradviz.nn.utils.parametrize")
    names = {"t": gradviz, "nn": gradviz.nn, "P": utils}
    exec(MODULES, names)  # noqa: S102
    layer = names["on"](names["Sym"]())
    with names["P"].cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
