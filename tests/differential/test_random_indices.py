"""Random indices: what they read and write, their nodes and gradients, and what is refused,
compared with PyTorch. ``python tests/differential/test_random_indices.py FIRST LAST`` runs more.
"""

import itertools
import math
import random
import sys

import numpy as np
import pytest

import gradviz

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")

SHAPES = [(3,), (3, 4), (2, 3, 4), (3, 3), (), (2, 0, 3), (4, 3, 2, 2)]
VALUES = ["7.", "t.tensor(3.)", "t.tensor([1.,2.])", "x.detach()", "t.ones(1)", "5", "True"]
VALUES += ["t.tensor(2)"]


def entry(r, n):
    """One entry of an index for a dimension of ``n`` elements, now and then a wrong one."""
    kind, top = r.random(), max(n - 1, 0)
    if kind < 0.22:
        return str(r.randint(-n - 1, n))
    if kind < 0.45:
        ends = r.choice(["", "0", "1", "-1", "-2", "5"]), r.choice(["", "2", "-1", "9", "0"])
        return ":".join(ends) + r.choice(["", "", ":1", ":2", ":3"])
    if kind < 0.6:
        return r.choice(["None", "..."])
    if kind < 0.78:
        shape = r.choice([(2,), (1,), (2, 2), (3,), (0,), ()])
        found = [r.randint(-n, top) if r.random() < 0.97 else n for _ in range(math.prod(shape))]
        dtype = r.choice(["int64", "int64", "int32", "uint8"])
        return f"t.tensor({found}, dtype=t.{dtype}).reshape({shape})"
    if kind < 0.85:
        return str([r.randint(-n, top) for _ in range(r.randint(1, 3))])
    if kind < 0.93:
        return f"t.tensor({[r.random() < 0.5 for _ in range(n + (r.random() > 0.9))]})"
    if kind < 0.95:
        return r.choice(["True", "False", "t.tensor(True)", "t.tensor(1)"])
    return r.choice([f"np.array([{r.randint(0, top)}])", "slice(1, None)", "slice(None, 2)"])


def program(seed):
    r = random.Random(seed)
    shape = r.choice(SHAPES)
    entries = [
        entry(r, shape[min(d, len(shape) - 1)] if shape else 1)
        for d in range(r.randint(1, len(shape) + 1))
    ]
    if entries.count("...") > 1:
        entries = [one for one in entries if one != "..."] + ["..."]
    index = ",".join(entries)
    base = f"t.arange({math.prod(shape)}.).reshape({shape})"
    if r.random() < 0.2 and len(shape) > 1:
        base += ".transpose(0,-1)"
    lines = [f"x={base}.clone().requires_grad_()", "y=x*1"]
    seen = "out=(y.tolist(),y.grad_fn.name(),y._version)"
    how = r.random()
    if how < 0.5:
        seen = "out=(z.tolist(),z.shape,z.grad_fn and z.grad_fn.name(),z._is_view());y=z"
        lines.append(f"z=y[{index}]")
    elif how < 0.85:
        lines.append(f"y[{index}]={r.choice(VALUES)}")
    else:
        lines.append(f"y[{index}]{r.choice(['+=2', '*=3.', '-=t.ones(1)'])}")
    return "\n".join([*lines, seen, "(y*y).sum().backward()", "out+=(x.grad.tolist(),)"])


def outcome(engine, text):
    names = {"t": engine, "np": np}
    try:
        exec(text, names)  # noqa: S102
        return repr(names["out"]).replace("gradviz.", "torch.")
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def differs(seed):
    text = program(seed)
    ours, theirs = outcome(gradviz, text), outcome(torch, text)
    return None if ours == theirs else f"seed {seed}\n{text}\nPyTorch: {theirs}\ngradviz: {ours}"


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("first", range(0, 1000, 200))
def test_as_in_pytorch(first):
    assert not list(filter(None, map(differs, range(first, first + 200))))


def main(first, last):
    found = list(filter(None, map(differs, range(first, last))))
    print(*itertools.islice(found, 10), f"{len(found)} of {last - first} differ", sep="\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
