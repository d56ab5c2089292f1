"""The safetensors format: header length (8 bytes, little endian), JSON header, arrays one after the
other.

https://github.com/huggingface/safetensors describes it.
"""

from __future__ import annotations

import json

from ..backend import xp
from ..engine import dtypes

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
    """(arrays by name, metadata) of a file's bytes; ValueError when it is no safetensors file."""
    length = int.from_bytes(raw[:8], "little")
    if len(raw) < 8 or length > min(LONGEST_HEADER, len(raw) - 8):
        raise ValueError("not a safetensors file: the header is longer than the file")
    try:
        header = json.loads(raw[8 : 8 + length])
    except ValueError:
        raise ValueError("not a safetensors file: the header is not JSON") from None
    if not isinstance(header, dict):
        raise ValueError("not a safetensors file: the header is not an object")
    metadata = header.pop("__metadata__", {}) or {}
    body = memoryview(raw)[8 + length :]
    return {name: _array(name, entry, body) for name, entry in header.items()}, metadata


def _array(name, entry, body):
    try:
        dtype = getattr(dtypes, _attribute(NAMES[entry["dtype"]]))
        shape = tuple(int(n) for n in entry["shape"])
        start, end = entry["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"not a safetensors file: the entry {name!r} is broken") from None
    size = dtype.itemsize
    for n in shape:
        size *= n
    if not 0 <= start <= end <= len(body) or end - start != size or any(n < 0 for n in shape):
        raise ValueError(f"not a safetensors file: the offsets of {name!r} do not fit")
    return xp.frombuffer(body[start:end], dtype.np).reshape(shape).copy()


def _attribute(name):
    return "bool_" if name == "bool" else name
