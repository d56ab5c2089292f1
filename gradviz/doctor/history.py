"""Is it a history, or just the newest result? What tells a leak from a graph that is still to be
used.
"""

from __future__ import annotations

import ast

from gradviz.watch.case import Case, Held
from gradviz.watch.program import calls, names_in, own_expressions, targets

READERS = ("item", "tolist", "numpy", "float", "int")
READ = ("item", "bool", "numpy", "tolist", "integer")


def distinct(group: list[Held]) -> list[Held]:
    """Each tensor once, in order of creation."""
    seen: dict[int, Held] = {}
    for held in sorted(group, key=lambda h: h.facts.id):
        seen.setdefault(held.facts.id, held)
    return list(seen.values())


def same_line(group: list[Held]) -> list[list[Held]]:
    """The tensors of a group by the line that made them."""
    lines: dict[tuple, list[Held]] = {}
    for held in group:
        place = held.facts.place
        lines.setdefault(
            (place.cell, place.file, place.line, held.facts.op) if place else (held.facts.op,), []
        ).append(held)
    return list(lines.values())


def finished(case: Case, group: list[Held]) -> list[Held]:
    """Tensors of one line that several backward passes are through with: a history of finished
    graphs.
    """
    out, retained = [], case.ledger.retained_roots()
    for line in same_line(distinct(group)):
        swept = [h for h in line if case.graph.swept(h.facts.id) or h.facts.id in retained]
        if len({held.facts.epoch for held in swept}) >= 2:
            out += swept
    return out


def read_only(case: Case, group: list[Held]) -> list[Held]:
    """Tensors of one line, never swept, of which every one (but perhaps the last) was merely read
    as a number.
    """
    out = []
    read = set().union(*(cut.sources | cut.below for cut in case.cuts if cut.how in READ), ())
    for line in same_line(distinct(group)):
        waiting = [held for held in line if not case.graph.swept(held.facts.id)]
        seen = waiting if waiting and read_by_name(case, waiting[0]) else []
        seen = seen or [held for held in waiting if held.facts.id in read]
        if len(seen) >= 2 and len(seen) >= len(waiting) - 1 and not consumed(case, seen):
            out += waiting
    return out


def outdated(case: Case, group: list[Held]) -> list[Held]:
    """Tensors of one line, never swept, from several training steps: parameters they were computed
    from have changed since, so no backward can want them; or only their values were used.
    """
    out = []
    used = set().union(*(cut.sources for cut in case.cuts if cut.how == "detach"), ())
    for line in same_line(distinct(group)):
        waiting = [held for held in line if not case.graph.swept(held.facts.id)]
        past = [h for h in waiting if h.facts.id in used or _changed_since(case, h)]
        several = len({held.facts.epoch for held in past}) >= 2
        if several and len(past) >= len(waiting) - 1 and not consumed(case, waiting):
            out += waiting
    return out


def _changed_since(case, held):
    leaves = case.graph.weigh([held.facts.id]).leaves
    accounts = [case.ledger.leaves[leaf] for leaf in leaves if leaf in case.ledger.leaves]
    return any(at > held.facts.id for account in accounts for at in account.change_serials)


def resting(case: Case) -> set[int]:
    """Serials of the parameters of modules in eval mode that none in training mode has itself."""
    idle = {leaf for m in case.modules if not m.training for leaf in m.parameters.values()}
    working = (m.parameters.items() for m in case.modules if m.training)
    return idle - {leaf for own in working for name, leaf in own if "." not in name}


def evaluated(case: Case, group: list[Held]) -> list[Held]:
    """Tensors of one line, never swept, that modules in eval mode computed and that nothing else
    was computed from.
    """
    out, idle = [], resting(case)
    for line in same_line(distinct(group)) if idle else ():
        waiting = [held for held in line if not case.graph.swept(held.facts.id)]
        if len(waiting) >= 2 and all(_of(case, held, idle) for held in waiting):
            out += [] if consumed(case, waiting) else waiting
    return out


def _of(case, held, leaves):
    found = case.graph.weigh([held.facts.id])
    return bool(found.leaves) and found.leaves <= leaves and not found.freed


def read_by_name(case: Case, held: Held, readers=READERS) -> bool:
    """A statement beside the one that made the tensor reads a number from the name it was given."""
    place = held.facts.place
    made = case.cells.at(*case.cells.line(place))
    if made is None:
        return False
    names = {part.id for part in targets(made.node) if isinstance(part, ast.Name)}
    for statement in case.cells.within([made.cell]) if names else ():
        beside = statement.function is made.function
        for call in calls(statement.node, *readers) if beside and statement is not made else ():
            if names & names_in(call, plain=True):
                return True
    return False


