"""Rows of the model from nodes and leaves of the engine."""

from __future__ import annotations

from math import prod

import numpy as np

from gradviz.engine import events
from gradviz.engine.tensor import Tensor
from gradviz.watch.model import LEAF, OPERATION, PARAMETER, UNTRACKED, Edge, Hook, Node, Saved

from .graph import is_freed, is_node
from .observer import hook_name

ARRAYS = 0x3FFFFFFF


class Rows:
    """Builds rows. ``note(node)`` says where a node was made; ``names``: labels by id;
    ``hook_notes``: lines of hooks by identity; ``arrays``, ``tensors``, ``results``: what is known
    during one settle.
    """

    def __init__(self, places, note):
        self.places, self.note = places, note
        self.names: dict[int, str] = {}
        self.arrays: dict[int, object] = {}
        self.tensors: dict[int, object] = {}
        self.hook_notes: dict[int, tuple] = {}
        self.results: dict[int, object] = {}
        self.bindings: dict[str, tuple[int, int]] = {}

    def forget(self):
        """Let go of everything of the person's."""
        self.arrays, self.tensors, self.results = {}, {}, {}

    # -- operations ------------------------------------------------------------
    def operation(self, node) -> Node:
        """The row of an operation and of the tensor that it made."""
        shape, dtype = self._output(node)
        chain = self.places.chain(self.note(node))
        row = Node(
            node.seq,
            OPERATION,
            node.name(),
            self.names.get(node.seq, ""),
            shape,
            dtype,
            requires_grad=True,
            place=chain[0] if chain else None,
            calls=chain[1:],
            formula=events.formula(node),
            freed=is_freed(node),
        )
        row.bytes = prod(shape) * _itemsize(dtype)
        row.saved = self.saved(node)
        row.hooks = self.hooks(node)
        row.retains_grad = any(hook.kind == "retain_grad" for hook in row.hooks)
        row.module = self._module(node)
        tensor = self.tensors.get(node.seq)
        if tensor is not None:
            row.version, row.device = _version(tensor), _device(tensor)
            row.grad_norm = self.grad_norm(tensor)
        return row

    def _output(self, node):
        shape, dtype = events.output_meta(node)[0]
        return tuple(shape), dtype

    def saved(self, node) -> list[Saved]:
        """What ``node`` saved, the tensors' names where the notebook has one."""
        out = []
        for name, array, saved_at, now, freed in events.saved(node):
            one = Saved(name, version_saved=saved_at or 0, version_now=now or 0)
            one.state = "freed" if freed else "alive" if array is not None else "hooked"
            if array is not None:
                one.shape, one.dtype = tuple(array.shape), str(array.dtype)
                one.bytes, one.label = array.nbytes, self._label_of(array)
            out.append(one)
        return out

    def _label_of(self, array):
        tensor = self.arrays.get(id(array))
        return self.names.get(self._id(tensor), "") if tensor is not None else ""

    def hooks(self, thing) -> list[Hook]:
        """Hooks of a node or a leaf."""
        out = []
        for kind, hook in events.hooks(thing):
            note = self.hook_notes.get(id(hook))
            place = self.places.place(*note[:2]) if note else None
            out.append(Hook(kind, "" if hook is None else hook_name(hook), place))
        return out

    def note_results(self, node):
        """Values of the nodes that feed ``node``, as it saved them unchanged."""
        kept = {
            name: a
            for name, a, at, now, gone in events.saved(node)
            if not gone and a is not None and at == now
        }
        for slot, source in enumerate(events.inputs(node) if kept else ()):
            array = kept.get(_input_name(node, slot)) if source.__class__ is tuple else None
            if (
                array is not None
                and tuple(array.shape) == events.output_meta(source[0])[source[1]][0]
            ):
                self.results.setdefault(source[0].seq, array)

    def _module(self, node):
        """The module whose parameter the operation uses."""
        for source in events.inputs(node):
            if source is not None and source.__class__ is not tuple and is_parameter(source):
                path = self.names.get(events.leaf_id(source), "")
                return path.rpartition(".")[0]
        return ""

    # -- leaves ----------------------------------------------------------------
    def leaf(self, tensor) -> Node:
        """The row of a leaf."""
        id = events.leaf_id(tensor)
        row = self._tensor_row(tensor, id, PARAMETER if is_parameter(tensor) else LEAF)
        row.requires_grad = events.edge(tensor) is not None
        row.hooks = self.hooks(tensor)
        row.grad_norm = self.grad_norm(tensor)
        return row

    def _bound(self, label):
        """The line that bound the name of a leaf: ``w``, or ``fc1`` of ``model.fc1.weight``."""
        names = [part.partition("[")[0] for part in label.split(".")]
        for name in (*reversed(names[1:]), names[0]):
            if name in self.bindings:
                cell, line = self.bindings[name]
                return self.places.in_cell(cell, line)
        return None

    def untracked(self, array) -> Node:
        """The row of an input without gradient, known by its array."""
        tensor = self.arrays.get(id(array))
        if tensor is not None:
            return self._tensor_row(tensor, events.leaf_id(tensor), UNTRACKED)
        shape, name = tuple(array.shape), str(array.dtype)
        return Node(
            -(id(array) >> 4 & ARRAYS) - 1,
            UNTRACKED,
            shape=shape,
            dtype=name,
            bytes=array.nbytes,
            is_leaf=True,
        )

    def _tensor_row(self, tensor, id, kind):
        array = tensor._a
        return Node(
            id,
            kind,
            label=self.names.get(id, ""),
            shape=tuple(array.shape),
            dtype=str(array.dtype),
            device=_device(tensor),
            bytes=array.nbytes,
            is_leaf=True,
            version=_version(tensor),
            place=self._bound(self.names.get(id, "")),
        )

    def grad_norm(self, tensor):
        """Norm of the gradient that ``tensor`` has, None without one."""
        from .values import norm

        grad = events.grad(tensor)
        return None if grad is None else norm(grad._a)

    # -- edges -----------------------------------------------------------------
    def inputs(self, node):
        """(edge, source) an input: source is a node, a leaf tensor, or the array of an untracked
        input.
        """
        saved = None
        for slot, source in enumerate(events.inputs(node)):
            if source is None:
                if saved is None:
                    saved = _saved_by_name(node)
                array = saved.get(_input_name(node, slot))
                if array is not None and not isinstance(array, np.generic):
                    yield slot, 0, array
            elif source.__class__ is tuple:
                yield slot, source[1], source[0]
            else:
                yield slot, 0, source

    def edge(self, target, slot, output, source) -> Edge:
        """One edge row."""
        return Edge(self._id(source), target.seq, slot, output)

    def _id(self, source):
        if not isinstance(source, Tensor) and not is_node(source):
            tensor = self.arrays.get(id(source))
            return events.leaf_id(tensor) if tensor is not None else -(id(source) >> 4 & ARRAYS) - 1
        return source.seq if is_node(source) else tensor_id(source)


def tensor_id(tensor) -> int:
    """The id of what a tensor stands for: its node's serial, or its own."""
    node = events.node_of(tensor)
    return events.leaf_id(tensor) if node is None else node.seq


def is_parameter(tensor) -> bool:
    """True for parameters of modules, told by their class."""
    return type(tensor).__name__ == "Parameter" or any(
        k.__name__ == "Parameter" for k in type(tensor).__mro__
    )


def _saved_by_name(node):
    return {name: array for name, array, _, _, freed in events.saved(node) if not freed}


def _input_name(node, slot):
    names = getattr(getattr(node, "op", None), "input_names", ())
    return names[slot] if slot < len(names) else None


def _version(tensor):
    return 0 if getattr(tensor, "_inference", None) else events.version(tensor) or 0


def _device(tensor):
    return str(getattr(tensor, "device", "cpu"))


def _itemsize(dtype):
    try:
        return np.dtype(dtype).itemsize
    except TypeError:
        return 2
