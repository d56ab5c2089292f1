"""Files and streams: what ``save`` writes and which reader ``load`` takes."""

from __future__ import annotations

import json
import os

from . import checkpoint, legacy, safetensors
from .location import Placement
from .refused import Refused
from .structure import Reader, Writer

KEY = "gradviz"


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Write tensors in nested dicts, lists and tuples to the path or stream ``f``.

    TypeError for anything that is neither a tensor nor plain data.
    """
    writer = Writer(obj)
    told = writer.describe(obj)
    raw = safetensors.pack(writer.arrays, {KEY: json.dumps(told)})
    if hasattr(f, "write"):
        f.write(raw)
        return
    with open(f, "wb") as stream:
        stream.write(raw)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **_):
    """Read what ``save`` wrote, another safetensors file (as a dict), or the tensors of a PyTorch
    checkpoint. ``map_location``: a device, a dict of devices' names, or a function of a storage
    and the name of its device; where they lay when they were saved if not given.

    Never runs code from the file. As in PyTorch: EOFError when it is empty, RuntimeError when a zip
    archive is cut off or damaged or a device is not there, FileNotFoundError when the file is not,
    pickle.UnpicklingError for everything else that is not read.
    """
    placement = Placement(map_location)
    if hasattr(f, "read"):
        return _read(f.read(), placement)
    with open(os.fspath(f), "rb") as stream:
        return _read(stream.read(), placement)


def _read(raw, placement):
    if not raw:
        raise EOFError("Ran out of input: the file is empty")
    if raw[:4] == b"PK\x03\x04":
        return checkpoint.read(raw, placement)
    if raw[:2] == b"\x80\x02":
        return legacy.read(raw, placement)
    arrays, metadata = safetensors.unpack(raw)
    told = metadata.get(KEY)
    reader = Reader(arrays, placement)
    if told is None:
        return {name: reader.build({"tensor": name}) for name in arrays}
    try:
        return reader.build(json.loads(told))
    except (LookupError, TypeError, AttributeError, RecursionError, ValueError, OverflowError):
        raise Refused("the file's description of its containers is broken") from None
