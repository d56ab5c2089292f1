"""The case: everything the doctor may look at after a cell. Made by a source, dropped when the
rules are done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .cells import Cells
from .ledger import Ledger
from .links import Link, Step, category, path_of
from .model import Place
from .names import best, rank

PASSING = 2


@dataclass(slots=True)
class Facts:
    """Plain facts of one tensor. ``id``: its node's serial or its own; ``attached``: a recorded
    operation made it; ``epoch``: how many sweeps had begun when it was made; ``storage``: an
    identity of its memory.
    """

    id: int
    own: int
    attached: bool = False
    leaf: bool = False
    parameter: bool = False
    shape: tuple = ()
    dtype: str = ""
    bytes: int = 0
    storage: int = 0
    storage_bytes: int = 0
    address: int = 0
    op: str = ""
    epoch: int = 0
    place: Place | None = None
    chain: list[Place] = field(default_factory=list)
    retains: bool = False
    grad: bool = False
    grad_attached: bool = False


@dataclass(slots=True)
class Held:
    """One path to one tensor. ``category``: name, container, attribute, buffer, closure, cache,
    hook, display … ``passing``: the path is the variable of a loop, which the thing has by chance.
    """

    path: str
    steps: tuple[Step, ...]
    category: str
    facts: Facts
    link: Link
    again: dict[int, Link] = field(default_factory=dict)
    passing: bool = False
    _rank: tuple = ()

    @property
    def rank(self) -> tuple:
        """Smaller for a path that a person would sooner use."""
        if not self._rank:
            first, *others = rank(self.steps, self.path)
            self._rank = (first + PASSING * self.passing, *others)
        return self._rank

    @property
    def root(self) -> str:
        """The first step's text."""
        return str(self.steps[0].name)

    @property
    def unit(self) -> tuple:
        """What the thing belongs to: the path without the indices at its end, other indices as
        ``*``.
        """
        steps = list(self.steps)
        while len(steps) > 1 and steps[-1].kind == "item":
            steps.pop()
        return tuple(_part(step) for step in steps)

    @property
    def holder(self) -> str:
        """The text of the container at the end of the path: ``history`` of ``history[0]``."""
        steps = list(self.steps)
        while len(steps) > 1 and steps[-1].kind == "item":
            steps.pop()
        return path_of(steps)

    @property
    def otherwise(self) -> list[str]:
        """The same by another way, where an object on the path has one: ``runs['fit'][0]`` of
        ``box[0]``.
        """
        link, after = self.link, []
        while link.parent is not None:
            after.append(Step(link.kind, link.name))
            other = self.again.get(id(link.owner))
            if other is not None and not any(one is link.owner for one in other.owners()):
                return [path_of((*other.steps(), *reversed(after)))]
            link = link.parent
        return []

    @property
    def tokens(self) -> set[str]:
        """Names and keys along the path (up to a frame), to find the statement that
        wrote into it.
        """
        frames = [i for i, step in enumerate(self.steps) if step.kind == "frame"]
        return {str(step.name).strip("'\"") for step in self.steps[: frames[0] if frames else None]}


def _part(step):
    if step.kind == "item" or (step.kind == "member" and step.name.isdigit()):
        return "item", "*"
    return step.kind, str(step.name)


@dataclass(slots=True)
class Weight:
    """What some nodes hold together. ``kept``: nodes with saved tensors; ``freed``: nodes that lost
    theirs.
    """

    nodes: set[int] = field(default_factory=set)
    bytes: int = 0
    kept: int = 0
    freed: int = 0
    leaves: set[int] = field(default_factory=set)
    complete: bool = True


@dataclass(slots=True)
class ModuleFacts:
    """A module in the namespace. ``parameters`` and ``buffers``: name -> tensor's serial,
    submodules included.
    """

    path: str
    name: str
    training: bool
    parameters: dict[str, int]
    own: dict[str, object]
    buffers: dict[str, int]
    thing: object
    steps: tuple = ()


@dataclass(slots=True)
class OptimizerFacts:
    """An optimiser in the namespace: path and the serials of what it updates."""

    path: str
    leaves: list[int]
    thing: object


@dataclass(slots=True)
class ErrorFacts:
    """The exception that ended a cell. ``chain``: the person's lines, innermost first. ``sweep``:
    number of the failed one. ``nodes``: serials of what is at fault and of what backward was called
    on. ``freed``: where what is gone was made, ``by``: the line that freed it; ``bump``: the line
    that changed a saved value.
    """

    type: str
    message: str
    chain: list[Place]
    cell: int | None
    sweep: int = 0
    nodes: list[int] = field(default_factory=list)
    freed: Place | None = None
    by: Place | None = None
    freed_root: bool = False
    bump: Place | None = None


@dataclass(slots=True)
class Case:
    """``held``: every path to a tensor. ``graph``: questions about nodes; ``past``: about those of
    losses that may be gone. ``places``: from notes to
    places. ``unseen``: of very large containers, by identity, how many items are not in ``held``.
    """

    held: list[Held]
    arrays: list[Held]
    modules: list[ModuleFacts]
    optimizers: list[OptimizerFacts]
    objects: list
    ledger: Ledger
    cells: Cells
    places: Any
    graph: Any
    past: Any
    hooks: list
    cuts: list
    moves: list
    updates: dict
    errors: list[ErrorFacts]
    roots: Any
    superseded: set[int] = field(default_factory=set)
    cell: int | None = None
    unseen: dict[int, int] = field(default_factory=dict)
    _by_id: dict | None = None

    def units(self, *categories):
        """Attached tensors by the holder that they are in: (unit, held …) for each holder of the
        categories.
        """
        out: dict[tuple, list[Held]] = {}
        for held in self.held:
            if held.facts.attached and (not categories or held.category in categories):
                out.setdefault(held.unit, []).append(held)
        return out

    def place(self, note) -> Place | None:
        """The place of a note's innermost line."""
        return self.places.place(*note[:2]) if note else None

    def paths_to(self, id: int) -> list[Held]:
        """Everything that holds the tensor with serial ``id``."""
        if self._by_id is None:
            self._by_id = {}
            for held in self.held:
                self._by_id.setdefault(held.facts.id, []).append(held)
        return self._by_id.get(id, [])

    def named(self, id: int) -> str:
        """The plain path of the tensor with serial ``id``, or ''."""
        paths = self.paths_to(id)
        lasting = [held for held in paths if not held.passing] or paths
        return best((held.steps, held.path) for held in lasting)


def held(link: Link, facts: Facts, again: dict[int, Link]) -> Held:
    """A ``Held`` from the end of a path."""
    steps = link.steps()
    return Held(path_of(steps), steps, category(steps), facts, link, again)
