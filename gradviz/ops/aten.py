"""``torch.ops.aten``: PyTorch's names of our operations, ``torch.ops.aten.mm.default``.

They are what the policy of a selective checkpoint is asked about. Called, they call the function of
that name, with its arguments; those that have none raise NotImplementedError.
"""

from __future__ import annotations

import functools
from pathlib import Path

from ..engine.operands import is_wrapped
from .declare import FUNCTIONS, Tensor


class OpOverload:
    """One form of an operator."""

    __module__ = "torch._ops"
    namespace = "aten"

    def __init__(self, packet, overload):
        self.overloadpacket, self._overloadname = packet, overload
        self.__name__ = f"{packet.__name__}.{overload}"

    def name(self):
        """``aten::mm``."""
        more = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"aten::{self.overloadpacket.__name__}{more}"

    def __call__(self, *args, **kwargs):
        return self.overloadpacket(*args, **kwargs)

    def __str__(self):
        return f"aten.{self.__name__}"

    def __repr__(self):
        packet = self.overloadpacket.__name__
        return f"<OpOverload(op='aten.{packet}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator; its forms are its attributes. AttributeError for one that it has not."""

    __module__ = "torch._ops"

    def __init__(self, name, overloads):
        self.__name__, self._overloads = name, tuple(overloads)
        for overload in overloads:
            setattr(self, overload, OpOverload(self, overload))

    def overloads(self):
        """The names of its forms."""
        return list(self._overloads)

    def __call__(self, *args, **kwargs):
        name = self.__name__
        function = FUNCTIONS.get(name) or getattr(Tensor, name, None)
        if function is None:
            raise NotImplementedError(f"torch.ops.aten.{name} cannot be called in gradviz")
        return function(*args, **kwargs)

    def __getattr__(self, name):
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")

    def __str__(self):
        return f"aten.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


@functools.cache
def _table():
    """({class of nodes: (operator, overload, whether there is a form in place)}, {operator:
    overloads})."""
    by_node, overloads = {}, {}
    for line in Path(__file__).with_name("aten.txt").read_text(encoding="utf-8").splitlines():
        node, found, *in_place = line.split()
        name, _, overload = found.partition(".")
        by_node[node] = name, overload
        for one in (name, f"{name}_") if in_place else (name,):
            known = overloads.setdefault(one, {})
            known[overload] = None
            if overload == "Tensor":
                known["Scalar"] = None
    return by_node, overloads


@functools.cache
def packet(name):
    """The operator of that name; AttributeError where there is none."""
    overloads = _table()[1].get(name)
    if overloads is None:
        raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
    return OpOverloadPacket(name, overloads)


def operator_of(op, inputs, in_place=False):
    """What PyTorch calls operation ``op``, None for one that it does not know."""
    found = _table()[0].get(op.node.__name__)
    if found is None:
        return None
    name, overload = found
    if not op.edges and overload == "Tensor" and len(inputs) == 2 and is_wrapped(inputs[1]):
        overload = "Scalar"  # a comparison with a number
    if in_place and f"{name}_" in _table()[1]:
        name = f"{name}_"
    return getattr(packet(name), overload)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return packet(name)


def __dir__():
    return sorted(_table()[1])
