"""``gradviz.StorageMap``: tensors as names on pieces of memory."""

from __future__ import annotations

import weakref

from gradviz.export.words import size
from gradviz.notebook.cells import roots_of
from gradviz.notebook.display import shell_of
from gradviz.sources import reading
from gradviz.sources.interest import Interest
from gradviz.sources.storages import storages
from gradviz.watch.holders import walk

from .live import LivePanel


class StorageMap(LivePanel):
    """Who shares memory with whom: one bar for each storage, one line for each tensor on it.

    ``data``: what ``to_json`` gave. Tensors by name, which are not kept alive; without any, those
    that the notebook's names lead to. Read anew after each cell. ``selected``: name of a tensor.
    """

    kind = "storage"

    def __init__(self, data=None, **tensors):
        settings = {name: tensors.pop(name) for name in list(tensors) if self.has_trait(name)}
        self._tensors = {name: weakref.ref(tensor) for name, tensor in tensors.items()}
        super().__init__(data, **settings)

    def read(self):
        """The storages of now."""
        if self._tensors:
            living = {name: ref() for name, ref in self._tensors.items()}
            named = [(name, tensor) for name, tensor in living.items() if tensor is not None]
        else:
            named = _of_the_notebook()
        return {"storages": storages(named)}

    def lines(self):
        """A storage a line, with the names on it."""
        return [
            f"{size(one['bytes'])}: {', '.join(view['name'] for view in one['views'])}"
            for one in self._values.get("storages", [])
        ]


def _of_the_notebook():
    """(name, tensor) of what the names of the notebook lead to."""
    shell = shell_of()
    if shell is None:
        return []
    found = walk(roots_of(shell), Interest())
    named = [(h.path, h.thing) for h in found.holdings if reading.is_tensor(h.thing)]
    return [pair for pair in named if not pair[0].startswith(("_", "Out"))]
