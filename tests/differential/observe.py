"""Run one source text on an engine, statement by statement, and write down all that a person could
see.
"""

import math
import re
import warnings

PRELUDE = """
log = []

def show(x):
    if isinstance(x, torch.Tensor):
        return [str(x.dtype).split(".")[-1], list(x.shape), x.detach().reshape(-1).tolist()]
    if isinstance(x, (tuple, list)):
        return [show(y) for y in x]
    return x if x is None or isinstance(x, (bool, int, float, str)) else type(x).__name__

def note(tag, reply=None):
    def hook(*args):
        log.append([tag, show(args)])
        return None if reply is None else reply(*args)
    return hook

def tell(*what):
    log.append(show(what))
"""


def plain(x):
    """Complex numbers as pairs, tuples as lists, so that what was seen can be written as JSON."""
    if isinstance(x, complex):
        return [x.real, x.imag]
    return [plain(y) for y in x] if isinstance(x, (list, tuple)) else x


def whole(error):
    """Type and message of an exception, addresses taken out."""
    text = re.sub("0x[0-9a-f]+", "0x", str(error).replace("gradviz.", "torch."))
    return [type(error).__name__, text]


def attempt(look):
    """What ``look()`` gives, or the exception as text."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001
        return whole(error)


def graph(root, limit=60):
    """Names and edges of the nodes below ``root``, numbered as they are met."""
    found, order, lines, held = {id(root): 0}, [root], [], []
    while order and len(lines) < limit:
        node = order.pop()
        held.append(node.next_functions)
        edges = []
        for child, nr in node.next_functions:
            if child is None:
                edges.append([None, nr])
                continue
            if id(child) not in found:
                found[id(child)] = len(found)
                order.append(child)
            edges.append([found[id(child)], nr])
        lines.append([found[id(node)], type(node).__name__, node.name(), edges])
    return lines


def values(t):
    """Dtype, shape and elements."""
    return [str(t.dtype).split(".")[-1], list(t.shape), plain(t.detach().reshape(-1).tolist())]


def derived(statements):
    """Names made of gradients or of inference tensors: how many writes they took is PyTorch's own
    affair.
    """
    found = set()
    for statement in statements:
        made, _, source = statement.partition(" = ")
        words = set(re.findall(r"[A-Za-z]\w*", source)) | (
            {"d"} if "inference_mode()" in statement or ".grad" in source else set()
        )
        if any(re.fullmatch(r"d\d*", w) or w in found for w in words):
            found |= set(re.findall(r"[vd]\d+|rest|one", made))
    return found


def describe(name, t, with_graph=True, names=None):
    """Every property of a tensor that the two engines share; of a gradient (d…) its values.
    ``names``: of the tensors by id.
    """
    seen = {
        "values": attempt(lambda: values(t)),
        "grad mode": [t.requires_grad, attempt(lambda: t.is_leaf)],
    }
    if name[0] == "d":
        return seen if with_graph else {"values": seen["values"]}
    for name in (
        "_version",
        "output_nr",
        *(["retains_grad"] if seen["grad mode"] == [True, False] else []),
    ):
        seen[name] = attempt(lambda name=name: getattr(t, name))
    seen["_is_view"] = t._is_view()
    seen["_base"] = (names or {}).get(id(t._base), t._base is not None)
    seen["is_inference"] = t.is_inference()
    seen["grad"] = attempt(
        lambda: None if t.grad is None else [values(t.grad), with_graph and t.grad.requires_grad]
    )
    if with_graph:
        seen["graph"] = attempt(lambda: None if t.grad_fn is None else graph(t.grad_fn))
    return seen


def named(scope, Tensor):
    """The tensors of a scope; those that are the same object as a gradient (d…) pass for one."""
    found = [(n, scope[n]) for n in sorted(scope) if isinstance(scope[n], Tensor)]
    gradients = {id(t) for n, t in found if n[0] == "d"}
    return [(f"d {n}" if id(t) in gradients else n, t) for n, t in found]


def observe(torch, statements, with_graph=True, given=""):
    """What the statements did: errors of each, the log of the hooks, and every tensor in the
    end. ``given``: definitions that they use.
    """
    scope = {"torch": torch}
    exec(PRELUDE + given, scope)  # noqa: S102
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, statement in enumerate(statements):
            try:
                exec(compile(statement, f"<statement {k}>", "exec"), scope)  # noqa: S102
            except Exception as error:  # noqa: BLE001
                errors.append([k, *whole(error)])
        found = named(scope, torch.Tensor)
        names = {id(t): n for n, t in reversed(found) if n[0] != "d"}
        tensors = {n: describe(n, t, with_graph, names) for n, t in found}
        for name in derived(statements) & set(tensors):
            for what in ("_version", "_is_view", "_base"):
                tensors[name].pop(what, None)
    seen = {"errors": errors, "log": plain(scope["log"]), "tensors": tensors}
    scope.clear()
    torch.set_grad_enabled(True)
    return seen


def differences(a, b, where=""):
    """Paths at which two observations differ, floats compared to rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = sorted(set(a) | set(b))
        return [
            d
            for k in keys
            for d in differences(a.get(k, "absent"), b.get(k, "absent"), f"{where}.{k}")
        ]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [
            d
            for k, (x, y) in enumerate(zip(a, b, strict=True))
            for d in differences(x, y, f"{where}[{k}]")
        ]
    return [] if same(a, b) else [f"{where}: {a!r} but {b!r}"]


def same(a, b):
    """Equal, or two floats that differ by rounding."""
    if (
        isinstance(a, bool)
        or isinstance(b, bool)
        or not (isinstance(a, (int, float)) and isinstance(b, (int, float)))
    ):
        return a == b
    return (
        (math.isnan(a) and math.isnan(b))
        or a == b
        or math.isclose(a, b, rel_tol=2e-5, abs_tol=2e-6)
    )
