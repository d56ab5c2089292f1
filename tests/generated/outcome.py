"""What a call does on an engine, as plain data, and where two such outcomes differ."""

import math
import re
import warnings

import numpy as np

TOLERANCE = {
    "bfloat16": 2e-2,
    "float16": 3e-3,
    "float32": 3e-5,
    "complex64": 3e-5,
    "float64": 1e-9,
    "complex128": 1e-9,
}
RECORDED_DIGITS = 1e-6
ROOTS = (2, 8, 32, 45, 14, 56, 58, 66)  # primitive roots modulo 83
LEVELS = 83


def sequence(n, seed):
    """``n`` integers from 1 to 82, different ones as long as they last; the same on any machine."""
    root, value = ROOTS[seed % len(ROOTS)], 1 + seed * 31 % 82
    found = []
    for _ in range(n):
        found.append(value)
        value = value * root % LEVELS
    return np.asarray(found, np.float64)


def numbers(dtype, shape, seed, kind="A"):
    """The values of an input: what its letter says, see operations.txt."""
    n = math.prod(shape)
    v = sequence(n, seed).reshape(shape)
    letter, modulus = kind[0], int(kind[1:] or 5)
    if dtype == "bool":
        return v % 2 == 0
    if letter == "I":
        return np.asarray(v % modulus, np.int64)
    if "int" in dtype:
        v = np.abs(v - 41) // 6 if dtype == "uint8" or letter in "PQH" else (v - 41) // 6
        return v.astype(np.int64)
    if letter == "P":
        v = (v + 8) / 32
    elif letter == "Q":
        v = (v + 40) / 32
    elif letter == "H":
        v = v / 128 + 1 / 8
    elif letter == "U":
        v = (v - 41) / 64
    else:
        v = (v - 41) / 16
    if letter == "S" and v.ndim > 1 and v.shape[-1] == v.shape[-2]:
        v = v + 6 * np.eye(v.shape[-1])
    if letter == "D":
        v = v @ np.swapaxes(v, -1, -2) + np.eye(v.shape[-2]) if v.ndim > 1 else v
    if letter == "N" and v.size:
        flat = v.reshape(-1)
        for k, odd in enumerate((np.nan, np.inf, -0.0, -np.inf)):
            flat[(seed + 3 * k) % flat.size] = odd
    if "complex" in dtype and letter not in "PQUHD":
        v = v + 1j * sequence(n, seed + 1).reshape(shape) / 16
    return v


def laid_out(t, shape, layout):
    """``t`` in memory as the layout says; ``t`` has the shape that ``stored`` told."""
    if layout == "transposed":
        return t.permute(tuple(reversed(range(len(shape)))))
    if layout == "strided":
        return t[..., ::2]
    if layout == "expanded":
        return t.expand(shape)
    return t[1:] if layout == "offset" else t


def stored(shape, layout):
    if layout == "transposed":
        return tuple(reversed(shape))
    if layout == "strided":
        return (*shape[:-1], shape[-1] * 2)
    if layout == "expanded":
        return (1, *shape[1:])
    return (shape[0] + 1, *shape[1:]) if layout == "offset" else shape


class Inputs:
    """Makes the tensors that a call names, and remembers them."""

    def __init__(self, engine, tracked):
        self.engine, self.tracked = engine, tracked
        self.leaves, self.made = [], []

    def __call__(self, dtype, shape, seed, kind="A", layout=""):
        array = numbers(dtype, stored(shape, layout), seed, kind)
        base = self.engine.tensor(array).to(getattr(self.engine, dtype))
        if self.tracked and (base.is_floating_point() or base.is_complex()):
            self.leaves.append(base.requires_grad_())
        base = base.clone()  # memory that may grow
        made = laid_out(base, shape, layout)
        self.made.append(made)
        return made


def outcome(engine, text, tracked=False):
    """Everything a person could see of the call ``text``."""
    inputs = Inputs(engine, tracked)
    *makes, expression = text.split("; ")
    scope = {"torch": engine, "t": inputs, "inf": math.inf}
    for make in makes:
        exec(make, scope)  # noqa: S102
    before = _quietly(inputs.made)
    seen, result = {}, None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = eval(expression, scope)  # noqa: S307
        except Exception as error:  # noqa: BLE001
            seen["error"] = told(error)
    seen["warnings"] = sorted(f"{w.category.__name__}: {words(w.message)}" for w in warned)
    if "error" not in seen:
        results = flat(result, engine.Tensor)
        seen["results"] = [shown(r, inputs.made, engine.Tensor) for r in results]
        if tracked:
            seen["derivatives"] = derivatives(engine, results, inputs)
    after = _quietly(inputs.made)
    changed = [k for k in range(len(after)) if not alike(before[k], after[k])]
    seen["changed"] = {str(k): after[k] for k in changed}
    return seen


