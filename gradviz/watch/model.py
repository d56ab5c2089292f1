"""The model of what was seen: plain data, JSON in and out, no engine, no user objects.

Schema version 1, documented in docs/protocol.md. Identifiers of nodes are the serial numbers that
the source gives: they rise with creation, so order of creation is order of id.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SCHEMA = 1

LEAF, PARAMETER, OPERATION, UNTRACKED = "leaf", "parameter", "operation", "untracked"


@dataclass(slots=True)
class Place:
    """A line of user code. ``cell`` is the execution count, None outside cells; ``line`` counts
    from 1.
    """

    cell: int | None
    line: int
    file: str = ""
    function: str = ""
    code: str = ""


@dataclass(slots=True)
class Saved:
    """One saved tensor of a node. ``state`` is ``alive``, ``freed`` or ``hooked`` (packed by a
    user's hook); ``source``: the id of the node whose tensor it is, the node's own for a result.
    """

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    bytes: int = 0
    version_saved: int = 0
    version_now: int = 0
    state: str = "alive"
    label: str = ""
    source: int | None = None

    @property
    def clashes(self) -> bool:
        """Whether it was changed in place since it was saved: backward will refuse it."""
        return self.state == "alive" and self.version_saved != self.version_now


@dataclass(slots=True)
class Hook:
    """``kind``: tensor, retain_grad, pre, post, post_accumulate; forward_pre, forward,
    backward_pre, backward of the module ``owner``. ``calls``: how often it was called, None where
    that is not counted; ``before``, ``after``: norms of the gradient that it last replaced.
    """

    kind: str
    name: str
    place: Place | None = None
    calls: int | None = None
    before: float | None = None
    after: float | None = None
    owner: str = ""


@dataclass(slots=True)
class Node:
    """A thing of the graph: a leaf, a parameter, an operation (with the tensor it made) or an
    untracked input. ``formula``: its local derivative, by language; ``creator``: the id of the node
    whose backward recorded it (``create_graph``).
    """

    id: int
    kind: str
    op: str = ""
    label: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    device: str = "cpu"
    bytes: int = 0
    requires_grad: bool = False
    is_leaf: bool = False
    retains_grad: bool = False
    version: int = 0
    place: Place | None = None
    calls: list[Place] = field(default_factory=list)
    module: str = ""
    formula: dict[str, str] = field(default_factory=dict)
    saved: list[Saved] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    root: bool = False
    alive: bool = True
    freed: bool = False
    grad_norm: float | None = None
    cut: str = ""
    failed: bool = False
    inplace: bool = False
    findings: list[str] = field(default_factory=list)
    creator: int | None = None

    @property
    def clashes(self) -> bool:
        """Whether backward will refuse what it saved."""
        return any(saved.clashes for saved in self.saved)


@dataclass(slots=True)
class Edge:
    """Data flows ``source`` -> ``target``; ``slot`` is the input's position, ``output`` the
    producer's output number.

    ``grad_norm`` is None until a gradient flowed along it. ``cut`` is empty, or detach, no_grad,
    item, numpy …
    """

    source: int
    target: int
    slot: int = 0
    output: int = 0
    grad_norm: float | None = None
    cut: str = ""


@dataclass(slots=True)
class Stats:
    """Numbers of one tensor. ``values`` (nested lists, 0-d: a number) when small, ``heat`` (rows ×
    columns, NaN as None) when large.
    """

    shape: tuple[int, ...]
    dtype: str
    minimum: float | None = None
    mean: float | None = None
    maximum: float | None = None
    norm: float | None = None
    nan: int = 0
    inf: int = 0
    zero: int = 0
    values: object = None
    heat: list[list[float | None]] | None = None


@dataclass(slots=True)
class Change:
    """The line that made a tensor's version ``version`` by changing it in place."""

    version: int
    place: Place | None = None


@dataclass(slots=True)
class Added:
    """The line whose backward passes added to a gradient, and how many of them did."""

    count: int
    place: Place | None = None


@dataclass(slots=True)
class Detail:
    """What the inspector shows for one node beyond its row. ``shares``: ids of what lies in the
    same memory; ``changes``: of its value in place, the oldest first; ``added``: to its gradient
    since that was last cleared, the oldest line first.
    """

    id: int
    value: Stats | None = None
    grad: Stats | None = None
    grad_state: str = ""
    holders: list[str] = field(default_factory=list)
    shares: list[int] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    added: list[Added] = field(default_factory=list)


@dataclass(slots=True)
class Cell:
    """One executed cell. Times in seconds since the epoch; ``nodes`` recorded in it, ``bytes`` held
    by graphs after it.
    """

    count: int
    id: str | None = None
    text: str = ""
    started: float = 0.0
    ended: float | None = None
    error: str = ""
    nodes: int = 0
    bytes: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Finding:
    """What the doctor says. ``message`` and ``fix`` hold one text a language ({"en": …,
    "zh": …}). ``count``: how many steps, tensors or calls it is about, 0 when that means nothing;
    ``step_nodes`` and ``step_bytes``: what each of them adds. ``file``: where the line is, when it
    is in no cell.
    """

    rule: str
    kind: str
    severity: str
    holders: list[str]
    cell: int | None
    line: int | None
    nodes: int
    bytes: int
    message: dict[str, str]
    fix: dict[str, str]
    code: str = ""
    node_ids: list[int] = field(default_factory=list)
    count: int = 0
    step_nodes: float = 0.0
    step_bytes: float = 0.0
    file: str = ""
