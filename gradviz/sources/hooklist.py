"""Every hook on modules, tensors and nodes, and how to take one off."""

from __future__ import annotations

import weakref

from gradviz.engine import events
from gradviz.watch.bench import HookRow
from gradviz.watch.model import Hook

from . import reading
from .observer import hook_name

MODULE = {
    "_forward_pre_hooks": "forward_pre",
    "_forward_hooks": "forward",
    "_backward_pre_hooks": "backward_pre",
    "_backward_hooks": "backward",
}
BESIDE = (
    "_forward_hooks_with_kwargs",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks_always_called",
)


def unseen(kind, number, hook) -> Hook:
    """What is known of a hook that nobody watched."""
    return Hook(kind, hook_name(hook))


class HookList:
    """The hooks of ``model`` and of ``tensors`` (name to tensor); nothing is kept alive.

    ``about(kind, number, hook)``: the ``Hook`` that is known of it.
    """

    def __init__(self, model=None, tensors=None, about=unseen):
        self._model = None if model is None else weakref.ref(model)
        self._tensors = {name: weakref.ref(t) for name, t in (tensors or {}).items()}
        self._about = about
        self._tables: list = []

    def rows(self) -> list[HookRow]:
        """All of them now, in order of firing for each owner."""
        self._tables, rows = [], []
        for owner, kind, table, thing in self._found():
            for key, hook in table.items():
                one = self._about(kind, key, hook)
                row = HookRow(len(self._tables), owner, kind, one.name, one.place, one.calls)
                rows.append(row)
                self._tables.append((weakref.ref(table), key, weakref.ref(thing), kind))
        return rows

    def remove(self, number: int) -> bool:
        """Take the hook with this number (of the newest ``rows``) off; False when it has gone."""
        ref, key, owner, kind = self._tables[number]
        table, thing = ref(), owner()
        hook = table.pop(key, None) if table is not None else None
        for name in BESIDE:
            getattr(thing, name, {}).pop(key, None)
        if hook is None:
            return False
        if events.door.observer is not None and thing is not None:
            events.door.observer.hook_removed(thing, kind, hook)
        return True

    def _found(self):
        """(owner, kind, table, thing) of every table with hooks."""
        model = self._model() if self._model is not None else None
        for name, module in model.named_modules() if model is not None else ():
            for attribute, kind in MODULE.items():
                yield name or type(module).__name__, kind, getattr(module, attribute), module
        for name, parameter in model.named_parameters() if model is not None else ():
            yield from _of_tensor(name, parameter)
        for name, ref in self._tensors.items():
            tensor = ref()
            if tensor is not None:
                yield from _of_tensor(name, tensor)


def _of_tensor(name, tensor):
    node = reading.node_of(tensor)
    thing = tensor if node is None else node
    for kind, table in reading.hook_tables(thing):
        yield name, kind, table, thing