def _quietly(tensors):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [plain(t) for t in tensors]


def words(message):
    """A message without what belongs to the C++ side."""
    text = str(message).split("\nException raised from")[0].split(" (Triggered internally")[0]
    # Python says where a type is from only of those that are written in C
    return (
        text.strip().replace("gradviz", "torch").replace("'dtype' object", "'torch.dtype' object")
    )


def told(error):
    return [type(error).__name__, words(error)]


def flat(result, tensor):
    if isinstance(result, tensor) or not isinstance(result, (tuple, list)):
        return [result]
    return [leaf for part in result for leaf in flat(part, tensor)]


def values(t):
    """The elements of a tensor of either engine, complex ones as pairs."""
    t = t.detach().clone()  # memory that NumPy has seen may not grow
    t = t.resolve_conj().resolve_neg() if t.is_complex() else t
    kind = str(t.dtype).removeprefix("torch.")
    if kind in ("bfloat16", "complex32"):
        t = t.to(t.float().dtype if kind == "bfloat16" else (t.real.float() * 1j).dtype)
    array = t.numpy(force=True)
    array = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    return array.astype(np.int64 if array.dtype.kind in "biu" else np.float64).tolist()


def plain(t):
    return {
        "dtype": str(t.dtype).removeprefix("torch."),
        "shape": list(t.shape),
        "values": values(t),
    }


def shown(r, inputs, tensor):
    """A result as data: values, layout, and whose memory it is."""
    if not isinstance(r, tensor):
        return repr(r).replace("gradviz", "torch") if not isinstance(r, float) else r
    seen = plain(r)
    steps = [s for s, n in zip(r.stride(), r.shape, strict=True) if n > 1]
    seen["stride"] = steps if r.numel() else []
    seen["same"] = next((k for k, t in enumerate(inputs) if t is r), -1)
    place = r.untyped_storage().data_ptr() if r.numel() else 0
    seen["memory"] = next(
        (k for k, t in enumerate(inputs) if place and t.untyped_storage().data_ptr() == place), -1
    )
    seen["node"] = type(r.grad_fn).__name__ if r.grad_fn is not None else str(r.requires_grad)
    return seen


