"""The same expression on PyTorch and on gradviz, and every difference a person could see, as lines
of text.
"""

import re
import warnings

import numpy as np

TOLERANCE = {
    "bfloat16": 1e-2,
    "float16": 2e-3,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float64": 1e-9,
    "complex128": 1e-9,
}


def arrays(seed=0):
    """The inputs an expression may name: their letters say what values and shapes they have."""
    r = np.random.default_rng(seed)
    normal = r.standard_normal
    square = normal((3, 3)) + 3 * np.eye(3)
    return {
        "x": normal((3, 4)),
        "y": normal((3, 4)),
        "p": r.uniform(0.5, 2, (3, 4)),
        "q": r.uniform(0.5, 2, (3, 4)),
        "u": r.uniform(-0.9, 0.9, (3, 4)),
        "a": r.uniform(1.1, 3, (3, 4)),
        "v": normal(4),
        "w": normal(4),
        "h": normal(3),
        "s": np.asarray(0.7),
        "col": normal((3, 1)),
        "m": normal((4, 5)),
        "B": normal((2, 3, 4)),
        "C": normal((2, 4, 3)),
        "D": normal((2, 1, 3, 4)),
        "S": square,
        "P": square @ square.T,
        "SB": normal((2, 3, 3)) + 3 * np.eye(3),
        "z": normal((3, 4)) + 1j * normal((3, 4)),
        "zv": normal(4) + 1j * normal(4),
        "ZS": square + 1j * normal((3, 3)),
        "i": r.integers(-4, 5, (3, 4)),
        "j": r.integers(1, 5, (3, 4)),
        "n": r.integers(0, 3, (3, 4)),
        "iv": np.asarray([2, 0, 2]),
        "b": r.random((3, 4)) > 0.5,
        "bv": np.asarray([True, False, True, True]),
        "e": np.zeros((0, 4)),
        "one": normal((1, 3, 1)),
        "zeros": np.where(r.random((3, 4)) > 0.7, 0.0, normal((3, 4))),
        "ties": r.integers(0, 3, (3, 4)).astype(float),
        "n1": normal((3, 4)).astype(np.float32),
        "im": normal((2, 3, 6, 6)),
        "seq": normal((2, 3, 8)),
        "vol": normal((1, 2, 4, 5, 4)),
        "k1": normal((4, 3, 3)),
        "k2": normal((4, 3, 3, 3)),
        "k3": normal((2, 2, 2, 2, 2)),
        "r2": np.full((2, 3, 2), 0.3),
        "r3": np.full((1, 2, 3), 0.3),
    }


INPUTS = arrays()
_WORD = re.compile(r"(?<![\w.'\"])([A-Za-z]\w*)(?![\w'\"]*=[^=])")


def names_in(expression):
    """The inputs that an expression uses, in order."""
    return [n for n in dict.fromkeys(_WORD.findall(expression)) if n in INPUTS]


