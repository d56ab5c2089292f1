"""Rows of the model from nodes and leaves of the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

import numpy as np

from gradviz.texts.formulas import told
from gradviz.watch.ledger import Event
from gradviz.watch.model import LEAF, OPERATION, PARAMETER, UNTRACKED, Edge, Hook, Node, Saved
from gradviz.watch.names import Names

from . import hooktables, reading
from .graph import is_freed
from .observer import hook_name
from .reading import is_node

ARRAYS = 0x3FFFFFFF
COUNTED = ("tensor", "pre", "post", "post_accumulate")


class Rows:
    """Builds rows. ``watcher`` says where a node was made and what came in; ``names``: labels by
    id; ``arrays``, ``tensors``, ``results``: what is
    known during one settle; ``bumps``: events of changes in place, by serial; ``known(id)``: what a
    node had saved when it was last seen, or None.
    """

    def __init__(self, places, watcher):
        self.places, self.watcher = places, watcher
        self.names = Names()
        self.arrays: dict[int, object] = {}
        self.tensors: dict[int, object] = {}
        self.results: dict[int, object] = {}
        self.bumps: dict[int, Event] = {}
        self.known: Callable[[int], list[Saved] | None] = lambda id: None
        self.bindings: dict[str, tuple[int, int]] = {}

    def forget(self):
        """Let go of everything of the person's."""
        self.arrays, self.tensors, self.results = {}, {}, {}

    # -- operations ------------------------------------------------------------
    def operation(self, node) -> Node:
        """The row of an operation and of the tensor that it made."""
        shape, dtype = self._output(node)
        bump = self._bump(node)
        chain = self.places.chain(self.watcher.note(node) or (bump.note if bump else ()))
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
            formula=told(reading.formula(node)),
            freed=is_freed(node),
            inplace=bump is not None,
            creator=self.watcher.births.creator(node.seq),
        )
        row.bytes = prod(shape) * _itemsize(dtype)
        row.saved = self.saved(node)
        row.hooks = [*self.hooks(node), *self._hooks_of_modules(node)]
        row.retains_grad = any(hook.kind == "retain_grad" for hook in row.hooks)
        row.module = self._module(node)
        tensor = self.tensors.get(node.seq)
        if tensor is not None:
            row.version, row.device = _version(tensor), _device(tensor)
            row.grad_norm = self.grad_norm(tensor)
        return row

    def _bump(self, node):
        """The change in place that ``node`` was recorded for: the node gets its serial just before
        (the tensor may get one in between); that of a view's base, just after; PyTorch numbers that
        of the view after it.
        """
        if node.name().endswith("CopySlices"):
            return self.bumps.get(node.seq + (2 if reading.is_torchs(node) else -1))
        for event in (self.bumps.get(node.seq + 1), self.bumps.get(node.seq + 2)):
            if event is not None and event.node:
                sources = (x[0].seq for x in reading.inputs(node) if x.__class__ is tuple)
                return event if event.node in sources else None
        return None

    def _output(self, node):
        shape, dtype = reading.output_meta(node)[0]
        return tuple(shape), dtype

    def saved(self, node) -> list[Saved]:
        """What ``node`` saved, the tensors' names where the notebook has one."""
        known = self.known(node.seq) if is_freed(node) else None
        if known is not None:
            return [replace(one, state="freed") for one in known]
        described, out = reading.saved(node), []
        sources = described and (reading.saved_from(node) or self._saved_by_name(node))
        for name, array, saved_at, now, freed in described:
            one = Saved(name, version_saved=saved_at or 0, version_now=now or 0)
            one.source = self._id(sources[name]) if name in sources else None
            one.state = "freed" if freed else "alive" if array is not None else "hooked"
            if array is not None:
                one.shape, one.dtype = reading.shape_of(array), reading.dtype_of(array)
                one.bytes, one.label = reading.bytes_of(array), self._label_of(array)
            out.append(one)
        return out

    def _saved_by_name(self, node):
        """Whose tensors were saved, as far as the names of the inputs tell: of what is freed, and
        of PyTorch's nodes.
        """
        if node.op is None:
            return {}
        named = {_input_name(node, slot): source for slot, _, source in self.inputs(node)}
        return named | {"result": node}

    def _label_of(self, array):
        tensor = self.arrays.get(reading.array_id(array))
        return self.names.get(self._id(tensor), "") if tensor is not None else ""

    def hooks(self, thing) -> list[Hook]:
        """Hooks of a node or a leaf, as they fire."""
        tables = reading.hook_tables(thing)
        out = [self.hook(kind, *one) for kind, table in tables for one in table.items()]
        kept = [Hook(kind, "") for kind, hook in reading.hooks(thing) if hook is None]
        return out + kept

    def _hooks_of_modules(self, node):
        """Hooks of the modules, and of all modules, that gave what ``node`` made."""
        for module in (ref() for ref in self.watcher.hooked.get(node.seq, ())):
            for find in (hooktables.of_all_modules, hooktables.of_calls) if module else ():
                for kind, table in find(module):
                    for number, hook in table.items():
                        found = self.hook(kind, number, hook)
                        found.owner = type(module).__name__
                        yield found

    def hook(self, kind, number, hook) -> Hook:
        """One hook, and what was seen of it."""
        found, record = Hook(kind, hook_name(hook)), self.watcher.hook(number, hook)
        if record is not None:
            found.place = self.places.place(*record.note[:2]) if record.note else None
            if kind in COUNTED and record.counted:
                found.calls, (found.before, found.after) = record.calls, record.norms
        return found

    def note_results(self, node):
        """Values of the nodes that feed ``node``, as it saved them unchanged."""
        kept = {
            name: a
            for name, a, at, now, gone in reading.saved(node)
            if not gone and a is not None and at == now
        }
        for slot, source in enumerate(reading.inputs(node) if kept else ()):
            array = kept.get(_input_name(node, slot)) if source.__class__ is tuple else None
            if (
                array is not None
                and reading.shape_of(array) == reading.output_meta(source[0])[source[1]][0]
            ):
                self.results.setdefault(source[0].seq, array)

    def _module(self, node):
        """The module whose parameter the operation uses."""
        for source in reading.inputs(node):
            if source is not None and source.__class__ is not tuple and is_parameter(source):
                path = self.names.get(reading.leaf_id(source), "")
                return path.rpartition(".")[0]
        return ""

    # -- leaves ----------------------------------------------------------------
    def leaf(self, tensor) -> Node:
        """The row of a leaf."""
        id = reading.leaf_id(tensor)
        tracked = reading.edge(tensor) is not None
        plain = LEAF if tracked else UNTRACKED
        row = self._tensor_row(tensor, id, PARAMETER if is_parameter(tensor) else plain)
        row.requires_grad = tracked
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

    def untracked(self, source) -> Node:
        """The row of an input without gradient: an ``Untracked``, or an array that a node saved."""
        tensor = self._tensor_of(source)
        if tensor is None:
            return Node(
                self._id(source),
                UNTRACKED,
                shape=reading.shape_of(source),
                dtype=reading.dtype_of(source),
                bytes=prod(source.shape) * _itemsize(reading.dtype_of(source)),
                is_leaf=True,
            )
        row = self._tensor_row(tensor, reading.leaf_id(tensor), UNTRACKED)
        cut = self._cut_of(tensor)
        if cut is not None:
            row.cut = cut.how
            chain = self.places.chain(cut.note)
            row.place = chain[0] if chain else row.place
        return row

    def _tensor_of(self, source):
        if source.__class__ is Untracked:
            return source.tensor
        return self.arrays.get(reading.array_id(source))

    def _cut_of(self, tensor):
        """The line that took ``tensor`` out of a graph, None when it never was in one."""
        for cut in self.watcher.cuts.values():
            if any(ref() is tensor for ref in cut.results):
                return cut
        return None

    def _tensor_row(self, tensor, id, kind):
        array = reading.array(tensor)
        return Node(
            id,
            kind,
            label=self.names.get(id, ""),
            shape=reading.shape_of(array),
            dtype=reading.dtype_of(array),
            device=_device(tensor),
            bytes=reading.bytes_of(array),
            is_leaf=True,
            version=_version(tensor),
            place=self._bound(self.names.get(id, "")),
        )

    def grad_norm(self, tensor):
        """Norm of the gradient that ``tensor`` has, None without one."""
        from .values import norm

        grad = reading.grad(tensor)
        return None if grad is None else norm(reading.value(grad))

    # -- edges -----------------------------------------------------------------
    def inputs(self, node):
        """(edge, source) an input: source is a node, a leaf tensor, or the array of an untracked
        input.
        """
        saved, noted = None, self.watcher.inputs.get(node.seq, ())
        for slot, source in enumerate(reading.inputs(node)):
            if source is None:
                seen = next((Untracked.seen(*rest) for at, *rest in noted if at == slot), None)
                if seen is None:
                    saved = _saved_by_name(node) if saved is None else saved
                    seen = saved.get(_input_name(node, slot))
                if seen is not None and not isinstance(seen, np.generic) and not _is_number(seen):
                    yield slot, 0, self._untracked(seen)
            elif source.__class__ is tuple:
                yield slot, source[1], source[0]
            else:
                yield slot, 0, source

    def _untracked(self, seen):
        """What a node saved, told from a leaf: a tensor of PyTorch saves tensors."""
        if not reading.is_tensor(seen):
            return seen
        key, shape = reading.array_id(seen), reading.shape_of(seen)
        return Untracked(self.arrays.get(key), key, shape, reading.dtype_of(seen))

    def edge(self, target, slot, output, source) -> Edge:
        """One edge row."""
        return Edge(self._id(source), target.seq, slot, output)

    def _id(self, source):
        if reading.is_tensor(source):
            return tensor_id(source)
        if is_node(source):
            return source.seq
        tensor = self._tensor_of(source)
        if tensor is not None:
            return reading.leaf_id(tensor)
        key = source.key if source.__class__ is Untracked else reading.array_id(source)
        return -(key >> 4 & ARRAYS) - 1


