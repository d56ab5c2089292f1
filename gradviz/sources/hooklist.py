"""Every hook on modules, optimizers, tensors and nodes, and how to take one off."""

from __future__ import annotations

import weakref

from gradviz.engine import events
from gradviz.watch.bench import HookRow
from gradviz.watch.model import Hook

from . import hooktables, reading
from .observer import hook_name, weak

BESIDE = (
    "_forward_hooks_with_kwargs",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks_always_called",
)


def unseen(kind, number, hook) -> Hook:
    """What is known of a hook that nobody watched."""
    return Hook(kind, hook_name(hook))


class HookList:
    """The hooks of ``model`` and of ``others`` (name to tensor, module or optimizer), and those of
    all modules, whose owner is ""; nothing is kept alive.

    ``about(kind, number, hook)``: the ``Hook`` that is known of it.
    """

    def __init__(self, model=None, others=None, about=unseen):
        self._model = None if model is None else weakref.ref(model)
        self._others = {name: weakref.ref(one) for name, one in (others or {}).items()}
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
                self._tables.append((weakref.ref(table), key, weak(thing), kind))
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
        others = {name: ref() for name, ref in self._others.items()}
        modules = (one for one in (model, *others.values()) if hasattr(one, "named_modules"))
        for kind, table in hooktables.of_all_modules(next(modules, None)):
            yield "", kind, table, None
        if model is not None:
            yield from _of_modules("", model)
        for name, thing in others.items():
            if hasattr(thing, "named_modules"):
                yield from _of_modules(name, thing)
            elif reading.is_tensor(thing):
                yield from _of_tensor(name, thing)
            for kind, table in hooktables.of_optimizer(thing):
                yield name, kind, table, thing


def _of_modules(prefix, model):
    """Of a module and all below it, then of their parameters."""

    def named(name):
        return f"{prefix}.{name}".strip(".") or type(model).__name__

    for name, module in model.named_modules():
        for kind, table in hooktables.of_module(module):
            yield named(name), kind, table, module
    for name, parameter in model.named_parameters():
        yield from _of_tensor(named(name), parameter)


def _of_tensor(name, tensor):
    node = reading.node_of(tensor)
    thing = tensor if node is None else node
    for kind, table in reading.hook_tables(thing):
        yield name, kind, table, thing
