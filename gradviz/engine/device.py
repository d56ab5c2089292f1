"""Devices, layouts and memory formats, as PyTorch names them, and the way of an array between
devices.
"""

from __future__ import annotations

import functools
import re

from ..backend import accelerator, anchor, host, meta, upload
from .errors import advised

_KNOWN = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, "
    "mps, meta, hpu, mtia, privateuseone"
)


class Device:
    """``device("cpu")``, ``device("cuda", 0)``; RuntimeError for a text that names no device.

    As a context manager or decorator it is where new tensors are made.
    """

    __slots__ = ("_before", "index", "type")

    def __init__(self, type="cpu", index=None):
        if isinstance(type, Device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        elif not isinstance(type, str):
            raise TypeError(
                f"device(): argument 'type' (position 1) must be str, not {type.__class__.__name__}"
            )
        match = re.fullmatch(r"([a-z]+)(?::(0|[1-9]\d*))?", type)
        if match is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if match[1] not in _KNOWN.split(", "):
            raise RuntimeError(
                f"Expected one of {_KNOWN} device type at start of device string: {match[1]}"
            )
        if match[2] is not None and index is not None:
            raise RuntimeError(
                f"type (string) must not include an index because index was passed explicitly: "
                f"{type}"
            )
        self.type = match[1]
        self.index = int(match[2]) if match[2] is not None else index
        self._before = []

    def __enter__(self):
        self._before.append(default.device)
        default.set(self)
        return self

    def __exit__(self, *error):
        default.set(self._before.pop())

    def __call__(self, function):
        @functools.wraps(function)
        def inside(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return inside

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


Device.__name__ = Device.__qualname__ = "device"
Device.__module__ = "gradviz"

CPU, META = Device("cpu"), Device("meta")


# ---------------------------------------------------------------- where arrays lie
class _Default:
    """Where new tensors are made unless told otherwise; ``like`` is an array there, None on the
    CPU.
    """

    __slots__ = ("device", "like")

    def __init__(self):
        self.device, self.like = CPU, None

    def set(self, device):
        self.like = None if device.type == "cpu" else like(device)
        self.device = device


default = _Default()


@functools.lru_cache(maxsize=64)
def cuda(index):
    """The device of that number."""
    return Device("cuda", index)


def of(array):
    """The device on which an array lies."""
    found = array.device
    if found.__class__ is str:
        return CPU
    return META if found.id is None else cuda(found.id)


def resolve(device):
    """The device that is meant, a GPU with its number. Raises where it is not there."""
    found = device if device.__class__ is Device else Device(device)
    if found.type == "cpu":
        return CPU
    if found.type == "meta":
        return META
    if found.type != "cuda":
        raise advised(
            NotImplementedError(f"Could not run on device '{found}': it is not available"),
            "other_device",
            device=str(found),
        )
    gpu = library()
    index = gpu.current if found.index is None else found.index
    if index >= gpu.devices:
        raise RuntimeError("CUDA error: invalid device ordinal")
    return cuda(index)


def library():
    """The library that computes on a GPU; PyTorch's error where there is none."""
    found = accelerator.gpu()
    if found is not None:
        return found
    if accelerator.why_none() == accelerator.NO_CUPY:
        raise advised(AssertionError("Torch not compiled with CUDA enabled"), "no_cupy")
    raise advised(
        RuntimeError(
            "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and "
            "installed a driver from http://www.nvidia.com/Download/index.aspx"
        ),
        "no_gpu",
    )


def like(device):
    """An array on ``device`` beside which others are made, None for the CPU."""
    if device is None:
        return default.like
    found = resolve(device)
    if found is META:
        return meta.ANCHOR
    return None if found is CPU else anchor(found.index)


def place(array, device):
    """``array`` on ``device``: itself where it lies there, a copy otherwise."""
    if of(array) == device:
        return array
    if device is META:
        return meta.upload(array)
    array = host(array)
    return array if device.type == "cpu" else upload(array, device.index)


class Named:
    """A constant that prints as its name in ``torch``."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


class layout(Named):
    """How the elements of a tensor are stored."""

    __module__ = "gradviz"
    __slots__ = ()


strided = layout("strided")
