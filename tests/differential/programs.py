"""Random programs of views and in-place operations, written as lines of Python that run on either
engine.
"""

import random

VIEWS = [
    "{v}[{i}]",
    "{v}[{a}:{b}]",
    "{v}.t()",
    "{v}.view(-1)",
    "{v}.reshape(-1)",
    "{v}.narrow(0, 0, 1)",
    "{v}.unsqueeze(0)",
    "{v}.squeeze()",
    "{v}.transpose(0, -1)",
    "{v}.expand_as({v})",
    "{v}.detach()",
    "{v}.diagonal()",
    "{v}[..., 0]",
    "{v}.unbind(0)[0]",
    "{v}.split(1)[0]",
    "{v}.flatten()",
    "{v}.select(0, 0)",
    "{v}.permute(1, 0)",
    "{v}[::2]",
    "{v}.chunk(2)[0]",
    "{v}.data",
]
FRESH = [
    "{v} * 2",
    "{v} + {u}",
    "{v} * {u}",
    "{v}.exp()",
    "{v}.clone()",
    "{v}.sum(0)",
    "{v}.sin()",
    "{v}.contiguous()",
    "{v} ** 2",
    "{v}.mean()",
    "torch.cat([{v}, {v}])",
    "{v}.relu()",
    "{v}.sigmoid()",
    "{v} / 3",
    "-{v}",
    "{v}.tanh()",
]
WRITES = [
    "{v}.mul_(2)",
    "{v}.add_({u})",
    "{v}.zero_()",
    "{v}.fill_(1.5)",
    "{v}.mul_({u})",
    "{v}.exp_()",
    "{v}.copy_({u})",
    "{v}[0] = 3.0",
    "{v}.sin_()",
    "{v}.clamp_(-1, 1)",
    "{v}.sub_(1)",
    "{v}.t_()",
    "{v}.unsqueeze_(0)",
    "{v}.relu_()",
    "{v} += {u}",
    "{v} *= 0.5",
    "{v}.view(-1)[0] = 2.0",
    "{v}.sigmoid_()",
    "{v}.masked_fill_({v} > 0, 0.5)",
]


def program(seed, length=8):
    """Lines that make and modify ``t0``, ``t1``, …; the first is a tracked leaf, the second its
    clone.
    """
    r = random.Random(seed)
    lines = [
        "t0 = torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], dtype=torch.float64, "
        "requires_grad=True)",
        "t1 = t0.clone()",
        "t2 = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 4.0]], dtype=torch.float64)",
    ]
    count = 3
    for _ in range(length):
        kind = r.choice("vvffwwn")
        v, u = f"t{r.randrange(count)}", f"t{r.randrange(count)}"
        fill = {
            "v": v,
            "u": u,
            "i": r.choice([0, 1, -1]),
            "a": r.choice([0, 1]),
            "b": r.choice([1, 2, 3]),
        }
        if kind == "v":
            lines.append(f"t{count} = " + r.choice(VIEWS).format(**fill))
        elif kind == "f":
            lines.append(f"t{count} = " + r.choice(FRESH).format(**fill))
        elif kind == "w":
            lines.append(r.choice(WRITES).format(**fill))
            continue
        else:
            lines.append(
                f"with torch.no_grad(): t{count} = " + r.choice(VIEWS + FRESH).format(**fill)
            )
        count += 1
    return lines


def _numbers(t):
    return [f"{x:.6f}" for x in t.reshape(-1).tolist()]


def state(t):
    """What a person can see of a tensor."""
    grad_fn = type(t.grad_fn).__name__ if t.grad_fn is not None else None
    return (
        tuple(t.shape),
        _numbers(t.detach()),
        t.requires_grad,
        t.is_leaf,
        t._version,
        grad_fn,
        t._is_view(),
        t.is_contiguous(),
        [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1],
    )


def run(torch, lines):
    """What every line did: an exception, or the state of all tensors; at the end the gradients."""
    scope = {"torch": torch}
    out = []
    for line in lines:
        try:
            exec(line, scope)  # noqa: S102
            out.append("fine")
        except Exception as error:  # noqa: BLE001
            out.append(f"{type(error).__name__}: {str(error).splitlines()[0]}")
        names = sorted(
            (n for n in scope if n.startswith("t") and n[1:].isdigit()), key=lambda n: int(n[1:])
        )
        shown = {}
        for n in names:
            try:
                shown[n] = state(scope[n])
            except Exception as error:  # noqa: BLE001
                shown[n] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        out.append(shown)
    out.append(_gradients(torch, scope, names))
    return out


def _gradients(torch, scope, names):
    found = {}
    for n in names:
        t = scope[n]
        try:
            if not t.requires_grad:
                continue
            leaves = [scope[m] for m in names if scope[m].requires_grad and scope[m].is_leaf]
            got = torch.autograd.grad(t.sum(), leaves, retain_graph=True, allow_unused=True)
            found[n] = [None if g is None else _numbers(g) for g in got]
        except Exception as error:  # noqa: BLE001
            found[n] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return found


def first_difference(lines, a, b):
    """A readable account of where two runs part, None when they do not."""
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        if x == y:
            continue
        done = lines[: k // 2 + 1]
        if isinstance(x, dict) and isinstance(y, dict):
            n = next(n for n in x if x[n] != y.get(n))
            return "\n".join([*done, f"# {n}: {x[n]}", f"# but {y.get(n)}"])
        return "\n".join([*done, f"# {x}", f"# but {y}"])
    return None
