"""``import torch`` stands for gradviz while a program is checked, whatever else is installed."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

NAME, OURS = "torch", "gradviz"


class Alias(MetaPathFinder, Loader):
    """Finds ``torch.x.y`` as the very module ``gradviz.x.y``."""

    def find_spec(self, fullname, path=None, target=None):
        """A spec for torch and what is below it; nothing for other names."""
        if fullname != NAME and not fullname.startswith(NAME + "."):
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec):
        """The module of ours; ModuleNotFoundError names what the program asked for."""
        ours = OURS + spec.name.removeprefix(NAME)
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name and (ours == error.name or ours.startswith(error.name + ".")):
                said = f"No module named {spec.name!r}"
                raise ModuleNotFoundError(said, name=spec.name) from None
            raise
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        """It has run already; give it its own spec back."""
        module.__spec__ = self._spec


def install():
    """Put the alias first; a torch that is loaded already is set aside."""
    for name in [name for name in sys.modules if name == NAME or name.startswith(NAME + ".")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Alias())
