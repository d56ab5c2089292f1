"""What PyTorch's own tensors and nodes say when they are read: the same questions, with the same
answers, as ``gradviz.engine.events`` has for ours. Nothing is unpacked, copied or changed.
"""

from __future__ import annotations

import re
import weakref
from functools import cache, partial

from gradviz.engine.node import LEAF, serial

from .torch_nodes import (
    TorchNode,
    is_leaf_end,
    loaded,
    made_by,
    node_for,
    serial_of,
    tensor_fn,
)

FREED = "backward through the graph a second time"
VERSIONS = re.compile(r"is at version (\d+); expected version (\d+) instead")
RAW, SAVED = "_raw_saved_", "_saved_"
LONGEST = 40
BOXES = {
    "CompiledFunctionBackward": "compiled: one node, what is inside is not seen",
    "CheckpointFunctionBackward": "a checkpoint: one node, run again when backward comes",
}

_ids: dict[int, tuple] = {}


def is_tensor(thing) -> bool:
    """Whether ``thing`` is a tensor of PyTorch."""
    torch = loaded()
    return torch is not None and isinstance(thing, torch.Tensor)


# -- tensors -----------------------------------------------------------------------
def edge(tensor):
    """None, LEAF or the node that made ``tensor``."""
    fn = made_by(tensor)
    if fn is not None:
        return _node(tensor, fn)
    return LEAF if is_leaf(tensor) and tensor.requires_grad else None


def is_leaf(tensor) -> bool:
    """``tensor.is_leaf``; false for a view that may not be asked any more."""
    try:
        return tensor.is_leaf
    except RuntimeError:
        return False


def node_of(tensor) -> TorchNode | None:
    """The node that made ``tensor``, or None."""
    fn = made_by(tensor)
    return None if fn is None else _node(tensor, fn)


def _node(tensor, fn):
    node = node_for(fn)
    if node.mark.made() is not tensor:
        node.mark.made = weakref.ref(tensor)
    return node


def serials(tensor, steps) -> list[int]:
    """Serials of the node that made ``tensor`` and of what that was computed from alone; none of
    them is marked for it.
    """
    fn, found = made_by(tensor), []
    while fn is not None and not is_leaf_end(fn) and len(found) <= steps:
        found.append(serial_of(fn))
        below = fn.next_functions
        fn = below[0][0] if len(below) == 1 else None
    return found


def output_nr(tensor) -> int:
    """Which output of its node ``tensor`` is."""
    return tensor.output_nr


def leaf_id(tensor) -> int:
    """A serial for a tensor, given when first asked."""
    key = id(tensor)
    ref, number = _ids.get(key, (None, 0))
    if ref is None or ref() is not tensor:
        number = serial()
        _ids[key] = weakref.ref(tensor, lambda gone: _forget(key, gone)), number
    return number


def _forget(key, ref):
    if key in _ids and _ids[key][0] is ref:
        del _ids[key]


def grad(tensor):
    """``tensor.grad`` without the warning for results."""
    return tensor.grad if is_leaf(tensor) or tensor.retains_grad else None


def version(tensor) -> int:
    """How often the storage was modified in place; an inference tensor does not count."""
    return 0 if tensor.is_inference() else tensor._version


def storage_id(tensor) -> int:
    """An identity for the memory under ``tensor``."""
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):  # sparse, or a wrapper without memory of its own
        return id(tensor)


def storage_bytes(tensor) -> int:
    """Bytes of the whole storage under ``tensor``."""
    try:
        return tensor.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError):
        return bytes_of(tensor)


def shape_of(tensor) -> tuple:
    """The sizes; none for nested tensors, which have no regular shape."""
    try:
        return tuple(tensor.shape)
    except RuntimeError:
        return ()


def bytes_of(tensor) -> int:
    """Bytes of its elements; of a sparse one those of its indices and values."""
    if tensor.layout is loaded().sparse_coo:
        return tensor._indices().nbytes + tensor._values().nbytes
    try:
        return tensor.nbytes
    except RuntimeError:
        return 0


def address(tensor) -> int:
    """Where the first element lies; 0 where that cannot be asked."""
    try:
        return tensor.data_ptr() if tensor.device.type == "cpu" else 0
    except RuntimeError:
        return 0


def host(tensor):
    """The numbers as a NumPy array on the same memory; None for those that are elsewhere."""
    torch = loaded()
    try:
        if tensor.device.type != "cpu" or tensor.layout is not torch.strided:
            return None
        plain = tensor.detach().resolve_conj().resolve_neg()
        if plain.dtype is torch.bfloat16:
            import ml_dtypes

            return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
        return plain.numpy()
    except (RuntimeError, TypeError, NotImplementedError):
        return None


def on_host(grad):
    """The numbers of a gradient in single or double precision; None for those of another kind, or
    elsewhere.
    """
    found = None if grad is None else host(grad)
    return found if found is not None and found.dtype.char in "fd" else None


# -- nodes -------------------------------------------------------------------------
def inputs(node) -> tuple:
    """None, a leaf tensor, or (node, output number), one a slot."""
    return node.inputs()


def output_meta(node) -> tuple:
    """(shape, dtype name) of each output of a node."""
    described = getattr(node.fn, "_input_metadata", None) or ()
    found = tuple((shape_of(one), name_of(one.dtype)) for one in described)
    return found or (((), ""),)


