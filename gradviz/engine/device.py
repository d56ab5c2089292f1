"""Devices, layouts and memory formats, as PyTorch names them."""

from __future__ import annotations

import re


class Device:
    """``device("cpu")``, ``device("cuda", 0)``; RuntimeError for a text that names no device."""

    __slots__ = ("index", "type")

    def __init__(self, type="cpu", index=None):
        if isinstance(type, Device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int):
            type, index = "cuda", type
        match = re.fullmatch(r"(cpu|cuda|meta)(?::(\d+))?", type)
        if match is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        self.type = match[1]
        self.index = int(match[2]) if match[2] is not None else index

    @classmethod
    def of(cls, array):
        """The device of a CuPy array."""
        return cls("cuda", array.device.id)

    def __eq__(self, other):
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __repr__(self):
        return (
            f"device(type='{self.type}')"
            if self.index is None
            else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self):
        return (Device, (self.type, self.index))


CPU = Device("cpu")


class _Named:
    __slots__ = ("_text",)

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return f"torch.{self._text}"


class layout(_Named):
    """How the elements of a tensor are stored."""

    __slots__ = ()


class memory_format(_Named):
    """In which order the dimensions of a tensor lie in memory."""

    __slots__ = ()


strided = layout("strided")
contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
preserve_format = memory_format("preserve_format")
