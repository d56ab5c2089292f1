"""The ledger: what happened to gradients, in order. Serial numbers and places only, never a tensor.

``order`` counts events. A *sweep* is one backward pass. The ledger keeps, for each leaf, the run of
accumulations since its gradient was last cleared and the last change of its value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from itertools import islice

KEPT = 8_000
LEAVES = 4_000
CLIPPING = ("clip_grad", "clamp", "clip_")


@dataclass(slots=True)
class Event:
    """Something that happened: ``kind`` (bump, cut, hook, retain, clip …), on what (``subject``: a
    serial), where (``note``: a chain of code and instruction), called how (``entry``: the function
    of ours that was called). ``memory``: an identity of the tensor's storage; ``data``: a weak
    reference to the tensor; ``node``: the serial of the node that
    it was made by before, when another is recorded for a change in place.
    """

    order: int
    kind: str
    subject: int
    note: tuple
    entry: str = ""
    serial: int = 0
    sweep: int = -1
    data: object = None
    memory: int = 0
    node: int = 0


@dataclass(slots=True)
class SweepRecord:
    """One backward pass. ``serial``: nodes with a smaller serial existed when it began; ``bytes``:
    what its graph had saved, 0 when it was not weighed.
    """

    number: int
    order: int
    serial: int
    note: tuple
    entry: str
    keep: bool
    create: bool
    roots: tuple = ()
    root_ops: tuple = ()
    root_refs: tuple = ()
    leaves: set = field(default_factory=set)
    ended: int = 0
    error: str = ""
    error_type: str = ""
    accumulates: bool = True
    bytes: int = 0


@dataclass(slots=True)
class LeafRecord:
    """The account of one leaf. ``run``: accumulations since ``.grad`` was last cleared, as (sweep,
    order); ``longest``: the longest run so far. ``stale``: sweeps that added to a gradient which a
    step had used already, and that the next step then used too. ``late_clips``: (clip, step) where
    the gradient was clipped after the step.
    """

    id: int
    run: list = field(default_factory=list)
    longest: list = field(default_factory=list)
    total: int = 0
    tainted: tuple | None = None
    changed: Event | None = None
    changes: int = 0
    change_serials: list = field(default_factory=list)
    stale: list = field(default_factory=list)
    grad_changed: Event | None = None
    zeroed: bool = False
    late_clips: list = field(default_factory=list)


class Ledger:
    """Events in order, bounded; sweeps and leaves by number."""

    def __init__(self):
        self.order = 0
        self.events: deque[Event] = deque(maxlen=KEPT)
        self.sweeps: deque[SweepRecord] = deque(maxlen=KEPT)
        self.leaves: dict[int, LeafRecord] = {}
        self._open: list[SweepRecord] = []
        self._serials: list[int] = []
        self._forgotten = 0
        self._count = 0

    @property
    def current(self) -> SweepRecord | None:
        """The innermost sweep that is under way."""
        return self._open[-1] if self._open else None

    def tick(self) -> int:
        """The next order number."""
        self.order += 1
        return self.order

    def add(self, kind, subject, note, entry="", serial=0, data=None, memory=0, node=0) -> Event:
        """Write an event down."""
        sweep = self.current.number if self.current is not None else -1
        event = Event(self.tick(), kind, subject, note, entry, serial, sweep, data, memory, node)
        self.events.append(event)
        return event

    def begin_sweep(
        self, serial, note, entry, keep, create, roots, root_ops, root_refs, accumulates=True
    ):
        """A backward pass starts."""
        self._count += 1
        record = SweepRecord(
            self._count,
            self.tick(),
            serial,
            note,
            entry,
            keep,
            create,
            roots,
            root_ops,
            root_refs,
            accumulates=accumulates,
        )
        self.sweeps.append(record)
        if not create:
            self._serials.append(serial)
            if len(self._serials) > 10 * KEPT:
                self._forgotten += 5 * KEPT
                del self._serials[: 5 * KEPT]
        self._open.append(record)
        return record

    def end_sweep(self, error: BaseException | None = None):
        """It ended, or stopped with ``error``."""
        if not self._open:
            return
        record = self._open.pop()
        record.ended = self.tick()
        if error is not None:
            record.error, record.error_type = str(error), type(error).__name__
        before = self.sweep(record.number - 1)
        if before is not None and before.leaves == record.leaves:
            record.leaves = before.leaves  # one set for all steps of a loop

    def epoch(self, serial: int) -> int:
        """How many first-order sweeps had begun when the node with ``serial`` was made."""
        return self._forgotten + bisect_right(self._serials, serial)

    def leaf(self, id: int) -> LeafRecord:
        """The account of a leaf; accounts that were not touched for long are forgotten."""
        found = self.leaves.pop(id, None) or LeafRecord(id)
        self.leaves[id] = found
        if len(self.leaves) > LEAVES:
            for old in list(islice(self.leaves, LEAVES // 5)):
                del self.leaves[old]
        return found

    def accumulated(self, id: int, fresh: bool):
        """The current sweep added into the gradient of leaf ``id``; ``fresh``: there was none
        before.
        """
        leaf, order = self.leaf(id), self.tick()
        number = self.current.number if self.current is not None else -1
        if self.current is not None:
            self.current.leaves.add(id)
        leaf.total += 1
        if fresh or leaf.zeroed:
            leaf.run, leaf.zeroed, leaf.tainted = [], False, None
        elif leaf.run and leaf.changed is not None and leaf.changed.order > leaf.run[-1][1]:
            leaf.tainted = number, leaf.changed
        if len(leaf.run) < 1_000:
            leaf.run.append((number, order))
        if len(leaf.run) >= len(leaf.longest):
            leaf.longest = leaf.run

    def changed(self, event: Event):
        """The value of leaf ``event.subject`` was changed in place."""
        leaf = self.leaf(event.subject)
        if leaf.tainted is not None and len(leaf.stale) < 1_000:
            leaf.stale.append((*leaf.tainted, event))
            leaf.tainted = None
        leaf.changed = event
        leaf.changes += 1
        leaf.change_serials.append(event.serial)
        if len(leaf.change_serials) > 1_000:
            del leaf.change_serials[:500]

    def grad_changed(self, id: int, event: Event, zeroed: bool = False):
        """The gradient of leaf ``id`` was changed in place: cleared (``zeroed``),
        clipped, scaled.
        """
        leaf = self.leaf(id)
        leaf.grad_changed = event
        if zeroed or event.entry in ("zero_", "zero_grad"):
            leaf.zeroed = True
        if event.entry.startswith(CLIPPING) and leaf.changed is not None and leaf.run:
            if leaf.changed.order > leaf.run[-1][1] and len(leaf.late_clips) < 1_000:
                leaf.late_clips.append((event, leaf.changed))

    def sweep(self, number: int) -> SweepRecord | None:
        """The sweep with ``number`` if it is still remembered."""
        at = number - self.sweeps[0].number if self.sweeps else -1
        return self.sweeps[at] if 0 <= at < len(self.sweeps) else None

    def retained_roots(self) -> set[int]:
        """Serials of the roots of backward passes that were told to retain their graph."""
        kept = [s for s in self.sweeps if s.keep and s.accumulates and not (s.create or s.error)]
        return {id for sweep in kept for id in sweep.roots}

    def kept_roots(self) -> set[int]:
        """Those, and of passes that made a graph of their own: their buffers stay too."""
        kept = [s for s in self.sweeps if (s.keep or s.create) and not s.error]
        return {id for sweep in kept for id in sweep.roots}

    def swept_roots(self) -> set[int]:
        """Serials of the roots of sweeps that freed their graph."""
        return {
            id for sweep in self.sweeps if not sweep.keep and not sweep.error for id in sweep.roots
        }
