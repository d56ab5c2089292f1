"""Padding as modules."""

from __future__ import annotations

from .. import functional as F
from ..functional.conv import spread
from .module import Module


class _Pad(Module):
    mode = "constant"
    value = None

    def __init__(self, padding):
        super().__init__()
        self.padding = spread(padding, 2 * self.dims)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode, self.value)

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


def _family(name, base, mode, text):
    for n in (1, 2, 3):
        cls = type(
            f"{name}{n}d",
            (base,),
            {"dims": n, "mode": mode, "__module__": __name__, "__doc__": text.format(n)},
        )
        globals()[cls.__name__] = cls


_family("ConstantPad", _ConstantPad, "constant", "Pads {} dimension(s) with a value.")
_family("ZeroPad", _ZeroPad, "constant", "Pads {} dimension(s) with zeros.")
_family("ReflectionPad", _Pad, "reflect", "Pads {} dimension(s) with the mirrored input.")
_family("ReplicationPad", _Pad, "replicate", "Pads {} dimension(s) with the edge.")
_family("CircularPad", _Pad, "circular", "Pads {} dimension(s) with the other side.")
