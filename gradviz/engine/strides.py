"""Where a tensor's elements lie in their storage: sizes, strides, offset; read and written back."""

from __future__ import annotations

from ..backend import as_strided, owner, pointer, xp, zeros_by
from .tensor import element_strides


def storage_offset(array):
    """Distance of the first element from the start of the storage, in elements."""
    return (pointer(array) - pointer(owner(array))) // array.itemsize if array.size else 0


def flat_storage(array):
    """The whole storage as one dimension of ``array``'s dtype, sharing memory."""
    whole = owner(array)
    flat = as_strided(whole, (whole.size,), (whole.itemsize,))
    return flat if flat.dtype == array.dtype else flat.view(array.dtype)


def geometry(array):
    """(sizes, strides, offset) in elements."""
    return array.shape, element_strides(array), storage_offset(array)


def strided(flat, sizes, strides, offset):
    """A window on a flat array; RuntimeError when it would leave the storage."""
    if offset < 0 or min(strides, default=0) < 0 or min(sizes, default=0) < 0:
        raise _outside(sizes, strides, offset)
    last = (
        offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        if 0 not in sizes
        else offset - 1
    )
    if last >= flat.size:
        size = flat.itemsize
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {offset}, "
            f"and itemsize {size} "
            f"requiring a storage size of {(last + 1) * size} are out of bounds for storage of "
            f"size {flat.size * size}"
        )
    return as_strided(flat[offset:], sizes, tuple(s * flat.itemsize for s in strides))


def _outside(sizes, strides, offset):
    if min(strides, default=0) < 0:
        return RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{list(strides)}"
        )
    if offset < 0:
        return RuntimeError(f"Tensor: invalid storage offset {offset}")
    return RuntimeError(
        f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}"
    )


def extent(*geometries):
    """How many elements a storage needs that all of these lie in."""
    return max(
        (
            off + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) + 1
            if 0 not in sizes
            else 0
        )
        for sizes, strides, off in geometries
    )


def scatter(g, inner, outer):
    """Put ``g`` (laid out as ``inner``) into zeros laid out as ``outer``; overlapping elements of
    ``inner`` add up, those of ``outer`` share what is there.
    """
    flat = zeros_by(g, extent(inner, outer))
    window = strided(flat, *inner)
    if overlaps(inner):
        places = strided(xp.arange(flat.size, like=flat), *inner)
        xp.add.at(flat, places.ravel(), xp.broadcast_to(g, inner[0]).ravel())
    else:
        window += g
    if overlaps(outer):
        flat /= _shares(flat, outer)
    return strided(flat, *outer).copy()


def _shares(flat, layout):
    """How many elements of a layout lie on every place of a storage; 1 where there is none."""
    count = xp.zeros_like(flat)
    xp.add.at(count, strided(xp.arange(flat.size, like=flat), *layout).ravel(), 1)
    return xp.where(count == 0, flat.dtype.type(1), count)


def gather(x, inner, outer):
    """Read the elements of ``inner`` from ``x``, which is laid out as ``outer``."""
    flat = zeros_by(x, extent(inner, outer))
    if overlaps(outer):
        places = strided(xp.arange(flat.size, like=flat), *outer)
        xp.add.at(flat, places.ravel(), xp.broadcast_to(x, outer[0]).ravel())
        flat /= _shares(flat, outer)
    else:
        strided(flat, *outer)[...] = x
    return strided(flat, *inner).copy()


def overlaps(geometry_):
    """Whether several elements of a layout share one place of the storage."""
    sizes, strides, _ = geometry_
    return any(s == 0 and n > 1 for n, s in zip(sizes, strides, strict=True)) or _interleaves(
        sizes, strides
    )


def _interleaves(sizes, strides):
    reach = 1
    for s, n in sorted((s, n) for n, s in zip(sizes, strides, strict=True) if n > 1):
        if s < reach:
            return True
        reach = s * (n - 1) + reach
    return False
