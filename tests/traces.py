"""Made-up traces for the tests of widgets, exports and the notebook: no engine needed."""

from gradviz.watch.model import (
    LEAF,
    OPERATION,
    PARAMETER,
    UNTRACKED,
    Edge,
    Finding,
    Node,
    Place,
    Saved,
)
from gradviz.watch.recorder import Recorder

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>&'\x00\ud800"


def node(id, kind=OPERATION, op="", label="", shape=(2,), **more):
    """A node with the usual rest."""
    more.setdefault("place", Place(3, id, code=f"line {id}"))
    leaf = kind != OPERATION
    return Node(id, kind, op, label, shape, "float32", is_leaf=leaf, bytes=8, **more)


def put_all(recorder, nodes, edges):
    """Fill ``recorder``; ``edges`` are (source, target) in the order of the slots."""
    slots = {}
    for each in nodes:
        recorder.put(each)
    for source, target, *norm in edges:
        slot = slots[target] = slots.get(target, -1) + 1
        recorder.put_edge(Edge(source, target, slot, grad_norm=norm[0] if norm else None))
    return recorder


def small_net(**first):
    """Seven operations of a small network with gradients, saved tensors and one finding."""
    saved = [Saved("self", (2,), "float32", 8, state="freed"), Saved("other", (2,), "float32", 8)]
    nodes = [
        node(1, UNTRACKED, label="x", shape=(64, 784)),
        node(2, PARAMETER, label="fc1.weight", shape=(784, 256), grad_norm=0.5, requires_grad=True),
        node(3, OPERATION, "MmBackward0", saved=saved, shape=(64, 256)),
        node(4, PARAMETER, label="fc1.bias", shape=(256,), requires_grad=True),
        node(5, OPERATION, "AddBackward0", shape=(64, 256)),
        node(
            6,
            OPERATION,
            "ReluBackward0",
            label="h",
            shape=(64, 256),
            findings=["GV101"],
            grad_norm=1.94,
        ),
        node(7, PARAMETER, label="fc2.weight", shape=(256, 10), grad_norm=0.83, requires_grad=True),
        node(8, OPERATION, "MmBackward0", saved=saved, shape=(64, 10)),
        node(9, UNTRACKED, label="target", shape=(64,), cut="detach"),
        node(10, OPERATION, "NllLossBackward0", label="loss", shape=(), root=True, grad_norm=1.0),
    ]
    edges = [
        (1, 3), (2, 3, 0.5), (3, 5, 1.1), (4, 5), (5, 6, 1.2), (6, 8, 1.94), (7, 8, 0.83),
        (8, 10, 0.3), (9, 10),
    ]  # fmt: skip
    for name, value in first.items():
        setattr(nodes[0], name, value)
    return put_all(Recorder(), nodes, edges)


def chain(length):
    """A leaf and ``length`` operations in a row."""
    nodes = [node(1, LEAF, label="w")] + [node(i + 2, op="MulBackward0") for i in range(length)]
    return put_all(Recorder(), nodes, [(i + 1, i + 2) for i in range(length)])


def finding(rule="GV101", cell=3, line=8, severity="warning", **more):
    """A finding with plain texts."""
    message = {"en": "Losses kept in `history` keep their graphs."}
    fix = {"en": "Write `history.append(loss.item())`."}
    message["zh"] = "`history` 里的 loss 让计算图一直存活。"
    fix["zh"] = "改为 `history.append(loss.item())`。"
    values = {"kind": "leak.container", "holders": ["history[0]"], "nodes": 41, "bytes": 820_000}
    values |= {"message": message, "fix": fix}
    return Finding(rule=rule, severity=severity, cell=cell, line=line, **values | more)