@cache
def name_of(dtype) -> str:
    """``float32`` of ``torch.float32``."""
    return str(dtype).removeprefix("torch.")


@cache
def _raw_names(kind):
    """The attributes of a class of nodes that stand for saved tensors."""
    return [name for name in dir(kind) if name.startswith(RAW)]


def saved(node) -> tuple:
    """(name, tensor or None, version saved, version now, freed) of each saved tensor."""
    return tuple(one for parts in _raw(node.fn) if (one := _described(*parts)) is not None)


def _raw(fn):
    """(name, what PyTorch keeps, how to unpack it) of each saved tensor; None for what it keeps no
    more.
    """
    for attribute in _raw_names(type(fn)):
        name = attribute.removeprefix(RAW)
        name = "saved_tensors" if name == "tensors" else name
        try:
            kept = getattr(fn, attribute)
        except RuntimeError:
            yield name, None, None
            continue
        if isinstance(kept, tuple):
            yield from ((f"{name}[{k}]", one, one.unpack) for k, one in enumerate(kept))
        else:
            yield name, kept, partial(getattr, fn, "_saved_" + name)


def _described(name, raw, unpack):
    """One saved tensor; None where there was none to save."""
    if raw is None:
        return name, None, 0, 0, True
    data = raw.data
    if data is None:
        return (name, None, 0, 0, True) if _is_released(unpack) else None
    if raw.unpack_hook is not None:
        return name, None, 0, 0, False
    now = version(data)
    return name, data, _version_saved(unpack, now), now, False


def _is_released(unpack):
    try:
        unpack()
    except RuntimeError as error:
        return FREED in str(error)
    return False


def _version_saved(unpack, now):
    """The version at which it was saved; PyTorch tells it only where the two differ."""
    if not now:
        return 0
    try:
        unpack()
    except RuntimeError as error:
        found = VERSIONS.search(str(error))
        return int(found[2]) if found else now
    return now


def saved_from(node) -> dict:
    """PyTorch does not tell whose tensors these are."""
    return {}


def saved_arrays(node):
    """The tensors that ``node`` has saved; None when it saved some and dropped them."""
    found = saved(node)
    gone = bool(found) and all(one[4] for one in found)
    return None if gone else [one[1] for one in found if one[1] is not None]


def keeps_saved(node):
    """Whether ``node`` still has what it saved; None when it saved nothing."""
    found = saved(node)
    return any(not one[4] for one in found) if found else None


def hooks(target) -> tuple:
    """(kind, callable) of every hook on a node or a tensor."""
    out = [(kind, hook) for kind, table in hook_tables(target) for hook in table.values()]
    tensor = _tensor_of(target)
    if tensor is not None and tensor.retains_grad:
        out.append(("retain_grad", None))
    return tuple(out)


def hook_tables(target) -> list:
    """(kind, table of callables) of the hooks on a node or a tensor."""
    tensor = _tensor_of(target)
    if tensor is None:
        return []
    found = (
        ("post_accumulate", tensor._post_accumulate_grad_hooks),
        ("tensor", tensor._backward_hooks),
    )
    return [(kind, table) for kind, table in found if table]


def _tensor_of(target):
    """``target``, or the tensor that a node made, while that lives."""
    if target.__class__ is not TorchNode:
        return target
    return None if tensor_fn(target.mark) is None else target.mark.made()


def formula(node) -> str:
    """The local derivative as text, where our engine has an operation of that name; of a node that
    stands for many what it is; and the arguments that the node keeps.
    """
    known = BOXES.get(node.name(), "") if node.op is None else node.op.formula
    kept = ", ".join(f"{name} = {value}" for name, value in arguments(node))
    return f"{known}  ({kept})" if known and kept else known or kept


def arguments(node) -> list:
    """(name, value) of what a node keeps beside tensors and their sizes: ``exponent``, ``dim``."""
    fn, found = node.fn, []
    for attribute in _argument_names(fn.__class__):
        try:
            value = getattr(fn, attribute)
        except RuntimeError:
            continue  # freed
        if isinstance(value, bool | int | float | str | tuple) and len(str(value)) <= LONGEST:
            found.append((attribute.removeprefix(SAVED), value))
    return found


@cache
def _argument_names(kind):
    """The attributes of a class of nodes that stand for arguments."""
    names = [name for name in dir(kind) if name.startswith(SAVED) and "_sym_" not in name]
    return [name for name in names if not hasattr(kind, RAW + name.removeprefix(SAVED))]


def context_items(node):
    """Attributes that a person put on the ``ctx`` of a custom function: (name, value)."""
    return list(getattr(node.fn, "__dict__", {}).items())


def walk(starts, limit, stop=()):
    """(nodes, leaves, whether that is all): what ``starts`` (nodes) hold, themselves included."""
    nodes, leaves, pending = {}, {}, list(starts)
    while pending:
        node = pending.pop()
        if node.seq in nodes or node.seq in stop:
            continue
        if len(nodes) >= limit:
            return nodes, leaves, False
        nodes[node.seq] = node
        for source in node.inputs():
            if source.__class__ is tuple:
                pending.append(source[0])
            elif source is not None:
                leaves[leaf_id(source)] = source
    return nodes, leaves, True
