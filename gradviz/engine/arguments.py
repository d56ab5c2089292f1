"""What PyTorch says to arguments that fit none of the signatures of a function.

``signatures.txt`` says what each function and method takes. Nothing here is looked at before a
call has failed: a check of every call would cost as much as a small operation.
"""

from __future__ import annotations

import functools
import os
import re

from ..backend import xp
from . import device, dtypes
from .operands import type_name
from .tensor import Tensor

_WORDS = {
    "Number": "Number",
    "Tensors": "tuple of Tensors",
    "ints": "tuple of ints",
    "floats": "tuple of floats",
    "Numbers": "tuple of Scalars",
    "Generator": "torch.Generator",
    "Storage": "torch.Storage",
    "dtype": "torch.dtype",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Device": "torch.device",
}
# Other names that a parameter may be given by.
_NUMPY = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
# Where a number may stand for a tensor.
_NUMBERS_TOO = frozenset(
    f"{name}{tail}"
    for name in "add sub mul div subtract multiply divide true_divide floor_divide copy".split()
    for tail in ("", "_")
)


class Parameter:
    """One parameter of a signature."""

    def __init__(self, text, keyword_only):
        declared, self.name = text.split(" ", 1)
        self.name, equals, self.default = self.name.partition("=")
        self.kind = re.match(r"\w+", declared)[0]
        broadcast = re.search(r"\[(\d+)\]", declared)
        self.broadcast = int(broadcast[1]) if broadcast else 0
        self.optional, self.keyword_only = bool(equals), keyword_only
        self.allows_none = "?" in declared or self.default == "None"
        self.word = _WORDS.get(self.kind, self.kind)
        self.names = (self.name, *_NUMPY.get(self.name, ()))

    def __str__(self):
        return f"{self.word} {self.name}" + (f" = {self.default}" if self.optional else "")


class Signature:
    """One way to call a function."""

    def __init__(self, text):
        self.name, _, inside = text.partition("(")
        inside, _, mark = inside.rpartition(")")
        self.hidden = mark == "|deprecated"
        before, star, after = inside.partition("*")
        self.parameters = [
            Parameter(part, keyword_only)
            for side, keyword_only in ((before, False), (after, True))
            for part in side.strip(", ").split(", ")
            if part
        ]
        positional = [p for p in self.parameters if not p.keyword_only]
        self.least = sum(not p.optional for p in self.parameters)
        self.most, self.positional = len(self.parameters), len(positional)
        self.open_ended = self.positional == 1 and self.parameters[0].kind == "ints"

    def __str__(self):
        parts = [str(p) for p in self.parameters]
        if self.positional < self.most:
            parts.insert(self.positional, "*")
        return f"({', '.join(parts)})"

    def refusal(self, args, kwargs):
        """Why the arguments do not fit, None where they do."""
        if len(args) > self.positional and not (self.open_ended and _int(args[0])):
            return self._too_many(args)
        place, left = 0, len(kwargs)
        for index, p in enumerate(self.parameters):
            by_place = place < len(args)
            if by_place and p.keyword_only:
                return self._too_many(args)
            given = by_place or next((n for n in p.names if n in kwargs), None)
            value = args[place] if by_place else kwargs.get(given)
            if not given and not p.optional:
                return self._missing(index)
            if given and not (value is None and p.allows_none):
                wrong = unfit(p, value, self.name, index)
                if wrong is not None:
                    whole = self.open_ended and by_place and place == 0
                    if whole and unfit(p, args, self.name, index) is None:
                        place = len(args)
                        continue
                    return self._wrong(p, value, by_place and place + 1, wrong, whole and args)
            if by_place:
                place += 1
            elif given:
                left -= 1
        if place < len(args):
            return self._too_many(args)
        return self._unknown(kwargs, len(args)) if left > 0 else None

    def spoiled(self, args, kwargs):
        """The error for a list of integers that begins with one and goes on otherwise."""
        for place, p in enumerate(self.parameters):
            value = args[place] if place < len(args) else kwargs.get(p.name)
            if self.open_ended and args and not isinstance(value, (tuple, list)):
                value = args
            for k, part in enumerate(value if isinstance(value, (tuple, list)) else ()):
                if p.kind == "ints" and not _int(part):
                    return TypeError(
                        f"{self.name}(): argument '{p.name}' failed to unpack the object at pos "
                        f'{k + 1} with error "type must be tuple of ints,but got {type_name(part)}"'
                    )
        return None

    def _too_many(self, args):
        n, least, most = len(args), self.least, self.positional
        if least != most:
            takes = f"from {least} to {most} positional arguments but {n} were"
        else:
            takes = f"{most} positional argument{'s' * (most != 1)} but {n} " + (
                "was" if n == 1 else "were"
            )
        return TypeError(f"{self.name}() takes {takes} given")

    def _missing(self, index):
        names = [f'"{p.name}"' for p in self.parameters[index:] if not p.optional]
        return TypeError(
            f"{self.name}() missing {len(names)} required positional argument"
            f"{'s' * (len(names) == 1)}: {', '.join(names)}"
        )

    def _wrong(self, p, value, position, wrong, whole):
        if isinstance(wrong, TypeError):
            return wrong
        place = f" (position {position})" if position else ""
        start = f"{self.name}(): argument '{p.name}'{place} must be {p.word}, "
        if position and wrong >= 0:
            parts = value if isinstance(value, (tuple, list)) else whole
            return TypeError(
                f"{start}but found element of type {type_name(parts[wrong])} at pos {wrong}"
            )
        return TypeError(f"{start}not {type_name(value)}")

    def _unknown(self, kwargs, positional):
        names = [p.name for p in self.parameters]
        for key in kwargs:
            if key not in names:
                return TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
            if names.index(key) < positional:
                return TypeError(f"{self.name}() got multiple values for argument '{key}'")
        return TypeError("invalid keyword arguments")


