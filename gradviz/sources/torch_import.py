"""Notices that the program imports PyTorch: watching can begin in the middle of a cell."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import MetaPathFinder


class Notice(MetaPathFinder):
    """Between ``install`` and ``remove`` calls ``call`` once, when ``torch`` has been imported."""

    def __init__(self, call):
        self.call = call

    def install(self):
        """Begin; does nothing when something is imported under that name already."""
        if "torch" not in sys.modules:
            sys.meta_path.insert(0, self)

    def remove(self):
        """End."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname, path=None, target=None):
        """What the others find; for torch its loader tells us when it is done."""
        if fullname != "torch":
            return None
        self.remove()
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module):
                run(module)
                self.call()

            spec.loader.exec_module = exec_module
        return spec