def evaluate(engine, expression, given, tracked):
    """(inputs, results or the exception) of ``expression`` with ``torch`` bound to ``engine``."""
    inputs = {}
    for name, array in given.items():
        t = _tensor(engine, array)
        inputs[name] = t.requires_grad_() if tracked and _floating(t) else t
    scope = {"torch": engine, "F": engine.nn.functional, **inputs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if "\n" in expression or ";" in expression:
                exec(expression, scope)  # noqa: S102
                return inputs, scope["out"]
            return inputs, eval(expression, scope)  # noqa: S307
        except Exception as error:  # noqa: BLE001
            return inputs, error


def _tensor(engine, given):
    """A tensor from an array, or from ``(build, array)`` by ``build(engine, array)``."""
    if isinstance(given, tuple):
        build, array = given
        return build(engine, array)
    t = engine.tensor(np.ascontiguousarray(given))
    return t.t().contiguous().t() if given.ndim == 2 and not given.flags.c_contiguous else t


def _floating(t):
    return t.is_floating_point() or t.is_complex()


def flatten(result, Tensor):
    """All tensors of a result, and what is not a tensor."""
    if isinstance(result, Tensor) or not isinstance(result, (tuple, list)):
        return [result]
    return [leaf for part in result for leaf in flatten(part, Tensor)]


def numbers(t):
    """The values of a tensor of either engine as an array."""
    t = t.detach()
    if hasattr(t, "resolve_conj"):
        t = t.resolve_conj()
    if hasattr(t, "resolve_neg"):
        t = t.resolve_neg()
    return t.float().numpy() if "bfloat16" in str(t.dtype) else t.numpy(force=True)


def same_numbers(a, b, loose=1.0, dtype=None):
    """Whether two arrays agree to the precision of their dtype, or of the one named."""
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    tol = TOLERANCE.get(str(dtype or a.dtype).removeprefix("torch."), 1e-6) * loose
    return bool(np.allclose(a, b, rtol=tol, atol=tol, equal_nan=True))


def describe_value(kind, a, b, loose=False):
    """Differences of two results: type, dtype, shape, strides, values."""
    if type(a).__name__.lower() != type(b).__name__.lower() and not (
        hasattr(a, "detach") and hasattr(b, "detach")
    ):
        return [f"{kind}: {type(a).__name__} {a!r} but {type(b).__name__} {b!r}"]
    if not hasattr(a, "detach"):
        if isinstance(a, np.ndarray):
            return [] if same_numbers(a, b) else [f"{kind}: {a} but {b}"]
        same = str(a) == str(b).replace("gradviz", "torch") or (
            isinstance(a, float) and abs(a - b) <= 1e-6 * max(1, abs(a))
        )
        return [] if same else [f"{kind}: {a!r} but {b!r}"]
    out = []
    for what in ("dtype", "shape", "requires_grad", "is_leaf"):
        first, second = str(getattr(a, what)), str(getattr(b, what))
        if first != second:
            out.append(f"{kind}.{what}: {first} but {second}")
    if tuple(a.shape) != tuple(b.shape):
        return out
    if loose is not True and _strides(a) != _strides(b):
        out.append(f"{kind}.stride: {a.stride()} but {b.stride()}")
    if loose is not True and a._is_view() != b._is_view():
        out.append(f"{kind}._is_view: {a._is_view()} but {b._is_view()}")
    if not same_numbers(numbers(a), numbers(b), dtype=a.dtype):
        out.append(f"{kind} values: {numbers(a).ravel()[:4]} but {numbers(b).ravel()[:4]}")
    return out


def _strides(t):
    """Strides that mean something: of dimensions with more than one element, of tensors that have
    any.
    """
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1] if t.numel() else []


def graph(node, depth=12):
    """Class names and edges below a node as nested text."""
    if node is None:
        return "None"
    if depth == 0:
        return "…"
    inner = ", ".join(
        f"{graph(f, depth - 1)}{f'#{k}' if k else ''}" for f, k in node.next_functions
    )
    name = type(node).__name__
    return f"{name}({inner})" if inner else name


def saved_names(node):
    """The ``_saved_*`` names of a node."""
    names = [n for n in dir(node) if n.startswith("_saved_")]
    # sizes and strides of the factors of a product are kept by PyTorch only to choose layouts
    product = type(node).__name__ in ("MmBackward0", "AddmmBackward0")
    return sorted(n for n in names if not (product and n.endswith(("sym_sizes", "sym_strides"))))


def differences(torch, engine, expression, given=None, order=2, loose=False):
    """Lines that say where gradviz differs from PyTorch for one expression; empty when nowhere.

    ``loose`` compares values and derivatives only: for what PyTorch puts together from other
    operations in its own way.
    """
    given = given or {n: INPUTS[n] for n in names_in(expression)}
    _, plain_a = evaluate(torch, expression, given, False)
    _, plain_b = evaluate(engine, expression, given, False)
    out = compare_results("plain", torch, engine, plain_a, plain_b, loose)
    if out or isinstance(plain_a, Exception):
        return out
    ins_a, res_a = evaluate(torch, expression, given, True)
    if not any(t.requires_grad for t in ins_a.values()):
        return out
    ins_b, res_b = evaluate(engine, expression, given, True)
    out = compare_results("tracked", torch, engine, res_a, res_b, loose)
    if out or isinstance(res_a, Exception):
        return out
    fa, fb = flatten(res_a, torch.Tensor), flatten(res_b, engine.Tensor)
    for a, b in zip(fa, fb, strict=True):
        if loose or not hasattr(a, "grad_fn") or a.grad_fn is None:
            continue
        ga, gb = graph(a.grad_fn), graph(b.grad_fn)
        if ga != gb:
            out.append(f"graph: {ga} but {gb}")
        elif saved_names(a.grad_fn) != saved_names(b.grad_fn):
            out.append(
                f"saved of {type(a.grad_fn).__name__}: {saved_names(a.grad_fn)} but "
                f"{saved_names(b.grad_fn)}"
            )
    return out + derivatives(torch, engine, (ins_a, fa), (ins_b, fb), order)


