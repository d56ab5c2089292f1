"""Who shares memory with whom."""

from __future__ import annotations

from gradviz.watch.bench import Storage, View

from . import reading
from .sheet import facts

MOST = 300


def storages(named) -> list[Storage]:
    """One ``Storage`` for each piece of memory under ``named`` ((name, tensor) pairs), those with
    most names first; at most 300 names.
    """
    found: dict[int, Storage] = {}
    for name, tensor in list(named)[:MOST]:
        key = reading.storage_id(tensor)
        told = facts(tensor, name)
        if key not in found:
            found[key] = Storage(len(found), told.storage_bytes, told.device, told.version)
        view = View(
            name,
            told.shape,
            told.dtype,
            told.strides,
            told.offset,
            reading.bytes_of(reading.array(tensor)),
            told.requires_grad,
        )
        if all(one.name != name for one in found[key].views):
            found[key].views.append(view)
    return sorted(found.values(), key=lambda one: (-len(one.views), -one.bytes))
