"""The model as plain JSON values: what a browser can parse and what a hostile name cannot break."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass


def plain(value):
    """``value`` (dataclasses, dicts, sequences, scalars) as JSON values.

    NaN and infinities become the strings ``NaN``, ``Infinity`` and ``-Infinity``, which JSON lacks
    and JavaScript's ``Number`` reads; lone surrogates become ``?``.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _infinite(value)
    if isinstance(value, str):
        return clean(value)
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {clean(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return _scalar(value)


def clean(text: str) -> str:
    """``text`` with everything that UTF-8 cannot carry replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def dumps(value) -> str:
    """Compact JSON of ``plain(value)``."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _infinite(value):
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _scalar(value):
    """A NumPy scalar as its Python number; anything else as its text."""
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else clean(str(value))
