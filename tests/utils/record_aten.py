"""Writes down what PyTorch calls our operations: ``python -m tests.utils.record_aten``.

Of each operation that has a node: the node's class, PyTorch's operator and its overload, and ``_``
where that operator has a form in place.
"""

from pathlib import Path

import torch
import torchgen
from torchgen.packaged.autograd.load_derivatives import load_derivatives

import gradviz
from gradviz.ops.declare import OPERATIONS

FILE = Path(gradviz.__file__).parent / "ops" / "aten.txt"
OTHERS = {"CopyBackwards": "copy.default", "L1LossBackward0": "l1_loss.default"}


def by_node():
    """The operator of each class of nodes."""
    packaged = Path(torchgen.__file__).parent / "packaged"
    native = packaged / "ATen" / "native"
    found, _ = load_derivatives(
        str(packaged / "autograd" / "derivatives.yaml"),
        str(native / "native_functions.yaml"),
        str(native / "tags.yaml"),
    )
    names: dict[str, str] = {}
    for by_key in found.values():
        for info in by_key.values():
            if info.op:
                name = info.func.func.name
                base = str(name.name)
                if hasattr(torch.ops.aten, base.rstrip("_")):
                    base = base.rstrip("_")
                names.setdefault(info.op, f"{base}.{name.overload_name or 'default'}")
    return names | OTHERS


def by_name(name):
    """The operator of that name that takes tensors, None where there is none."""
    packet = getattr(torch.ops.aten, name, None)
    overloads = packet.overloads() if packet is not None else ()
    return next((f"{name}.{one}" for one in ("Tensor", "default") if one in overloads), None)


def line(node, op, known):
    """The words about one operation, None where PyTorch has no operator for it."""
    found = known.get(node) or by_name(op.name)
    if found is None:
        return None
    base = found.partition(".")[0].rstrip("_")
    return f"{node} {found}{' _' if hasattr(torch.ops.aten, base + '_') else ''}"


if __name__ == "__main__":
    import gradviz.nn.functional

    known = by_node()
    lines = [line(node, op, known) for node, op in sorted(OPERATIONS.items())]
    FILE.write_text("\n".join(filter(None, lines)) + "\n", encoding="utf-8")