def read_as_a_whole(case: Case, group: list[Held], readers=READERS) -> list[Held]:
    """Tensors of one line, none swept, whose container a statement reads numbers from:
    ``torch.cat(preds).mean().item()``, ``[p.item() for p in preds]``.
    """
    named = [s for s in group[0].steps if s.kind in ("name", "global", "attribute")]
    name = str(named[-1].name)
    if not any(_reads(s.node, name, readers) for s in case.cells.mentioning(name)):
        return []
    lines = [line for line in same_line(distinct(group)) if len(line) >= 2]
    waiting = [line for line in lines if not any(case.graph.swept(h.facts.id) for h in line)]
    return [held for line in waiting if not consumed(case, line) for held in line]


def _reads(node, name, readers):
    """A reader's call, or a comprehension with one, that takes from ``name``."""
    if any(name in names_in(call, plain=True) for call in calls(node, *readers)):
        return True
    for part in own_expressions(node) if any(calls(node, *readers)) else ():
        if any(name in names_in(each.iter) for each in getattr(part, "generators", ())):
            return True
    return False


def passed_over(case: Case, group: list[Held]) -> bool:
    """A later cell has run, or a later backward, without using or reading the tensors."""
    newest = max(held.facts.id for held in group)
    place = group[-1].facts.place
    later = (
        place is not None
        and place.cell is not None
        and case.cell is not None
        and case.cell > max(place.cell, _last_read(case, {held.facts.id for held in group}))
    )
    return later or any(sweep.serial > newest and not sweep.error for sweep in case.ledger.sweeps)


def _last_read(case, ids):
    """The last cell in which numbers were read from one of the tensors, or 0."""
    notes = [cut.note for cut in case.cuts if cut.how in READ and not ids.isdisjoint(cut.sources)]
    return max((p.cell or 0 for note in notes for p in case.places.chain(note)), default=0)


def consumed(case: Case, group: list[Held]) -> bool:
    """Whether something else that is held was computed from one of the tensors (so a backward may
    still come).
    """
    mine = {held.facts.id for held in group}
    others = [
        h
        for h in case.held
        if h.facts.attached and h.facts.id not in mine and h.category != "display"
    ]
    for other in {h.facts.id: h for h in others if h.facts.id > min(mine)}.values():
        if mine & case.graph.weigh([other.facts.id], 5_000).nodes:
            return True
    return False


def spans(case: Case, held: Held) -> tuple[list[int], int]:
    """(links, passes): the chain of nodes of one line behind ``held``, and how many training steps
    lie in between: backward passes into the same leaves, or changes of one of these leaves."""
    return spans_of(case, held.facts.id)


def spans_of(case: Case, id: int) -> tuple[list[int], int]:
    """The same of the node ``id``."""
    links = case.graph.chain(id)
    if len(links) <= 2:
        links = max(links, case.graph.steps_behind(id), key=len)
    if len(links) < 2:
        case.graph.note_alone(id)
        return links, 0
    leaves = case.graph.weigh([id]).leaves
    passes = [
        sweep
        for sweep in case.ledger.sweeps
        if sweep.accumulates
        and not sweep.error
        and links[-1] < sweep.serial <= links[0]
        and sweep.leaves & leaves
    ]
    accounts = [case.ledger.leaves[leaf] for leaf in leaves if leaf in case.ledger.leaves]
    changes = [
        sum(links[-1] < at <= links[0] for at in account.change_serials) for account in accounts
    ]
    return links, max(len(passes), *changes, 0)


def carried(case: Case, held: Held) -> bool:
    """Whether the tensor was computed from itself of earlier steps: a total or a state, not merely
    like layers of one network.
    """
    links, passes = spans(case, held)
    return len(links) > 2 and passes > 0


def unrolled(case: Case, group: list[Held]) -> bool:
    """Whether the newest tensor was computed from others of the group: a sequence whose loss may
    still come.
    """
    links = case.graph.chain(group[-1].facts.id)
    return len(links) > 2 and len({held.facts.id for held in group}.intersection(links)) > 1


def elsewhere(case: Case, group: list[Held], *categories) -> set[int]:
    """Serials of tensors of ``group`` that are also held by paths of ``categories``."""
    mine = {held.facts.id for held in group}
    return {h.facts.id for h in case.held if h.facts.id in mine and h.category in categories}


def best_first(group: list[Held]) -> list[Held]:
    """Paths a person would use come first."""
    return sorted(group, key=lambda held: held.rank)


def without_gradient(case: Case, optimizer) -> set[int]:
    """Leaves of an optimiser that never got a gradient, when others of it did."""
    accounts = case.ledger.leaves
    got = {leaf for leaf in optimizer.leaves if leaf in accounts and accounts[leaf].total}
    return set(optimizer.leaves) - got if got else set()
