"""The local derivative of one node, with its own numbers put in."""

from __future__ import annotations

import re

import numpy as np

from gradviz.backend import host
from gradviz.engine import events

FEW = 4
WORD = re.compile(r"(?<![0-9A-Za-z_])([A-Za-z_][0-9A-Za-z_]*)(?![0-9A-Za-z_(])")


def with_numbers(node, arrived) -> str:
    """The formula of ``node`` with the gradient ``arrived``, what it saved and its numbers put in;
    empty when nothing in it is small enough to be written out.
    """
    formula = events.formula(node)
    known = dict(_small(node))
    if arrived is not None and arrived.size <= FEW:
        known["g"] = spelled(arrived)
    put = False

    def number(match):
        nonlocal put
        said = known.get(match[1])
        if said is None or match.string[: match.start()].endswith("∂"):
            return match[0]
        put = True
        return said

    found = WORD.sub(number, formula)
    return found if put else ""


def _small(node):
    """(name, number as text) of what the formula may name."""
    for name, array, _, _, freed in events.saved(node):
        if not freed and isinstance(array, np.ndarray) and array.size <= FEW:
            yield name, spelled(array)
    op, at = node.op, getattr(node, "at", ())
    for name, place in (op.saved_attrs if op is not None else {}).items():
        value = at[place] if place < len(at) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, f"{value:g}"


def spelled(array) -> str:
    """``0.5`` or ``[1, 0.5]``; a negative number in parentheses, so that a formula stays right."""
    flat = [_figure(value) for value in np.asarray(host(array)).ravel().tolist()]
    return flat[0] if np.ndim(array) == 0 else f"[{', '.join(x.strip('()') for x in flat)}]"


def _figure(value):
    said = f"{value:.4g}" if not isinstance(value, complex) else f"{value:.3g}"
    return f"({said})" if said.startswith("-") else said
