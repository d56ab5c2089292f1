"""Programs as text that run on gradviz and on PyTorch, and what is compared of them."""

import importlib
import json
import math
import warnings
from pathlib import Path

RECORDED = Path(__file__).parent / "recorded.json"
SMALL = 3
UNDEFINED = "PyTorch has no such derivative"


def summary(t):
    """Shape, sum, sum of absolute values and first elements of a tensor; None for None."""
    if t is None:
        return None
    a = t.detach().double().reshape(-1)
    return [list(t.shape), a.sum().item(), a.abs().sum().item(), a[:SMALL].tolist()]


def names(t, limit=6):
    """Class names along the first edges from a result."""
    out, node = [], t.grad_fn
    while node is not None and len(out) < limit:
        out.append(type(node).__name__)
        node = node.next_functions[0][0] if node.next_functions else None
    return out


def message(function):
    """Type and text of what ``function`` raises; "nothing" otherwise."""
    try:
        function()
    except Exception as error:
        return [type(error).__name__, str(error).replace("gradviz.", "torch.")]
    return "nothing"


def derivatives(torch, f, shapes, second=True):
    """Value and two derivatives of ``f`` at normal numbers of the given shapes, in float64."""
    xs = [torch.randn(*s, dtype=torch.float64).requires_grad_() for s in shapes]
    y = f(*xs)
    y = y[0] if isinstance(y, tuple) else y
    first = torch.autograd.grad(
        (y * torch.cos(y)).sum(), xs, create_graph=second, allow_unused=True
    )
    out = [summary(y), names(y), [summary(g) for g in first]]
    wanted = [(g * g).sum() for g in first if second and g is not None and g.requires_grad]
    if wanted:
        total = wanted[0]
        for w in wanted[1:]:
            total = total + w
        out.append(_second(torch, total, xs))
    return out


def _second(torch, total, xs):
    try:
        return [summary(g) for g in torch.autograd.grad(total, xs, allow_unused=True)]
    except RuntimeError as error:
        if "is not implemented" not in str(error):
            raise
        return UNDEFINED


def layer(torch, module, *inputs):
    """Printed form, parameters, output and gradients of a module called once."""
    out = module(*inputs)
    first = out
    while not isinstance(first, torch.Tensor):
        first = first[0]
    first.sin().sum().backward()
    return [
        repr(module),
        {k: summary(v) for k, v in module.state_dict().items()},
        summary(first),
        [summary(p.grad) for p in module.parameters()],
        [summary(x.grad) for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad],
    ]


def run(engine, code):
    """The ``result`` that a program sets, as JSON would keep it."""
    torch = importlib.import_module(engine)
    scope = {"torch": torch, "summary": summary, "names": names, "message": message}
    for name, place in (
        ("nn", "nn"),
        ("F", "nn.functional"),
        ("optim", "optim"),
        ("amp", "amp"),
        ("data", "utils.data"),
        ("checkpoint", "utils.checkpoint"),
        ("utils", "nn.utils"),
        ("dist", "distributions"),
    ):
        scope[name] = importlib.import_module(f"{engine}.{place}")
    scope["swa"] = importlib.import_module(f"{engine}.optim.swa_utils")
    scope["schedules"] = importlib.import_module(f"{engine}.optim.lr_scheduler")
    scope["derivatives"] = lambda *a, **k: derivatives(torch, *a, **k)
    scope["layer"] = lambda *a: layer(torch, *a)
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, "<program>", "exec"), scope)
    return json.loads(json.dumps(scope["result"], default=str))


def same(a, b, tolerance=2e-4):
    """Equal but for rounding; what PyTorch cannot compute is not compared."""
    if b == UNDEFINED:
        return True
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b or a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], tolerance) for k in a)
    return a == b


def recorded():
    """What PyTorch gave for every program, by the program's text."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))
