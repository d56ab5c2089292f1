"""A backward pass, written down step by step: plain data that a page plays forth and back.

A step is one node of the sweep. ``plan`` has the nodes in the order in which they run; ``steps``
has those that ran already.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradviz.texts import text

from .model import SCHEMA, Detail, Edge, Node, Stats
from .plain import plain
from .trace import read

PAUSED, FINISHED, ABORTED, FAILED = "paused", "finished", "aborted", "failed"


@dataclass(slots=True)
class Sent:
    """What a step sent along the edge of input ``slot`` to node or leaf ``target``; ``grad`` is
    None where no gradient was defined.
    """

    slot: int
    target: int
    grad: Stats | None = None


@dataclass(slots=True)
class Added:
    """``amount`` was added into ``.grad`` of ``leaf``: it was ``before`` (None: there was none) and
    is ``after``.
    """

    leaf: int
    before: Stats | None
    amount: Stats
    after: Stats
    hooks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Freed:
    """A saved tensor that the sweep lets go at this step."""

    name: str
    shape: tuple[int, ...] = ()
    bytes: int = 0


@dataclass(slots=True)
class Step:
    """One node. ``arrived``: the summed gradient of each output. ``rule``: the local derivative, by
    language; ``numbers``: the same with this node's own numbers, empty when they are too many.
    ``hooks`` fire at the node, as ``kind name``. ``stop``: why play stopped after it (``nan``,
    ``norm`` or empty).
    """

    node: int
    arrived: list[Stats | None] = field(default_factory=list)
    rule: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    added: list[Added] = field(default_factory=list)
    freed: list[Freed] = field(default_factory=list)
    hooks: list[str] = field(default_factory=list)
    stop: str = ""


@dataclass(slots=True)
class PathShare:
    """One path from the root to a leaf (ids, root first) and what came along it."""

    nodes: list[int]
    share: Stats


@dataclass(slots=True)
class Why:
    """Why the gradient of ``leaf`` is what it is: ``shares`` add up to ``total``. ``paths``: how
    many there are; there are no shares when they are too many, or when a hook or a function of the
    person's own stands on one.
    """

    leaf: int
    paths: int
    shares: list[PathShare] = field(default_factory=list)
    total: Stats | None = None


@dataclass(slots=True)
class Recording:
    """``nodes``, ``edges`` and ``details`` as they were before the first step; ``kept``: the sweep
    retains its graph, so nothing is freed; ``quiz``: the page asks what goes out before it tells.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    details: dict[int, Detail] = field(default_factory=dict)
    roots: list[int] = field(default_factory=list)
    plan: list[int] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    why: list[Why] = field(default_factory=list)
    kept: bool = False
    quiz: bool = False
    state: str = PAUSED
    error: str = ""

    def to_json(self) -> dict:
        """As JSON values; ``load`` reads it back."""
        return {"schema": SCHEMA} | plain(self)


def load(data: dict) -> Recording:
    """A recording from what ``Recording.to_json`` gave. Raises ValueError for another schema."""
    if data.get("schema") != SCHEMA:
        found = repr(data.get("schema"))
        raise ValueError(text("notebook.file.recording_schema", wanted=SCHEMA, found=found))
    return read(Recording, data)
