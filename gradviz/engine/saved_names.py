"""The ``_saved_*`` and ``_raw_saved_*`` attributes of a node: PyTorch's names for what it keeps."""

from __future__ import annotations

from ..backend import xp
from .given import shown
from .node import FREED, LEAF, Nowhere, Output, freed, new
from .saved import (
    Packed,
    as_given,
    check_callables,
    check_may_be_packed,
    pack,
    read_tensor,
    result_tensor,
)


class part:
    """The saved output ``index`` of a node with several, or the saved result (None)."""

    __slots__ = ("index",)

    def __init__(self, index=None):
        self.index = index

    def __call__(self, node):
        if node.r is FREED:
            freed()
        found = result_tensor(node)
        return found if self.index is None else found[self.index]


class kept:
    """The saved input ``name`` under another name."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __call__(self, node):
        return _saved_input(node, node.op.saved_names.index(self.name))


class maybe:
    """The array that a node keeps as the attribute ``name``, which may be None."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __call__(self, node):
        return node.at[node.op.attr_names.index(self.name)]


def nothing(node):
    """A tensor that PyTorch saves and we do without."""
    return None


def saved_attribute_names(node):
    """The ``_saved_*`` and ``_raw_saved_*`` names of a node."""
    op = node.op
    if op is None:
        return []
    tensors = op.saved_names + (["result"] if op.saves_result else [])
    sizes = [f"{op.input_names[i]}_sym_sizes" for i in op.shaped]
    names = [
        n
        for n in dict.fromkeys((*tensors, *op.saved_attrs, *sizes, *op.also))
        if n not in op.hidden or n in op.also
    ]
    return [f"_saved_{n}" for n in names] + [f"_raw_saved_{n}" for n in names if _is_raw(node, n)]


def _is_raw(node, name):
    """Whether what is saved under this name is a tensor, or several."""
    op = node.op
    found = op.also.get(name)
    if _slot(op, name) is not None or found is nothing or isinstance(found, maybe):
        return True
    try:
        value = _value(node, name)
    except RuntimeError:
        return True
    return _is_tensor(value) or type(value) is tuple and any(map(_is_tensor, value))


def _is_tensor(value):
    from .tensor import Tensor

    return isinstance(value, (Tensor, xp.ndarray))


class _Saved:
    """An attribute of a node class; what a person puts on a ctx under this name goes first."""

    __slots__ = ("attribute",)

    def __init__(self, attribute):
        self.attribute = attribute

    def __get__(self, node, owner=None):
        return self if node is None else read_saved(node, self.attribute)

    def __set__(self, node, value):
        raise AttributeError(
            f"attribute '{self.attribute}' of '{type(node).__name__}' objects is not writable"
        )


def give_saved_names(op):
    """The node class of ``op`` gets its ``_saved_*`` and ``_raw_saved_*`` attributes."""
    sizes = [f"{op.input_names[i]}_sym_sizes" for i in op.shaped]
    for name in {*op.saved_names, *op.saved_attrs, *sizes, *op.also, "result"}:
        if _is_name(op, name):
            for attribute in (f"_saved_{name}", f"_raw_saved_{name}"):
                setattr(op.node, attribute, _Saved(attribute))


def read_saved(node, attribute):
    """``node._saved_self``, ``node._raw_saved_result`` …; AttributeError when the node saves no
    such thing.
    """
    op = node.op
    raw = attribute.startswith("_raw")
    name = attribute.removeprefix("_raw_saved_" if raw else "_saved_")
    if op is not None and _is_name(op, name) and (not raw or _is_raw(node, name)):
        if not raw:
            return _value(node, name)
        several = _value(node, name) if _slot(op, name) is None else None
        if type(several) is tuple:
            return tuple(_raw(node, name, k) for k in range(len(several)))
        return _raw(node, name)
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{attribute}'")


def _is_name(op, name):
    if name in op.also:
        return True
    if name in op.hidden:
        return False
    return (
        name in op.saved_names
        or name in op.saved_attrs
        or name == "result"
        and op.saves_result
        or name.endswith("_sym_sizes")
        and name.removesuffix("_sym_sizes") in [op.input_names[i] for i in op.shaped]
    )


def _value(node, name):
    op = node.op
    if name in op.also:
        return _as_tensor(shown(op.also[name](node), name))
    if name == "result" and op.saves_result:
        return None if node.r is None else result_tensor(node)
    if name in op.saved_names:
        return _saved_input(node, op.saved_names.index(name))
    if name in op.saved_attrs:
        value = node.at[op.saved_attrs[name]]
        number = isinstance(value, xp.generic) and name != "indices"
        return _as_tensor(shown(value.item() if number else value, name))
    at = [op.input_names[i] for i in op.shaped].index(name.removesuffix("_sym_sizes"))
    return node.at[len(op.attr_names) + at]


