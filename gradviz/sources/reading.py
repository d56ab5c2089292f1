"""Questions to a tensor or a node, whichever engine it belongs to: ours, or the PyTorch that the
program has imported. Reading has no side effects.
"""

from __future__ import annotations

import gc
import weakref

import numpy as np

from gradviz.engine import events
from gradviz.engine.node import LEAF, Node
from gradviz.engine.tensor import Tensor

from . import torch_nodes, torch_tensors
from .torch_nodes import TorchNode, WeakNode, is_fn, loaded, node_for

OURS = Tensor, Node


def kinds() -> tuple[type, ...]:
    """The classes of tensors: ours, and PyTorch's when the program has imported it."""
    torch = loaded()
    return (Tensor,) if torch is None else (Tensor, torch.Tensor)


def is_tensor(thing) -> bool:
    """Whether ``thing`` is a tensor, of ours or of PyTorch."""
    return isinstance(thing, Tensor) or torch_tensors.is_tensor(thing)


def are_nodes(kind) -> bool:
    """Whether objects of a class are nodes that a person can hold: ``loss.grad_fn``."""
    return issubclass(kind, Node) or is_fn(kind)


def is_node(thing) -> bool:
    """True for a node; false for a leaf tensor and for the array of an untracked input."""
    return hasattr(type(thing), "seq")


def is_torchs(thing) -> bool:
    """Whether a node or a tensor is one of PyTorch's."""
    return thing.__class__ is TorchNode or torch_tensors.is_tensor(thing)


def node_behind(thing):
    """The node that made a tensor, a node itself (a ``grad_fn`` too), None of anything else."""
    if isinstance(thing, Tensor):
        return events.node_of(thing)
    if torch_tensors.is_tensor(thing):
        return torch_tensors.node_of(thing)
    if is_fn(type(thing)):
        return node_for(thing)
    return thing if is_node(thing) else None


def _either(name):
    """The question ``name``, to be asked of both engines."""
    ours, theirs = getattr(events, name), getattr(torch_tensors, name)

    def ask(thing):
        return ours(thing) if isinstance(thing, OURS) else theirs(thing)

    ask.__doc__ = ours.__doc__
    return ask


edge = _either("edge")
node_of = _either("node_of")
inputs = _either("inputs")
output_meta = _either("output_meta")
saved = _either("saved")
saved_from = _either("saved_from")
saved_arrays = _either("saved_arrays")
keeps_saved = _either("keeps_saved")
hooks = _either("hooks")
hook_tables = _either("hook_tables")
grad = _either("grad")
version = _either("version")
formula = _either("formula")
leaf_id = _either("leaf_id")
storage_id = _either("storage_id")
storage_bytes = _either("storage_bytes")


def serials(tensor, steps) -> list[int]:
    """Serials of the node that made ``tensor`` and of what that was computed from alone, ``steps``
    nodes down: of ``x.mean()`` those of mean and of x. Empty for a tensor that was not computed.
    """
    if not isinstance(tensor, Tensor):
        return torch_tensors.serials(tensor, steps)
    node, found = node_of(tensor), []
    while node is not None and len(found) <= steps:
        found.append(node.seq)
        below = inputs(node)
        node = below[0][0] if len(below) == 1 and below[0].__class__ is tuple else None
    return found


def can_have_gradient(tensor) -> bool:
    """Whether the dtype is one that gradients can have."""
    if isinstance(tensor, Tensor):
        return tensor._a.dtype.kind in "fc"
    return tensor.is_floating_point() or tensor.is_complex()


def is_leaf(tensor) -> bool:
    """Whether gradients are collected in ``tensor``: it was not computed, and asks for them."""
    found = events.edge(tensor) if isinstance(tensor, OURS) else torch_tensors.edge(tensor)
    return found is LEAF


def class_name(node) -> str:
    """``MulBackward0``."""
    return node.name() if node.__class__ is TorchNode else type(node).__name__


