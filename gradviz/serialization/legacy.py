"""PyTorch's checkpoints from before version 1.6, read without executing anything.

Five pickles follow one another: a magic number, the version, the machine, the object and the keys
of its storages. Then come the storages in that order, each after its number of elements.
"""

from __future__ import annotations

import io

from .checkpoint import Machine, damage_told
from .location import Placement
from .refused import Absent, Refused

MAGIC = 0x1950A86A20F9469CFC6C


def read(raw, placement):
    """The object of a checkpoint. RuntimeError when the pickle is none, UnpicklingError when it
    holds more than tensors in containers or is damaged.
    """
    with damage_told():
        stream = io.BytesIO(raw)
        if _plain(stream) != MAGIC:
            raise Absent("Invalid magic number; corrupt file?")
        _plain(stream)
        if not _plain(stream).get("little_endian", True):
            raise Refused("the checkpoint was written on a machine of the other byte order")
        start, sizes = stream.tell(), {}
        Machine(lambda key, size: _blank(sizes, key, size, len(raw)), Placement("cpu")).run(stream)
        storages = _storages(stream, _plain(stream), sizes)
        stream.seek(start)
        return Machine(lambda key, size: storages[key], placement).run(stream)


def _plain(stream):
    """The value of the next pickle, which has no storages."""
    return Machine(lambda key, size: b"", Placement("cpu")).run(stream)


def _blank(sizes, key, size, limit):
    """Zeros for a storage whose bytes are not reached yet."""
    sizes[key] = size
    if sum(sizes.values()) > limit:
        raise Refused("the checkpoint is cut off: its storages are larger than the file")
    return bytes(size)


def _storages(stream, keys, sizes):
    found = {}
    for key in keys:
        stream.read(8)
        found[key] = stream.read(sizes[key])
        if len(found[key]) != sizes[key]:
            raise Refused("the checkpoint is cut off inside a storage")
    return found
