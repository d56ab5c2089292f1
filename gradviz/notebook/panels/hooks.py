"""``gradviz.HookBench``: every hook, its owner, and a button to take it off."""

from __future__ import annotations

from gradviz.sources.hooklist import HookList, unseen
from gradviz.texts import text

from .live import LivePanel, session_of


class HookBench(LivePanel):
    """Hooks of the modules, parameters, tensors and optimizers that were given, in order of firing,
    and those of all modules at once.

    ``model``: a module, or what ``to_json`` gave; ``others``: more tensors, modules and optimizers,
    by name. Nothing is kept alive. ``selected``: the name of the owner.
    """

    kind = "hooks"

    def __init__(self, model=None, **others):
        settings = {name: others.pop(name) for name in list(others) if self.has_trait(name)}
        if isinstance(model, dict):
            super().__init__(model, **settings)
            return
        self._list = HookList(model, others, _about)
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
        every = text("ui.panel.all_modules")
        return [
            f"{one['owner'] or every}: {text('ui.hook.' + one['kind'])} {one['name']}"
            for one in hooks
        ]


def _about(kind, number, hook):
    """What the session knows of ``hook``."""
    session = session_of()
    return (session.source.rows.hook if session else unseen)(kind, number, hook)
