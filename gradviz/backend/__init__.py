"""Arrays and where they lie. The only place that imports numpy or cupy for tensor data.

``xp`` is NumPy; its functions hand over to arrays of a GPU through ``__array_ufunc__`` and
``__array_function__`` (``device_array.py``), so an operation written with ``xp`` runs on both. What
makes an array out of nothing says beside which one: ``xp.zeros(shape, dtype, like=x)``.
"""

import functools

import numpy as xp

from . import meta
from .accelerator import anchor, beside, host, upload
from .device_array import DeviceArray, OutOfMemoryError, fuse
from .floating_point import stay_silent
from .memory import heap, scratch
from .meta import MetaArray
from .pieces import blocks

stay_silent()

heap.keep_freed()

ndarray = xp.ndarray
_contiguous, _asarray, _zeros = xp.ascontiguousarray, xp.asarray, xp.zeros


def contiguous(array):
    """The array, or a copy of it whose elements lie in row-major order without gaps."""
    if array.__class__ is ndarray:
        return _contiguous(array) if array.ndim else array
    if isinstance(array, xp.generic):
        return _asarray(array)
    return xp.ascontiguousarray(array, like=array)


def zeros_by(array, shape):
    """Zeros in the dtype of ``array`` (or of a NumPy scalar), where it lies."""
    if isinstance(array, DeviceArray):
        return xp.zeros(shape, array.dtype, like=array)
    return _zeros(shape, array.dtype)


def readable(array):
    """Whether there are elements whose numbers can be looked at."""
    return array.size and not isinstance(array, MetaArray)


def as_array(found, dtype=None):
    """What NumPy gave, where it gives scalars an array of no dimensions."""
    if isinstance(found, DeviceArray):
        return found if dtype is None else found.astype(dtype, copy=False)
    return _asarray(found, dtype)


def on_host(function):
    """``function`` of arrays for which there is nothing on a GPU: arrays of one are fetched, which
    waits, and the results are sent back.
    """

    @functools.wraps(function)
    def computed(*args, **kwargs):
        device = next((a for a in args if isinstance(a, DeviceArray)), None)
        if device is None:
            return function(*args, **kwargs)
        if isinstance(device, MetaArray):
            return meta.close(function(*map(meta.stand_in, args), **kwargs))
        found = function(*[host(a) for a in args], **kwargs)
        if isinstance(found, tuple):
            return tuple(beside(one, device) for one in found)
        return beside(found, device)

    return computed


def pointer(array):
    """Address of the first element."""
    return array.__array_interface__["data"][0] if array.__class__ is ndarray else array.pointer


def owner(array):
    """The array that owns the memory under ``array``."""
    if isinstance(array, DeviceArray):
        return array.owner
    while True:
        base = array.base
        if not isinstance(base, ndarray):
            base = getattr(base, "base", None)  # as_strided puts an object between
        if not isinstance(base, ndarray):
            return array
        array = base


def as_strided(array, shape, strides):
    """A window on ``array`` with these sizes and strides in bytes."""
    if isinstance(array, DeviceArray):
        return array.strided(shape, strides)
    return xp.lib.stride_tricks.as_strided(array, shape, strides)


__all__ = [
    "DeviceArray",
    "MetaArray",
    "OutOfMemoryError",
    "anchor",
    "as_array",
    "as_strided",
    "beside",
    "blocks",
    "contiguous",
    "fuse",
    "host",
    "meta",
    "ndarray",
    "on_host",
    "owner",
    "pointer",
    "readable",
    "scratch",
    "upload",
    "zeros_by",
    "xp",
]