def _as_tensor(value):
    from .dispatch import wrap

    return wrap(value) if isinstance(value, (xp.ndarray, xp.generic)) else value


def _saved_input(node, index):
    if node.s is FREED:
        freed()
    if not node.s or node.s[2 * index] is None or _unwanted(node, node.op.saved_by[index]):
        return None
    return as_given(read_tensor(node.s[2 * index], node.s[2 * index + 1]))


def _unwanted(node, by):
    """Whether only the gradient of an input that leads nowhere would need what is saved."""
    return by > 0 and not by & (by - 1) and node.e[by.bit_length() - 1].__class__ is Nowhere


# ---------------------------------------------------------------- raw saved tensors
def _raw(node, name, index=None):
    made = new(SavedTensor)
    made._node, made._name, made._index = node, name, index
    return made


def _slot(op, name):
    """Where a node keeps the tensor of this name: ("s", index), ("r", index or None), or None."""
    found = op.also.get(name)
    if isinstance(found, part):
        return ("r", found.index)
    if isinstance(found, kept):
        return ("s", 2 * op.saved_names.index(found.name))
    if found is None and name == "result" and op.saves_result:
        return ("r", None)
    if found is None and name in op.saved_names:
        return ("s", 2 * op.saved_names.index(name))
    return None


def pack_parts(node, outs):
    """Send the saved outputs that PyTorch saves too through the innermost pack hook."""
    named = sorted(f.index for f in node.op.also.values() if isinstance(f, part))
    if named:
        node.r = list(node.r)
        for k in named:
            node.r[k] = _packed_output(node, k, outs[k])


def _packed_output(node, k, out, hooks=None):
    """The output is shown as another tensor, so that a hook that gives it back makes no cycle."""
    seen = new(type(out))
    seen._a, seen._v, seen._g = out._a, out._v, out._g
    packed = pack(seen, Output(node, k), hooks)
    if packed.packed is seen:
        packed.packed = seen.detach()
    return packed


class SavedTensor:
    """One saved tensor of a node, as ``_raw_saved_*`` gives it."""

    __slots__ = ("_index", "_name", "_node")
    __module__ = "torch._C._autograd"

    def __init__(self, *given):
        if given:
            raise TypeError(
                "__init__(): incompatible constructor arguments. The following argument types are "
                "supported:\n    1. torch._C._autograd.SavedTensor()\n\nInvoked with: "
                + ", ".join(map(repr, given))
            )
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    def _found(self):
        """What is kept: a tensor, a Packed, None, or FREED."""
        node, slot = self._node, _slot(self._node.op, self._name)
        if node.s is FREED or node.r is FREED:
            return FREED
        if slot is None:
            value = _value(node, self._name)
            return value if self._index is None else value[self._index]
        kind, index = slot
        if kind == "s":
            return node.s[index] if node.s else None
        if node.r is None:
            return None
        if index is None:
            return node.r if node.r.__class__ is Packed else result_tensor(node)
        one = node.r[index]
        return one if one.__class__ is Packed else result_tensor(node)[index]

    @property
    def data(self):
        """The saved tensor, or what the pack hook made of it; None once it was freed."""
        found = self._found()
        return None if found is FREED else found.packed if found.__class__ is Packed else found

    @property
    def unpack_hook(self):
        """The hook that gives the tensor back, None without hooks."""
        found = self._found()
        return found.unpack if found.__class__ is Packed else None

    def register_hooks(self, *hooks):
        """``register_hooks(pack, unpack)``: replace what is saved by ``pack(it)``; ``unpack``
        gives it
        back in backward.
        """
        check_callables("register_hooks", hooks, self)
        node, slot, found = self._node, _slot(self._node.op, self._name), self._found()
        check_may_be_packed(found is FREED, found)
        if slot is None:
            raise NotImplementedError(
                f"register_hooks on {node.name()}._raw_saved_{self._name} is not supported"
            )
        kind, index = slot
        if kind == "s":
            entries = list(node.s)
            entries[index] = pack(found.detach(), found if found._g is LEAF else found._g, hooks)
            node.s = tuple(entries)
        elif index is None:
            node.r = pack(found.detach(), node, hooks)
        else:
            node.r = list(node.r)
            node.r[index] = _packed_output(node, index, found, hooks)

    def __repr__(self):
        return f"<torch._C._autograd.SavedTensor object at 0x{id(self):x}>"
