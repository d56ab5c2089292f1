"""Tensors as text, the way PyTorch prints them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..backend import MetaArray, host, xp
from . import dtypes
from .modes import local, state


@dataclass
class Options:
    """What ``set_printoptions`` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = Options()
_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """Set how tensors print: digits, summarising threshold, edge items, line width, scientific
    notation.
    """
    if profile is not None:
        for key, value in _PROFILES[profile].items():
            setattr(options, key, value)
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for key, value in given.items():
        if value is not None:
            setattr(options, key, value)
    options.sci_mode = sci_mode


class _Formatter:
    """One width and notation for all shown numbers."""

    def __init__(self, values, kind):
        self.kind = kind
        self.scientific = False
        self.whole = kind == "float"
        self.width = 1
        if kind != "float":
            self.width = max((len(str(v)) for v in values), default=1)
            return
        finite = [v for v in values if math.isfinite(v) and v != 0]
        if not finite:
            return
        self.whole = all(v == math.ceil(v) for v in finite)
        sizes = [abs(v) for v in finite]
        self.scientific = self._wants_scientific(max(sizes), min(sizes))
        self.width = max(len(self._text(v)) for v in finite)

    def _wants_scientific(self, largest, smallest):
        if options.sci_mode is not None:
            return options.sci_mode
        if self.whole:
            return largest / smallest > 1000.0 or largest > 1.0e8
        return largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4

    def _plain(self, v):
        return f"{v:.0f}." if math.isfinite(v) else str(v)

    def _text(self, v):
        if self.kind != "float":
            return str(v)
        if self.scientific:
            return f"{v:.{options.precision}e}"
        if self.whole:
            return self._plain(v)
        return f"{v:.{options.precision}f}"

    def format(self, v):
        return self._text(v).rjust(self.width)


class _ComplexFormatter:
    def __init__(self, values):
        self.real = _Formatter([v.real for v in values], "float")
        self.imag = _Formatter(
            [abs(v.imag) if math.isnan(v.imag) else v.imag for v in values], "float"
        )
        self.width = self.real.width + self.imag.width + 1

    def format(self, v):
        imag = self.imag.format(v.imag).lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return f"{self.real.format(v.real)}{sign}{imag}j"


def _formatter(array):
    values = array.ravel().tolist()
    kind = array.dtype.kind
    if kind == "c":
        return _ComplexFormatter(values)
    return _Formatter(values, "float" if kind in "fV" else "bool" if kind == "b" else "int")


def _summarised(array):
    """Only the elements that will be shown."""
    edge = options.edgeitems
    for axis, n in enumerate(array.shape):
        if n > 2 * edge:
            index = xp.concatenate([xp.arange(edge), xp.arange(n - edge, n)])
            array = xp.take(array, index, axis)
    return array


def _line(values, formatter, indent, summarize):
    width = formatter.width
    per_line = max(1, (options.linewidth - indent) // (width + 2))
    n = len(values)
    edge = options.edgeitems
    if summarize and n > 2 * edge:
        shown = (
            [formatter.format(v) for v in values[:edge]]
            + [" ..."]
            + [formatter.format(v) for v in values[-edge:]]
        )
    else:
        shown = [formatter.format(v) for v in values]
    lines = [shown[i : i + per_line] for i in range(0, len(shown), per_line)]
    joined = [", ".join(line) for line in lines]
    return "[" + (",\n" + " " * (indent + 1)).join(joined) + "]"


def _body(array, indent, summarize, formatter):
    """Nested brackets, without recursion over more than the tensor's dimensions."""
    if array.ndim == 0:
        return formatter.format(array.tolist())
    if array.ndim == 1:
        return _line(array.tolist(), formatter, indent, summarize)
    edge = options.edgeitems
    n = array.shape[0]
    if summarize and n > 2 * edge:
        parts = [_body(array[i], indent + 1, summarize, formatter) for i in range(edge)]
        parts.append("...")
        parts += [_body(array[i], indent + 1, summarize, formatter) for i in range(n - edge, n)]
    else:
        parts = [_body(array[i], indent + 1, summarize, formatter) for i in range(n)]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _array_text(array, indent):
    if array.dtype.kind == "V" or str(array.dtype) == "bfloat16" or array.dtype == xp.float16:
        array = array.astype(xp.float32)
    if array.size == 0:
        return "[]"
    summarize = array.size > options.threshold
    return _body(array, indent, summarize, _formatter(_summarised(array) if summarize else array))


def _form(tensor):
    """What is told of the form of a tensor: size and dtype that its numbers do not show, device."""
    array = tensor._a
    out = []
    dtype = dtypes.of(array)
    natural = dtype in (dtypes.default.float, dtypes.default.complex, dtypes.int64, dtypes.bool_)
    if isinstance(array, MetaArray):
        out.append(f"size={tuple(array.shape)}")
        if dtype is not dtypes.default.float:
            out.append(f"dtype={dtype}")
    elif array.size == 0:
        if array.ndim != 1:
            out.append(f"size={tuple(array.shape)}")
        if dtype is not dtypes.default.float:
            out.append(f"dtype={dtype}")
    elif not natural:
        out.append(f"dtype={dtype}")
    if tensor.device.type != "cpu":
        out.insert(0, f"device='{tensor.device}'")
    return out


def _suffixes(tensor):
    out = _form(tensor) + _history(tensor)
    if state.special and local.dual is not None:
        from .forward_mode import tangent_of

        tangent = tangent_of(tensor)
        if tangent is not None:
            out.append(f"tangent={tangent}")
    return out


def _history(tensor):
    """Who made it; of a view whose base was modified in another mode that may not be asked."""
    try:
        g = tensor._g
    except RuntimeError:
        return ["grad_fn=<Invalid>"]
    if g is None:
        return []
    if tensor.is_leaf:
        return ["requires_grad=True"]
    return [f"grad_fn=<{type(g.node if g._kind == 1 else g).__name__}>"]


def text(tensor, prefix="tensor("):
    """``repr`` of a tensor."""
    if not local.transforms:
        return _plain_text(tensor, prefix, _suffixes(tensor))
    from . import tracking

    around, inner = tracking.levels_of(tensor)
    if inner is not tensor:
        with tracking.among(()):
            return tracking.wrapped(repr(inner), around)
    history = _history(tensor) if tracking.is_tracked_outside(tensor) else []
    return tracking.wrapped(_plain_text(tensor, prefix, _form(tensor) + history), around)


def _plain_text(tensor, prefix, suffixes):
    indent = len(prefix)
    numbers = not isinstance(tensor._a, MetaArray)
    body = _array_text(host(tensor._a), indent) if numbers else "..."
    if not suffixes:
        return f"{prefix}{body})"
    out = prefix + body
    line = len(out) - out.rfind("\n") + 1
    for s in suffixes:
        if line + len(s) + 2 > options.linewidth:
            out += ",\n" + " " * indent + s
            line = indent + len(s)
        else:
            out += ", " + s
            line += len(s) + 2
    return out + ")"


def formatted(tensor, spec):
    """``format(tensor, spec)``: a 0-d tensor as its number, others (and parameters) as text."""
    if isinstance(tensor._a, MetaArray):
        return object.__format__(tensor, spec) if spec else str(tensor)
    if tensor._a.ndim == 0 and type(tensor).__name__ == "Tensor":
        return tensor._a.item().__format__(spec)
    return object.__format__(tensor, spec) if spec else str(tensor)
