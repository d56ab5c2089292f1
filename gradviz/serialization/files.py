"""Files and streams: what ``save`` writes and which reader ``load`` takes."""

from __future__ import annotations

import json
import os

from . import checkpoint, legacy, safetensors
from .location import Placement
from .refused import Absent, Refused
from .structure import Reader, Writer

KEY = "gradviz"
_BROKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Write tensors in nested dicts, lists and tuples to the path or stream ``f``.

    TypeError for anything that is neither a tensor nor plain data, AttributeError for an ``f`` that
    is neither, RuntimeError where the folder of the path is not there.
    """
    writer = Writer(obj)
    told = writer.describe(obj)
    raw = safetensors.pack(writer.arrays, {KEY: json.dumps(told)})
    if hasattr(f, "write"):
        f.write(raw)
        return
    if not isinstance(f, (str, os.PathLike)):
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
    folder = os.path.dirname(os.fspath(f))
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    with open(f, "wb") as stream:
        stream.write(raw)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **_):
    """Read what ``save`` wrote, another safetensors file (as a dict), or the tensors of a PyTorch
    checkpoint. ``map_location``: a device, a dict of devices' names, or a function of a storage
    and the name of its device; where they lay when they were saved if not given.

    Never runs code from the file. As in PyTorch: EOFError when it is empty, RuntimeError when a zip
    archive is cut off or damaged or a device is not there, FileNotFoundError when the file is not,
    pickle.UnpicklingError for everything else that is not read. AttributeError for an ``f`` that is
    neither path nor stream, ValueError for ``mmap`` of a stream.
    """
    if weights_only and pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified: nothing is "
            "ever unpickled here"
        )
    placement = Placement(map_location)
    is_path = isinstance(f, (str, os.PathLike))
    if mmap and not is_path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if hasattr(f, "read"):
        return _read(f.read(), placement)
    if not is_path:
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a "
            "path or a file that can be read."
        )
    with open(f, "rb") as stream:
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
    except Absent:
        raise
    except _BROKEN:
        raise Refused("the file's description of its containers is broken") from None
