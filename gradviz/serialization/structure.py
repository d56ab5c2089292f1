"""What surrounds tensors, as JSON: dicts with plain keys, lists, tuples, numbers, text, None."""

from __future__ import annotations

from collections import OrderedDict

from ..engine.dispatch import wrap
from ..engine.dtypes import PUBLIC, dtype
from ..engine.tensor import Size, Tensor

PLAIN = (str, bool, int, float, type(None))


class Writer:
    """Turns nested containers into JSON and collects the arrays of their tensors."""

    def __init__(self):
        self.arrays = {}
        self._names = {}

    def describe(self, value, path=""):
        """JSON for ``value``; TypeError for what is neither plain data nor a tensor."""
        if isinstance(value, Tensor):
            return {
                "tensor": self._name(value, path),
                "requires_grad": value.is_leaf and value.requires_grad,
            }
        if isinstance(value, PLAIN):
            return {"value": _number(value)}
        if isinstance(value, dict):
            items = [
                [self.describe(k), self.describe(v, f"{path}.{k}" if path else str(k))]
                for k, v in value.items()
            ]
            return {"dict": items, "ordered": isinstance(value, OrderedDict)}
        if isinstance(value, tuple | list | set):
            kind = "size" if isinstance(value, Size) else type(value).__name__
            kind = (
                kind
                if kind in ("size", "tuple", "list", "set")
                else "tuple"
                if isinstance(value, tuple)
                else "list"
            )
            return {
                kind: [
                    self.describe(x, f"{path}.{k}" if path else str(k)) for k, x in enumerate(value)
                ]
            }
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, dtype):
            return {"dtype": value.name}
        raise TypeError(
            f"cannot save {type(value).__module__}.{type(value).__qualname__} at "
            f"{path or 'the top'}: save() keeps tensors, dicts, "
            "lists, tuples and plain values. Save a module as its state_dict()."
        )

    def _name(self, tensor, path):
        """Tensors that are the same object share one array."""
        if id(tensor) in self._names:
            return self._names[id(tensor)]
        name = path or "tensor"
        while name in self.arrays or name == "__metadata__":
            name += "_"
        self.arrays[name] = tensor._a
        self._names[id(tensor)] = name
        return name


def _number(value):
    """NaN and infinities are no JSON: as text in a list."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return [repr(value)]
    return value


class Reader:
    """Puts tensors back into their containers."""

    def __init__(self, arrays):
        self._arrays = arrays
        self._made = {}

    def build(self, told):
        """The value that ``told`` describes; ValueError for an unknown description."""
        ((kind, content), *_) = told.items()
        if kind == "tensor":
            return self._tensor(content, told.get("requires_grad", False))
        if kind == "value":
            return float(content[0]) if isinstance(content, list) else content
        if kind == "dict":
            made = OrderedDict if told.get("ordered") else dict
            return made((self.build(k), self.build(v)) for k, v in content)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](self.build(x) for x in content)
        if kind == "complex":
            return complex(*content)
        if kind == "dtype" and content in PUBLIC:
            return PUBLIC[content]
        raise ValueError(f"the file describes an unknown kind of value: {kind!r}")

    def _tensor(self, name, tracked):
        if name not in self._made:
            t = wrap(self._arrays[name])
            self._made[name] = t.requires_grad_() if tracked else t
        return self._made[name]


_SEQUENCES = {"list": list, "tuple": tuple, "set": set, "size": Size}