def compare_results(kind, torch, engine, a, b, loose):
    if isinstance(a, Exception) or isinstance(b, Exception):
        same = type(a).__name__ == type(b).__name__ and _plain(a) == _plain(b)
        return [] if same else [f"{kind}: {_shown(a)} but {_shown(b)}"]
    fa, fb = flatten(a, torch.Tensor), flatten(b, engine.Tensor)
    if len(fa) != len(fb):
        return [f"{kind}: {len(fa)} results but {len(fb)}"]
    return [
        line
        for k, (x, y) in enumerate(zip(fa, fb, strict=True))
        for line in describe_value(f"{kind}[{k}]", x, y, loose)
    ]


def _plain(error):
    """A message without what belongs to PyTorch's C++ side."""
    return str(error).split("\nException raised from")[0].split("\n\n")[0].strip()


def _shown(x):
    return (
        f"{type(x).__name__}: {_plain(x)}"
        if isinstance(x, Exception)
        else f"a result ({type(x).__name__})"
    )


def derivatives(torch, engine, first, second, order):
    """First and second derivatives with fixed seeds."""
    rounds = []
    for side, (ins, outs) in ((torch, first), (engine, second)):
        roots = [t for t in outs if hasattr(t, "requires_grad") and t.requires_grad]
        leaves = [t for t in ins.values() if t.requires_grad and t.is_leaf]
        found = []
        rng = np.random.default_rng(7)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(order):
                if not roots:
                    break
                seeds = [_seed(side, t, rng) for t in roots]
                try:
                    grads = side.autograd.grad(
                        roots, leaves, seeds, create_graph=True, allow_unused=True
                    )
                except Exception as error:  # noqa: BLE001
                    found.append(error)
                    break
                found.append(grads)
                roots = [g for g in grads if g is not None and g.requires_grad]
        rounds.append(found)
    return _compare_rounds(*rounds)


def _seed(side, t, rng):
    shape = tuple(t.shape)
    seed = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if t.is_complex() else 0)
    return side.tensor(np.asarray(seed)).to(t.dtype)


def _compare_rounds(a, b):
    out = []
    for k, (x, y) in enumerate(zip(a, b, strict=False)):
        if isinstance(x, Exception) or isinstance(y, Exception):
            if type(x) is not type(y):
                out.append(f"derivative {k + 1}: {_shown(x)} but {_shown(y)}")
            return out
        for n, (g, w) in enumerate(zip(x, y, strict=True)):
            if g is None or w is None:
                # an undefined gradient and zeros mean the same further up
                if k == 0 and (g is None) != (w is None):
                    out.append(
                        f"derivative {k + 1} of input {n}: {g if g is None else 'a gradient'} "
                        f"but {w if w is None else 'a gradient'}"
                    )
                continue
            if tuple(g.shape) != tuple(w.shape) or str(g.dtype) != str(w.dtype):
                out.append(
                    f"derivative {k + 1} of input {n}: {g.dtype} {tuple(g.shape)} but {w.dtype} "
                    f"{tuple(w.shape)}"
                )
            elif not same_numbers(numbers(g), numbers(w), 10, g.dtype):
                out.append(
                    f"derivative {k + 1} of input {n}: {numbers(g).ravel()[:4]} but "
                    f"{numbers(w).ravel()[:4]}"
                )
    return out
