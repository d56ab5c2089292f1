"""A path as a chain of steps, written out the way a person writes it in code."""

from __future__ import annotations

from dataclasses import dataclass

MEMBERS = frozenset(("_parameters", "_buffers", "_modules"))
CATEGORIES = {
    "traceback": "traceback",
    "frame": "traceback",
    "local": "traceback",
    "logger": "logger",
    "hooktable": "hook",
    "hook": "hook",
    "cache": "cache",
    "cachekey": "cache",
    "default": "default",
    "kwdefault": "default",
    "closure": "closure",
    "generator": "generator",
    "coroutine": "generator",
    "async generator": "generator",
    "ctx": "ctx",
    "grad": "grad",
    "display": "display",
}


@dataclass(slots=True, frozen=True)
class Step:
    """One step: ``kind`` is name, item, attribute, member, closure, default, cache, … and ``name``
    its text.
    """

    kind: str
    name: str


class Link:
    """The last step of a path, the link before it, and ``owner``: the object that holds (for one
    call only).
    """

    __slots__ = ("kind", "name", "owner", "parent")

    def __init__(self, parent, kind, name, owner=None):
        self.parent = parent
        self.kind = kind
        self.name = name
        self.owner = owner

    def owners(self):
        """The objects along the path, the nearest holder first."""
        link = self
        while link is not None:
            if link.owner is not None:
                yield link.owner
            link = link.parent

    @property
    def home(self) -> str:
        """The module whose variable the path begins with, '' when it begins elsewhere."""
        link, before = self, self
        while link.parent is not None:
            link, before = link.parent, link
        module = link.owner if before.kind == "global" else None
        return str(module.__name__) if module is not None else ""

    def steps(self) -> tuple[Step, ...]:
        """All steps, root first."""
        out, link = [], self
        while link is not None:
            out.append(Step(link.kind, link.name))
            link = link.parent
        return tuple(reversed(out))

    def path(self) -> str:
        """The whole path as text."""
        return path_of(self.steps())


def path_of(steps) -> str:
    """``steps`` as text: ``stack[0].activity``, ``evaluate.__closure__['trace'][0]``."""
    out = ""
    for step in steps:
        out += _WRITE.get(step.kind, _attribute)(step.name) if out else str(step.name)
    return out


def category(steps) -> str:
    """What sort of holder a path is: a hook anywhere, else the last telling step; else attribute,
    container or name.
    """
    if any(step.kind == "hooktable" for step in steps):
        return "hook"
    for step in reversed(steps):
        if step.kind in CATEGORIES:
            return CATEGORIES[step.kind]
    inner = [step.kind for step in steps[1:] if step.kind != "global"]
    if not inner:
        return steps[0].kind
    if "buffer" in inner:
        return "buffer"
    if inner[-1] == "attribute":
        return "attribute"
    return "container" if "item" in inner else "attribute"


def _attribute(name):
    return f".{name}"


def _member(name):
    """A child of a module: ``.fc1``, or ``[0]`` where the name is a number."""
    if name.isdigit():
        return f"[{name}]"
    return f".{name}" if name.isidentifier() else f"[{name!r}]"


_WRITE = {
    "item": lambda name: f"[{name}]",
    "member": _member,
    "parameter": _member,
    "buffer": _member,
    "closure": lambda name: f".__closure__[{name!r}]",
    "default": lambda name: f".__defaults__[{name}]",
    "kwdefault": lambda name: f".__kwdefaults__[{name!r}]",
    "cache": lambda name: f" cache entry ({name})",
    "cachekey": lambda name: f" cache key ({name})",
    "frame": lambda name: f" -> frame {name!r}",
    "local": lambda name: f" -> local {name!r}",
    "generator": lambda name: f".gi_frame.f_locals[{name!r}]",
    "coroutine": lambda name: f".cr_frame.f_locals[{name!r}]",
    "async generator": lambda name: f".ag_frame.f_locals[{name!r}]",
    "hook": lambda name: f"[{name}]",
}