def derivatives(engine, results, inputs):
    """First and second derivatives of the results, with seeds of their own."""
    roots = [r for r in results if isinstance(r, engine.Tensor) and r.requires_grad]
    found = []
    for order in (0, 1):
        if not roots:
            break
        seeds = [
            engine.tensor(numbers(kind, tuple(r.shape), 7 + k + order)).to(r.dtype)
            for k, r in enumerate(roots)
            for kind in ["complex128" if r.is_complex() else "float64"]
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                grads = engine.autograd.grad(
                    roots, inputs.leaves, seeds, create_graph=True, allow_unused=True
                )
            except Exception as error:  # noqa: BLE001
                found.append(told(error))
                break
        found.append([None if g is None else plain(g) for g in grads])
        roots = [g for g in grads if g is not None and g.requires_grad]
    return found


# ---------------------------------------------------------------- comparing
def summary(found):
    """Few numbers that tell values: what is recorded."""
    if len(found) < 4:
        return found
    weighted = [v * ((7 * k) % 11 + 1) / 12 for k, v in enumerate(found)]
    return [found[0], found[-1], math.fsum(weighted) if _finite(weighted) else math.nan]


def recorded(seen):
    """An outcome with summaries in place of values, to be written down."""
    if isinstance(seen, list):
        return [recorded(part) for part in seen]
    if not isinstance(seen, dict):
        return seen
    told = {key: recorded(part) for key, part in seen.items() if key != "values"}
    if "values" in seen:
        exact = seen["dtype"] not in TOLERANCE
        told["values"] = [v if exact else float(f"{v:.7g}") for v in summary(seen["values"])]
        told["summed"] = len(seen["values"])
    return told


def _finite(found):
    return all(math.isfinite(v) for v in found)


def scale(found):
    """How large a sum of these values may be."""
    return sum(abs(v) for v in found if math.isfinite(v)) if len(found) > 3 else 0.0


def alike(a, b, loose=1.0):
    """Whether two tensors as data have the same values to the precision of their dtype."""
    x, y, sum_of = a["values"], b["values"], 0.0
    if "summed" in a:
        if a["summed"] != len(y):
            return False
        y, sum_of = summary(y), scale(y)
    if a["dtype"] not in TOLERANCE:
        return x == y
    if len(x) != len(y):
        return False
    tol = TOLERANCE[a["dtype"]] * loose
    if "summed" in a:
        tol = max(tol, RECORDED_DIGITS)
    x, y = np.asarray(x, float), np.asarray(y, float)
    return bool(np.allclose(x, y, rtol=tol, atol=tol * max(1.0, sum_of), equal_nan=True))


def differences(a, b, once=()):
    """Lines that say where outcome ``b`` is not as outcome ``a``; ``once``: warnings that a process
    gives once, which may have been given before.
    """
    if a.get("error") != b.get("error"):
        if _of_the_build(a.get("error")):
            return []
        if _both_miscounted(a.get("error"), b.get("error")):
            return []
        return [f"error: {a.get('error', 'none')} but {b.get('error', 'none')}"]
    out = []
    told = [[w for w in x["warnings"] if w.partition(": ")[2] not in once] for x in (a, b)]
    if told[0] != told[1]:
        out.append(f"warnings: {told[0]} but {told[1]}")
    if "error" in a:
        return out  # what a call that failed has written by then is nobody's contract
    out += _apart("changed", a["changed"], b["changed"])
    if len(a["results"]) != len(b["results"]):
        return [*out, f"results: {len(a['results'])} but {len(b['results'])}"]
    for k, (x, y) in enumerate(zip(a["results"], b["results"], strict=True)):
        out += _compared(f"result {k}" if k else "result", x, y)
    return out or _derivatives_apart(a.get("derivatives", []), b.get("derivatives", []))


# Python's own words about a call: methods that are called most take no detour to say PyTorch's.
_PYTHON = re.compile(
    r"(Tensor\.)?\w+\(\) (takes .* given|missing .*positional argument.*|"
    r"got an unexpected keyword argument .*|got multiple values for argument .*)"
)


def _of_the_build(error):
    """Whether PyTorch failed on account of a library that it happens to be built with."""
    return error is not None and re.match(r"MKL FFT error|false INTERNAL ASSERT FAILED", error[1])


def _both_miscounted(a, b):
    return (a and a[0]) == (b and b[0]) == "TypeError" and _PYTHON.fullmatch(b[1]) is not None


def _apart(label, a, b):
    if a.keys() != b.keys():
        return [f"{label}: inputs {sorted(a)} but {sorted(b)}"]
    return [line for k in a for line in _compared(f"{label} {k}", a[k], b[k])]


def _compared(label, a, b, loose=1.0):
    if not (isinstance(a, dict) and isinstance(b, dict)):
        same = a == b or isinstance(a, float) and isinstance(b, float) and _near(a, b)
        return [] if same else [f"{label}: {a} but {b}"]
    out = [
        f"{label} {what}: {a[what]} but {b.get(what)}"
        for what in a
        if what in _PLAIN and a[what] != b.get(what)
    ]
    if a["dtype"] == b["dtype"] and a["shape"] == b["shape"] and not alike(a, b, loose):
        out.append(f"{label} values: {a['values'][:6]} but {b['values'][:6]}")
    return out


_PLAIN = ("dtype", "shape", "stride", "same", "memory", "node")


def _near(a, b):
    return math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-6) or a != a and b != b


def _derivatives_apart(a, b):
    out = []
    for k, (x, y) in enumerate(zip(a, b, strict=False)):
        label = f"derivative {k + 1}"
        if isinstance(x[0], str) or isinstance(y[0], str):
            # derivatives that PyTorch lacks are no difference
            lacking = isinstance(x[0], str) and "not implemented" in x[1]
            same = x == y or lacking and not isinstance(y[0], str)
            return out if same else [*out, f"{label}: {_short(x)} but {_short(y)}"]
        for n, (g, w) in enumerate(zip(x, y, strict=True)):
            if g is None or w is None:
                # an undefined gradient and zeros mean the same further up
                if k == 0 and g is not w:
                    out.append(f"{label} of {n}: {_short(g)} but {_short(w)}")
            else:
                out += _compared(f"{label} of {n}", g, w, 10.0)
        if out:
            return out
    return out


def _short(x):
    return x if x is None or isinstance(x[0] if isinstance(x, list) else 0, str) else "gradients"
