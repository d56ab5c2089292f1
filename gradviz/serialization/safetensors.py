"""The safetensors format: header length (8 bytes, little endian), JSON header, arrays one after the
other.

https://github.com/huggingface/safetensors describes it.
"""

from __future__ import annotations

import itertools
import json
import math

from ..backend import xp
from ..engine import dtypes
from .refused import Refused

NAMES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "I64": "int64",
    "I32": "int32",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "BOOL": "bool",
    "C64": "complex64",
    "C128": "complex128",
}
_CODES = {name: code for code, name in NAMES.items()}
LONGEST_HEADER = 100_000_000


def pack(arrays, metadata):
    """The bytes of a file with ``arrays`` (name to array) and ``metadata`` (text to text)."""
    header, blobs, start = {"__metadata__": metadata}, [], 0
    for name, array in arrays.items():
        blob = xp.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": _CODES[dtypes.of(array).name],
            "shape": list(array.shape),
            "data_offsets": [start, start + len(blob)],
        }
        blobs.append(blob)
        start += len(blob)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *blobs])


def unpack(raw):
    """(arrays by name, metadata) of a file's bytes; UnpicklingError when it is no safetensors
    file.
    """
    length = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or length > min(LONGEST_HEADER, len(raw) - 8):
        raise Refused("not a safetensors file: the header is longer than the file")
    try:
        header = json.loads(raw[8 : 8 + length])
    except (ValueError, RecursionError):
        raise Refused("not a safetensors file: the header is not JSON") from None
    if not isinstance(header, dict):
        raise Refused("not a safetensors file: the header is not an object")
    metadata = header.pop("__metadata__", {}) or {}
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise Refused("not a safetensors file: the metadata is not an object of texts")
    body = memoryview(raw)[8 + length :]
    places = sorted(_place(name, entry, body) for name, entry in header.items())
    for (_, end, name), (start, _, other) in itertools.pairwise(places):
        if start < end:
            raise Refused(f"not a safetensors file: {name!r} and {other!r} overlap")
    if sum(end - start for start, end, _ in places) != len(body):
        raise Refused("not a safetensors file: it holds bytes that belong to no tensor")
    return {name: _array(header[name], body) for name in header}, metadata


def _place(name, entry, body):
    """(start, end, name) of a tensor whose entry is sound."""
    try:
        itemsize, shape = _dtype(entry).itemsize, entry["shape"]
        start, end = entry["data_offsets"]
        sound = all(type(n) is int and 0 <= n < 2**63 for n in (*shape, start, end))
    except (KeyError, TypeError, ValueError):
        sound = False
    if not sound:
        raise Refused(f"not a safetensors file: the entry {name!r} is broken")
    if not start <= end <= len(body) or end - start != math.prod(shape) * itemsize:
        raise Refused(f"not a safetensors file: the offsets of {name!r} do not fit")
    return start, end, name


def _dtype(entry):
    return getattr(dtypes, _attribute(NAMES[entry["dtype"]]))


def _array(entry, body):
    start, end = entry["data_offsets"]
    return xp.frombuffer(body[start:end], _dtype(entry).np).reshape(entry["shape"]).copy()


def _attribute(name):
    return "bool_" if name == "bool" else name
