"""Writes down what the installed CuPy offers, for the strict double: names, and the parameters of
each. It needs no GPU: ``python tests/backend/record_surface.py gradviz/backend/cupy_surface.txt``.
"""

import inspect
import re
import sys
from pathlib import Path

import cupy
import cupyx.scipy.special

MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def plain(signature):
    """``a, axis=, *, dtype=``."""
    out = []
    for p in signature.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not any(word.startswith("*") for word in out):
            out.append("*")
        out.append(MARKS.get(p.kind, "") + p.name + ("" if p.default is p.empty else "="))
    return ", ".join(out)


def shape(function):
    """What a function takes."""
    if isinstance(function, cupy.ufunc):
        return "ufunc at" if function._scatter_op else "ufunc"
    if type(function).__name__ == "_GUFunc":
        return "ufunc"
    try:
        return f"({plain(inspect.signature(function))})"
    except (TypeError, ValueError):
        return "(*args, **kwargs)"


def rows(prefix, module):
    """The functions of a module."""
    for name in sorted(n for n in dir(module) if not n.startswith("_")):
        found = getattr(module, name)
        if callable(found) and not isinstance(found, type):
            yield f"{prefix}{name} {shape(found)}"


def method(name):
    """What a method of an array takes, as its documentation says."""
    found = getattr(cupy.ndarray, name)
    if not callable(found):
        return "property"
    told = re.match(r"_ndarray_base\.\w+\(self(?:, )?(.*?)\)", found.__doc__ or "")
    if told is None:
        return "(*args, **kwargs)"
    parts = [p.strip() for p in told[1].split(", ") if p.strip()]
    words = [
        p if p.startswith("*") else re.sub(r"=.*", "=", re.sub(r"^.*? (\w+)", r"\1", p))
        for p in parts
    ]
    return f"({', '.join(words)})"


def surface():
    """All lines."""
    return [
        f"# CuPy {cupy.__version__}",
        *rows("", cupy),
        *rows("linalg.", cupy.linalg),
        *rows("fft.", cupy.fft),
        *rows("lib.stride_tricks.", cupy.lib.stride_tricks),
        *rows("special.", cupyx.scipy.special),
        *(f"ndarray.{n} {method(n)}" for n in sorted(dir(cupy.ndarray)) if not n.startswith("_")),
    ]


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("\n".join(surface()) + "\n", encoding="utf-8")