# ---------------------------------------------------------------- one argument
def unfit(p, value, name, index):
    """None where ``value`` is of the parameter's kind; which element is not, -1 for the whole; the
    error itself for a list of tensors.
    """
    kind = p.kind
    if kind == "Tensors":
        return _unfit_tensors(p, value, index)
    if kind == "ints":
        return _unfit_ints(p, value)
    if kind == "Tensor":
        fits = isinstance(value, Tensor) or name in _NUMBERS_TOO and _scalar(value)
    else:
        fits = _FITS[kind](value)
    return None if fits else -1


def _unfit_tensors(p, value, index):
    if not isinstance(value, (tuple, list)):
        return -1
    for k, part in enumerate(value):
        if not isinstance(part, Tensor) and not (part is None and p.name == "indices"):
            return TypeError(
                f"expected Tensor as element {k} in argument {index}, but got {type_name(part)}"
            )
    return None


def _unfit_ints(p, value):
    if isinstance(value, (tuple, list)):
        return 0 if value and not _int(value[0]) else None
    return None if p.broadcast and _int(value) else -1


def _number_tensor(value):
    return isinstance(value, Tensor) and value._a.ndim == 0 and not value.requires_grad


def _scalar(value):
    return isinstance(value, (int, float, complex, xp.generic))


def _int(value):
    whole = isinstance(value, (int, xp.integer)) and not isinstance(value, bool)
    return whole or _number_tensor(value) and value._a.dtype.kind in "iu"


def _several(fits):
    return lambda value: isinstance(value, (tuple, list)) and all(fits(part) for part in value)


def _real(value):
    return isinstance(value, (int, float, xp.floating, xp.integer)) or _number_tensor(value)


def _named(*names):
    return lambda value: type_name(value) in names


_FITS = {
    "int": _int,
    "float": _real,
    "complex": lambda value: isinstance(value, complex) or _real(value),
    "Number": lambda value: _scalar(value) or _number_tensor(value),
    "bool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "floats": lambda value: isinstance(value, (tuple, list)) and all(map(_real, value[:1])),
    "Numbers": _several(_scalar),
    "dtype": lambda value: isinstance(value, dtypes.dtype) or value in (float, int, bool, complex),
    "Device": lambda value: isinstance(value, (device.Device, str, int)),
    "Layout": _named("torch.layout"),
    "MemoryFormat": _named("torch.memory_format"),
    "Generator": lambda value: type(value).__name__ == "Generator",
    "Storage": lambda value: "Storage" in type(value).__name__,
    "object": lambda value: True,
}


# ---------------------------------------------------------------- all signatures
@functools.cache
def _tables():
    with open(os.path.join(os.path.dirname(__file__), "signatures.txt"), encoding="utf-8") as file:
        text = file.read()
    functions, methods = text.split("functions:\n")[1].split("methods:\n")
    return _by_name(functions), _by_name(methods)


def _by_name(text):
    found = {}
    for line in dict.fromkeys(text.splitlines()):
        found.setdefault(line.partition("(")[0], []).append(line)
    return found


def known(name, method):
    """Whether the signatures of a function, or of a method, are known."""
    return name in _tables()[method]


def parameters(name):
    """The positional parameters of a function's first signature."""
    lines = _tables()[0].get(name, ())
    return [p for p in Signature(lines[0]).parameters if not p.keyword_only] if lines else []


