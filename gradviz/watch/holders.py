"""Who holds what: a walk forward from the names a person can see, never up through referrers.

The walk is breadth first, so the first path found is the shortest; it counts objects, not bytes,
stops at a bound, and follows only strong references. Everything it returns (``Holding.thing``) is
alive only as long as the caller keeps it: drop the result when the call that needed it ends.
"""

from __future__ import annotations

import re
import types
from collections import deque
from dataclasses import dataclass, field

from .links import Link, Step
from .referents import attributes, children, is_plain

DISPLAY_NAMES = re.compile(r"_(\d+)?|__|___")
SHELL_NAMES = frozenset(
    "In Out _ih _oh _dh _i _ii _iii get_ipython exit quit open _exit_code __builtins__ "
    "__builtin__".split()
)
OBJECTS = 60_000
OF_MODULES = 3_000  # of these, at most so many behind the variables of imported modules
REFERENCES = 4  # followed at most for each object of a bound: one object may be met many times
WAYS = frozenset(("name", "global", "item", "attribute", "member"))
AGAIN = 2_000
CODE = types.FunctionType | type


@dataclass(slots=True)
class Roots:
    """Plain references to where a walk begins, to be used during one call only.

    ``user_ns``: the notebook's names; ``out``: ``Out``; ``last_result``: of the last cell;
    ``display``: what the display hook still has; ``tracebacks``: (label, traceback), such as
    ``("sys.last_traceback", tb)``; ``extra``: more roots by label; ``own``: names such as ``_``
    that the program itself has bound; ``modules``: imported ones that the person wrote; ``shell``:
    never looked into, because everything is reached through it; ``frames``: (name, locals) of
    functions that have returned, as if their code stood at the top level.
    """

    user_ns: dict = field(default_factory=dict)
    out: dict = field(default_factory=dict)
    last_result: object = None
    display: object = None
    tracebacks: list = field(default_factory=list)
    extra: dict = field(default_factory=dict)
    own: frozenset = frozenset()
    modules: tuple = ()
    shell: object = None
    frames: list = field(default_factory=list)


@dataclass(slots=True)
class Holding:
    """One strong reference that ends in something of interest: a tensor, an array, a module …"""

    thing: object
    link: Link

    @property
    def path(self) -> str:
        """The expression a person would write: ``model.fc1.weight``, ``losses[3]``."""
        return self.link.path()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps from the root to the thing."""
        return self.link.steps()


@dataclass(slots=True)
class Found:
    """What a walk saw. ``again``: of objects that were met more than once, by identity, another way
    to them. ``complete`` is False when it stopped at its bound.
    """

    holdings: list[Holding] = field(default_factory=list)
    modules: list[Holding] = field(default_factory=list)
    objects: list[Holding] = field(default_factory=list)
    again: dict[int, Link] = field(default_factory=dict)
    visited: int = 0
    complete: bool = True


def walk(roots: Roots, interest, limit: int = OBJECTS) -> Found:
    """Every strong path from ``roots`` to a thing that ``interest`` cares about.

    ``interest.kind(type)`` says ``"tensor"``, ``"array"`` or None; ``interest.children(tensor)``
    yields (step kind, name, object) of what a tensor itself holds. At most ``limit`` objects are
    visited, of those behind imported modules fewer: they may be many and are looked at each cell.
    """
    found, seen, kinds = Found(), {}, {}
    queue = deque(
        (thing, link, link.kind == "global")
        for thing, link in start(roots)
        if not is_plain(type(thing))
    )
    of_modules = min(OF_MODULES, limit)
    left = {False: REFERENCES * limit, True: REFERENCES * of_modules}
    hidden = id(roots.user_ns), id(roots.out), id(roots.shell)
    for key in hidden:
        seen[key] = None
    while queue:
        thing, link, of_module = queue.popleft()
        kind = type(thing)
        what = kinds.get(kind, False)
        if what is False:
            what = kinds[kind] = interest.kind(kind)
        if what is not None:
            found.holdings.append(Holding(thing, link))
        if id(thing) in seen:
            if what is None and link.kind in WAYS and len(found.again) < AGAIN:
                found.again.setdefault(id(thing), link)
            continue
        if of_module:
            if not of_modules:
                found.complete = False
                continue
            of_modules -= 1
        seen[id(thing)] = thing
        if len(seen) > limit:
            found.complete = False
            break
        for step, name, child in (
            interest.children(thing) if what is not None else _inside(thing, link, found)
        ):
            if is_plain(type(child)):
                continue
            if not left[of_module]:
                found.complete = False
                break
            left[of_module] -= 1
            queue.append((child, Link(link, step, name, thing), of_module))
    found.visited = len(seen)
    return found


def _inside(thing, link, found):
    """The children of ``thing``, which is noted when it is a module or an object with
    attributes.
    """
    own = attributes(thing)
    if own is not None:
        is_module = "_parameters" in own and "_modules" in own and "_buffers" in own
        (found.modules if is_module else found.objects).append(Holding(thing, link))
    return children(thing)


def start(roots: Roots):
    """(object, link) of every root, the names of a person first."""
    display = []
    for name, value in list(roots.user_ns.items()):
        if is_plain(type(value)) or name in SHELL_NAMES or not isinstance(name, str):
            continue
        if type(value) is types.FunctionType and not _holds(value):
            continue
        if DISPLAY_NAMES.fullmatch(name) and name not in roots.own:
            display.append((value, Link(None, "display", name)))
        else:
            yield value, Link(None, "name", name)
    for function, names in roots.frames:
        for name, value in names.items():
            yield value, Link(Link(None, "name", f"{function}()"), "global", name)
    yield from _globals(roots)
    for count, value in list(roots.out.items()):
        yield value, Link(None, "display", f"Out[{count!r}]")
    yield from display
    yield roots.last_result, Link(None, "display", "get_ipython().last_execution_result")
    yield roots.display, Link(None, "display", "get_ipython().displayhook")
    for label, traceback in roots.tracebacks:
        yield traceback, Link(None, "traceback", label)
    for label, value in roots.extra.items():
        yield value, Link(None, "extra", label)


def _globals(roots):
    """The variables of the person's modules: ``helpers.history``."""
    known = {id(value): name for name, value in list(roots.user_ns.items())}
    for module in roots.modules:
        link = Link(None, "name", known.get(id(module), module.__name__), module)
        for name, value in list(vars(module).items()):
            if name.startswith("__") or is_plain(type(value)):
                continue
            if not isinstance(value, CODE) or _keeps(value, module):
                yield value, Link(link, "global", name)


def _keeps(value, module):
    """A function or class of the module itself that may hold something: most hold nothing."""
    if getattr(value, "__module__", None) != module.__name__:
        return False
    return _holds(value) if isinstance(value, types.FunctionType) else True


def _holds(function):
    return bool(
        function.__closure__
        or function.__defaults__
        or function.__kwdefaults__
        or function.__dict__
    )