class Untracked:
    """An input without gradient, as it was seen: its tensor while that lives, its shape after."""

    __slots__ = ("dtype", "key", "shape", "tensor")

    def __init__(self, tensor, key, shape, dtype):
        self.tensor, self.key = tensor, key
        self.shape, self.dtype = shape, dtype

    @classmethod
    def seen(cls, ref, shape, dtype):
        """From the weak reference that a watcher left."""
        return cls(ref(), id(ref), shape, dtype)


def _is_number(source):
    """Whether a saved array stands for a Python number."""
    if source.__class__ is Untracked or source.ndim:
        return False
    return not hasattr(source, "flags") or not source.flags.writeable


def tensor_id(tensor) -> int:
    """The id of what a tensor stands for: its node's serial, or its own."""
    node = reading.node_of(tensor)
    return reading.leaf_id(tensor) if node is None else node.seq


def is_parameter(tensor) -> bool:
    """True for parameters of modules, told by their class."""
    return type(tensor).__name__ == "Parameter" or any(
        k.__name__ == "Parameter" for k in type(tensor).__mro__
    )


def _saved_by_name(node):
    return {name: array for name, array, _, _, freed in reading.saved(node) if not freed}


def _input_name(node, slot):
    names = getattr(getattr(node, "op", None), "input_names", ())
    return names[slot] if slot < len(names) else None


def _version(tensor):
    return 0 if getattr(tensor, "_inference", None) else reading.version(tensor) or 0


def _device(tensor):
    return str(getattr(tensor, "device", "cpu"))


def _itemsize(dtype):
    try:
        return np.dtype(dtype).itemsize
    except TypeError:
        return 2
