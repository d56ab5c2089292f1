"""The JSON Schema of a saved trace, made from the model's own dataclasses."""

from __future__ import annotations

import types
import typing
from dataclasses import MISSING, fields, is_dataclass

from .model import SCHEMA, Cell, Detail, Edge, Finding, Node

PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
NOT_FINITE = ["NaN", "Infinity", "-Infinity"]


def schema() -> dict:
    """JSON Schema (2020-12) of what ``Trace.to_json`` gives. Numbers that are not finite are the
    strings ``NaN``, ``Infinity`` and ``-Infinity``.
    """
    found: dict[str, dict] = {}
    listed = {"nodes": Node, "edges": Edge, "cells": Cell, "findings": Finding}
    properties = {
        name: {"type": "array", "items": _of(kind, found)} for name, kind in listed.items()
    }
    properties["details"] = {"type": "object", "additionalProperties": _of(Detail, found)}
    properties["status"] = {"type": "object"}
    properties["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"gradviz trace, schema {SCHEMA}",
        "type": "object",
        "required": sorted(properties),
        "properties": properties,
        "$defs": found,
    }


def _of(hint, found):
    """The schema of a type; dataclasses are put into ``found`` and referred to."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint):
        if hint.__name__ not in found:
            found[hint.__name__] = {}
            found[hint.__name__] = _of_dataclass(hint, found)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_of(part, found) for part in parts]}
    if origin in (list, tuple):
        return {"type": "array", "items": _of(parts[0], found)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(parts[1], found)}
    if hint is float:
        return {"anyOf": [{"type": "number"}, {"enum": NOT_FINITE}]}
    return {"type": PLAIN[hint]} if hint in PLAIN else {}


def _of_dataclass(kind, found):
    hints = typing.get_type_hints(kind)
    wanted = [f.name for f in fields(kind) if f.default is f.default_factory is MISSING]
    return {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "required": wanted,
        "properties": {f.name: _of(hints[f.name], found) for f in fields(kind)},
    }
