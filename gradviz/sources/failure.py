"""Facts of the exception that ended a cell, read before its traceback can change."""

from __future__ import annotations

from gradviz.watch.case import ErrorFacts

from . import reading
from .graph import is_freed, reach

FREED = "backward through the graph a second time"
CHANGED = "modified by an inplace operation"


def failure(source, error: BaseException, cell: int | None) -> ErrorFacts:
    """Type, message and the person's lines of ``error``; for failed sweeps what had been freed or
    changed.
    """
    facts = ErrorFacts(type(error).__name__, str(error), lines(source, error), cell)
    sweep = next((s for s in reversed(source.ledger.sweeps) if s.error), None)
    if sweep is None or sweep.error != str(error):
        return facts
    facts.sweep = sweep.number
    roots = [ref() for ref in sweep.root_refs]
    nodes = [root for root in roots if root is not None and hasattr(root, "seq")]
    if FREED in facts.message:
        _freed(source, facts, sweep, nodes)
    if CHANGED in facts.message:
        _changed(source, facts, nodes)
    facts.nodes += [root.seq for root in nodes]
    return facts


def lines(source, error):
    """Places of the person's frames in the traceback of ``error``, innermost first."""
    out, traceback = [], error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if source.watcher.files.is_mine(code.co_filename):
            out.append(source.places.at(code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return out[::-1]


def _freed(source, facts, sweep, nodes):
    """Where the newest node was made that an earlier sweep had freed; whether all that it swept is
    swept again.
    """
    before = [s for s in source.ledger.sweeps if s.number < sweep.number and not s.error]
    below = reach(nodes, 20_000).nodes
    facts.freed_root = any(id in below for s in before for id in s.roots)
    gone = {seq: node for seq, node in below.items() if is_freed(node)}
    roots = [
        root for s in before if not s.keep for ref in s.root_refs if hasattr(root := ref(), "seq")
    ]
    shared = reach(roots, 20_000).nodes.keys() & gone.keys() if roots else ()
    older = shared or [seq for seq in gone if seq < _previous(source, sweep)]
    if older:
        chain = source.places.chain(source.watcher.note(gone[max(older)]))
        facts.freed = chain[0] if chain else None
        facts.nodes.append(max(older))
        after = [s for s in before if not s.keep and s.serial > max(older) and s.note]
        facts.by = source.places.place(*after[0].note[:2]) if after else None


def _previous(source, sweep):
    """The serial at which the sweep before ``sweep`` began: what it freed is older."""
    before = [s.serial for s in source.ledger.sweeps if s.number < sweep.number and not s.keep]
    return before[-1] if before else 0


def _changed(source, facts, nodes):
    """The line of the last change of a saved tensor that is newer than what was saved."""
    below = reach(nodes, 20_000).nodes
    arrays = set()
    for node in below.values():
        for _, array, saved_at, now, freed in reading.saved(node):
            if array is not None and not freed and now != saved_at:
                arrays.add(reading.memory(array)[0])
                facts.nodes.append(node.seq)
    for event in reversed(source.ledger.events):
        if event.kind == "bump" and event.memory in arrays:
            facts.bump = source.places.place(*event.note[:2]) if event.note else None
            return