def tensors_of(nodes) -> list:
    """The tensors alive that some nodes made, as far as they can be found."""
    ours = [node for node in nodes if node.__class__ is not TorchNode]
    made = [node.mark.made() for node in nodes if node.__class__ is TorchNode]
    found = gc.get_referrers(*ours) if ours else []
    return [one for one in (*found, *made) if is_tensor(one)]


def walk(starts, limit, stop=()):
    """(nodes, leaves, whether that is all): what ``starts`` (nodes) hold, themselves included, by
    serial; at most ``limit`` nodes, those with a serial in ``stop`` not entered.
    """
    theirs = [node for node in starts if node.__class__ is TorchNode]
    if not theirs:
        return events.walk(starts, limit, stop)
    ours = [node for node in starts if node.__class__ is not TorchNode]
    nodes, leaves, whole = torch_tensors.walk(theirs, limit, stop)
    more, others, all_of_it = events.walk(ours, limit - len(nodes), stop)
    return nodes | more, leaves | others, whole and all_of_it


def weak(thing):
    """A weak reference to a tensor or a node."""
    return WeakNode(thing.mark) if thing.__class__ is TorchNode else weakref.ref(thing)


def is_custom(node) -> bool:
    """Whether a person may put attributes on the node: the ``ctx`` of a custom function."""
    if node.__class__ is TorchNode:
        return torch_nodes.is_custom(node.fn)
    return bool(type(node).__dictoffset__)


def context_items(node):
    """Attributes that a person put on the ``ctx`` of a custom function: (name, value)."""
    if node.__class__ is TorchNode:
        items = torch_tensors.context_items(node)
    elif type(node).__dictoffset__:
        items = vars(node).items()
    else:
        return []
    return [(name, value) for name, value in list(items) if not name.startswith("_")]


def _is_ours(array):
    return not torch_tensors.is_tensor(array)


# -- memory: the array of a tensor of ours, a tensor of PyTorch as it is -----------------
def array(tensor):
    """What has the shape, the dtype and the memory of ``tensor``."""
    return tensor._a if isinstance(tensor, Tensor) else tensor


def host(array):
    """The numbers of an array as one of NumPy's; what it is itself when they are elsewhere."""
    if isinstance(array, np.ndarray) or _is_ours(array):
        return array
    found = torch_tensors.host(array)
    return array if found is None else found


def value(tensor):
    """The numbers of a tensor, on the host where that costs no copy."""
    return host(array(tensor))


def dtype_of(array) -> str:
    """The name of the dtype: ``float32``."""
    ours = isinstance(array, np.ndarray) or _is_ours(array)
    name_of = events.name_of if ours else torch_tensors.name_of
    return name_of(array.dtype)


def shape_of(array) -> tuple:
    """The sizes."""
    ours = isinstance(array, np.ndarray) or _is_ours(array)
    return tuple(array.shape) if ours else torch_tensors.shape_of(array)


def bytes_of(array) -> int:
    """Bytes of the elements."""
    ours = isinstance(array, np.ndarray) or _is_ours(array)
    return array.nbytes if ours else torch_tensors.bytes_of(array)


def array_id(array) -> int:
    """An identity of the array that a tensor has and another node saved."""
    if isinstance(array, np.ndarray) or _is_ours(array):
        return id(array)
    return hash((torch_tensors.address(array) or id(array), shape_of(array)))


def memory(array) -> tuple[int, int]:
    """(an identity, bytes) of the storage under ``array``."""
    if not (isinstance(array, np.ndarray) or _is_ours(array)):
        return torch_tensors.storage_id(array), torch_tensors.storage_bytes(array)
    while array.base is not None and hasattr(array.base, "nbytes") and hasattr(array.base, "dtype"):
        array = array.base
        if torch_tensors.is_tensor(array):
            return memory(array)
    return id(array), array.nbytes


def address(array) -> int:
    """Where the first element lies; 0 for arrays of other devices."""
    if not (isinstance(array, np.ndarray) or _is_ours(array)):
        return torch_tensors.address(array)
    described = getattr(array, "__array_interface__", None)
    return described["data"][0] if described else 0
