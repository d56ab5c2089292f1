"""Index tensors that a node keeps besides what its derivative names: it reads their arrays as
attributes, and a backward tells when they were modified meanwhile.
"""

from __future__ import annotations

from .dispatch import refuse_inference
from .modes import local, state
from .node import INFERENCE, edge_of
from .saved import pack, read_array


def pairs(tensors):
    """(tensor, version, …) as a node's ``s`` holds them."""
    out = ()
    for x in tensors:
        v = x._v
        if v is INFERENCE:
            refuse_inference()
        out += (pack(x, edge_of(x)), None) if packing() else (x, v and v[0])
    return out


def packing():
    """Whether what is saved goes through hooks."""
    return state.special and local.saved_hooks


def keep(result, *tensors):
    """The node of ``result``, if it has one, keeps ``tensors``; returns ``result``."""
    g = result._g
    if g is not None and tensors:
        node = g.node if g._kind == 1 else g
        node.s = (*node.s, *pairs(tensors))
    return result


def check_kept(s, first):
    """Raise where a kept tensor was modified; in ``s`` they begin at ``first``."""
    __tracebackhide__ = True
    for k in range(first, len(s), 2):
        if s[k] is not None:
            read_array(s[k], s[k + 1])
