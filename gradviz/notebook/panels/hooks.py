"""``gradviz.HookBench``: every hook, its owner, and a button to take it off."""

from __future__ import annotations

from gradviz.sources.hooklist import HookList
from gradviz.texts import text

from .live import LivePanel, session_of


class HookBench(LivePanel):
    """Hooks of the modules, parameters and tensors that were given, in order of firing.

    ``model``: a module, or what ``to_json`` gave; ``tensors``: more, by name. Nothing is kept
    alive. ``selected``: the name of the owner.
    """

    kind = "hooks"

    def __init__(self, model=None, **tensors):
        settings = {name: tensors.pop(name) for name in list(tensors) if self.has_trait(name)}
        if isinstance(model, dict):
            super().__init__(model, **settings)
            return
        self._list = HookList(model, tensors, _place_of)
        super().__init__(**settings)

    def read(self):
        """The hooks of now."""
        return {"hooks": self._list.rows()}

    def remove(self, number: int):
        """Take the hook with this number off. IndexError when there is none."""
        self._list.remove(number)
        self.refresh()

    def asked(self, content):
        """The button of a row."""
        self.remove(int(content["remove"]))

    def lines(self):
        """A hook a line."""
        hooks = self._values.get("hooks", [])
        return [f"{one['owner']}: {text('ui.hook.' + one['kind'])} {one['name']}" for one in hooks]


def _place_of(hook):
    """The line that registered ``hook``, where the session knows it."""
    session = session_of()
    for record in reversed(session.source.watcher.hooks if session else ()):
        if record.hook() is hook and record.note:
            return session.source.places.place(*record.note[:2])
    return None
