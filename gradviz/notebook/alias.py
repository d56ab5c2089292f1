"""``import torch`` stands for gradviz, whatever else is installed: while a program is checked, and
where ``%gradviz torch`` asks for it.
"""

from __future__ import annotations

import importlib
import sys

from ..homes import StandIn

NAME, OURS = "torch", "gradviz"


class Alias(StandIn):
    """Finds ``torch.x.y`` as the very module ``gradviz.x.y``."""

    def home(self, fullname):
        """Our name of torch and of what is below it."""
        if fullname != NAME and not fullname.startswith(NAME + "."):
            return None
        return OURS + fullname.removeprefix(NAME)

    def create_module(self, spec):
        """The module of ours; ModuleNotFoundError names what the program asked for."""
        ours = self.home(spec.name)
        try:
            return super().create_module(spec)
        except ModuleNotFoundError as error:
            if error.name and (ours == error.name or ours.startswith(error.name + ".")):
                said = f"No module named {spec.name!r}"
                raise ModuleNotFoundError(said, name=spec.name) from None
            raise


def install():
    """Put the alias first; a torch that is loaded already is set aside."""
    forget()
    if not installed():
        sys.meta_path.insert(0, Alias())
    importlib.import_module(NAME)


def installed() -> bool:
    """Whether ``import torch`` gives gradviz."""
    return any(isinstance(finder, Alias) for finder in sys.meta_path)


def remove():
    """``import torch`` gives PyTorch again; what a program has imported stays what it is."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, Alias)]
    forget()


def forget():
    """Take torch and all below it out of the modules that are loaded."""
    for name in [name for name in sys.modules if name == NAME or name.startswith(NAME + ".")]:
        del sys.modules[name]


def real() -> str | None:
    """Where the PyTorch that is loaded lies; None when none is."""
    found = sys.modules.get(NAME)
    if found is None or found is sys.modules.get(OURS):
        return None
    return getattr(found, "__file__", None) or NAME