def refusal(name, args, kwargs, method=False, unfinished=False):
    """PyTorch's TypeError for arguments that fit no signature, None where they fit one.
    ``unfinished``: more would follow that is right.
    """
    signatures = [Signature(line) for line in _tables()[method].get(name, ())]
    if unfinished:
        signatures = [s for s in signatures if not s.hidden]
        for p in (p for s in signatures for p in s.parameters[len(args) :]):
            p.optional = True
    if len(signatures) == 1:
        only = signatures[0]
        if not only.most:
            return _none(name, args, kwargs)
        return only.refusal(args, kwargs) or only.spoiled(args, kwargs)
    for signature in signatures:
        found = signature.refusal(args, kwargs)
        if found is None:
            return signature.spoiled(args, kwargs)
        if str(found).startswith("expected Tensor as element"):
            return found
    shown = [s for s in signatures if not s.hidden]
    given = len(args) + len(kwargs)
    plausible = [s for s in shown if s.least <= given <= s.most]
    if len(plausible) == 1:
        found = plausible[0].refusal(args, kwargs)
        if found is not None:
            return found
    if len(shown) == 1:
        return TypeError(_not_the_one(name, args, kwargs, shown[0]))
    return TypeError(_no_such_combination(name, args, kwargs, shown)) if shown else None


def by_place(name, args, kwargs):
    """All arguments of a function of one signature by their places; its TypeError where they do
    not fit.
    """
    refused = refusal(name, args, kwargs)
    if refused is not None:
        raise refused
    rest = parameters(name)[len(args) :]
    return (*args, *(kwargs[n] for p in rest for n in p.names if n in kwargs))


def no_combination(name, args, lines):
    """The TypeError for arguments of a function written in Python over these signatures."""
    signatures = [Signature(line) for line in lines]
    return TypeError(_no_such_combination(name, args, {}, signatures))


def _none(name, args, kwargs):
    """The TypeError of a method that takes no arguments."""
    if kwargs:
        return TypeError(f"TensorBase.{name}() takes no keyword arguments")
    return (
        TypeError(f"TensorBase.{name}() takes no arguments ({len(args)} given)") if args else None
    )


def _got(args, kwargs):
    described = [type_name(a) for a in args] + [f"{k}={type_name(v)}" for k, v in kwargs.items()]
    return f"({', '.join(described)}{', ' if kwargs and not args else ''})"


def _not_the_one(name, args, kwargs, signature):
    """What is said where all signatures but one are deprecated."""
    kwargs = dict(reversed(kwargs.items()))
    start = f"{name}() received an invalid combination of arguments - got "
    names = [p.name for p in signature.parameters]
    unknown = [key for key in kwargs if key not in names]
    if unknown:
        return f"{start}unrecognized keyword arguments: {', '.join(unknown)}"
    return f"{start}{_got(args, kwargs)}, but expected {signature}"


def _no_such_combination(name, args, kwargs, signatures):
    kwargs = dict(reversed(kwargs.items()))
    lines = [
        f"{name}() received an invalid combination of arguments - got "
        f"{_got(args, kwargs)}, but expected one of:"
    ]
    if len(signatures) == 1:
        only = signatures[0]
        return only.refusal(args, kwargs) if only.most else _none(name, args, kwargs)
    for signature in signatures:
        lines.append(f" * {signature}")
        why = _why_not(signature, args, kwargs)
        if why:
            lines.append(f"      didn't match because some of the {why}")
    return "\n".join(lines) + "\n"


def _why_not(signature, args, kwargs):
    """What was wrong, told only where the number of arguments is that of all parameters."""
    parts = str(signature)[1:-1].split(", ")
    if len(args) + len(kwargs) != len(parts):
        return None
    kinds, _, names = zip(*(part.rpartition(" ") for part in parts), strict=True)
    unknown = [key for key in kwargs if key not in names[len(parts) - len(kwargs) :]]
    if unknown:
        return f"keywords were incorrect: {', '.join(unknown)}"
    shown = []
    for k, kind in enumerate(kinds):
        value = args[k] if k < len(args) else kwargs[names[k]]
        text = ("" if k < len(args) else f"{names[k]}=") + _described(value)
        shown.append(text if _matches(kind, value) else f"!{text}!")
    return f"arguments have invalid types: ({', '.join(shown)}{'' if args else ', '})"


def _matches(kind, value):
    name = type_name(value)
    return name == kind or kind == "float" and name == "int"


def _described(value):
    if not isinstance(value, (tuple, list)):
        return type_name(value)
    inside = ", ".join(type_name(part) for part in value)
    if isinstance(value, list):
        return f"{type_name(value)} of [{inside}]"
    return f"{type_name(value)} of ({inside}{',' * (len(value) == 1)})"
