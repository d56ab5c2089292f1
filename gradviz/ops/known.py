"""Results that are computed before they are recorded, since nobody differentiates how: random
draws, whose derivative is zero, and what PyTorch records without a derivative.
"""

from __future__ import annotations

from .casting import refuse
from .declare import declare


def recorded(name, node, inputs, derivative):
    """``function(*tensors, array)``: the array as a result of the tensors."""
    return declare(
        name,
        lambda *given: given[-1],
        inputs,
        "made",
        node=node,
        formula="0" if derivative is _zeros else "—",
        **dict.fromkeys(inputs.split(), derivative),
    )


def drawn(name, node, inputs="self"):
    """A random draw: its derivative is zero."""
    return recorded(name, node, inputs, _zeros)


def _zeros(F, g):
    return F.zeros_like(g)


def without_derivative(name, inputs="self"):
    """What has a node that is named NotImplemented."""
    return recorded(name, "NotImplemented", inputs, refuse(name))
