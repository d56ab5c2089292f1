"""A trace in one file, ``.gvz``: a zip archive with ``trace.json`` and arrays in NumPy's format.

Reading needs no engine, runs nothing from the file, and takes no more memory than :data:`LARGEST`.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gradviz.texts import text

from .plain import dumps
from .trace import Trace, load

TRACE = "trace.json"
ARRAY = re.compile(r"(values|grads)/(-?\d{1,20})\.npy")
LARGEST = 2_000_000_000
MEMBERS = 100_000


@dataclass
class Archive:
    """What a file has: the ``trace``, and arrays by node: ``values`` and ``grads``."""

    trace: Trace
    values: dict[int, np.ndarray] = field(default_factory=dict)
    grads: dict[int, np.ndarray] = field(default_factory=dict)

    def named(self, label: str) -> int:
        """The id of the newest node with a name. KeyError when there is none."""
        found = [node.id for node in self.trace.nodes.values() if node.label == label]
        if not found:
            raise KeyError(label)
        return max(found)


def write(path, archive: Archive) -> Path:
    """Write the file; its path. OSError when it cannot be written."""
    target = Path(path).expanduser().resolve()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(TRACE, dumps(archive.trace.to_json()))
        for folder, arrays in (("values", archive.values), ("grads", archive.grads)):
            for id, array in arrays.items():
                stream = io.BytesIO()
                np.save(stream, np.ascontiguousarray(array), allow_pickle=False)
                made.writestr(f"{folder}/{id}.npy", stream.getvalue())
    return target


def read(path) -> Archive:
    """Open a file. ValueError when it is no trace, is too large, or of another schema; OSError when
    it cannot be read.
    """
    try:
        with zipfile.ZipFile(Path(path).expanduser()) as opened:
            _check(opened)
            found = Archive(load(_json(opened.read(TRACE))))
            for name in opened.namelist():
                part = ARRAY.fullmatch(name)
                if part is not None:
                    arrays = found.values if part[1] == "values" else found.grads
                    stream = io.BytesIO(opened.read(name))
                    arrays[int(part[2])] = np.load(stream, allow_pickle=False)
            return found
    except (zipfile.BadZipFile, KeyError, EOFError, AttributeError, TypeError) as error:
        raise ValueError(f"not a trace: {error}") from error


def _json(data):
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("not a trace")
    return found


def _check(opened):
    """Refuse archives that would unpack to more than we are ready for."""
    parts = opened.infolist()
    if len(parts) > MEMBERS or sum(part.file_size for part in parts) > LARGEST:
        raise ValueError(text("notebook.file.too_large", bytes=f"{LARGEST:,}"))
