"""GV316: batch-norm statistics of a frozen part still move."""

from gradviz.doctor.finding import Rule

STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


def look(case):
    """All parameters of a module are frozen, it is in training mode, and its running statistics
    were changed.
    """
    tracked = {held.facts.own for held in case.held if held.facts.leaf}
    told = set()
    for module in sorted(case.modules, key=lambda m: len(m.path)):
        leaves = set(module.parameters.values())
        trained = any(
            case.ledger.leaves.get(leaf) and case.ledger.leaves[leaf].total for leaf in leaves
        )
        if not leaves or leaves & tracked or trained or not case.ledger.sweeps:
            continue
        if _follows(case, leaves):
            continue
        buffers = {id: name for name, id in module.buffers.items() if name.endswith(STATISTICS)}
        moved = [
            event
            for event in case.ledger.events
            if _moves(event, buffers) and event.subject not in told
        ]
        moved = [event for event in moved if _training(case, module, buffers[event.subject])]
        if moved:
            told.update(buffers)
            running = [id for id, name in buffers.items() if not name.endswith(STATISTICS[-1])]
            holders = [case.named(id) or f"{module.path}.{buffers[id]}" for id in sorted(running)]
            place = case.place(moved[-1].note)
            yield RULE.found(
                case, holders, place, name=module.path, count=len({e.serial for e in moved})
            )


def _follows(case, leaves):
    """The parameters are changed while others train: a moving average, not a frozen part."""
    memories = {held.facts.storage for held in case.held if held.facts.own in leaves}
    since = case.ledger.sweeps[0].order
    bumps = (event for event in case.ledger.events if event.kind == "bump")
    return any(event.memory in memories and event.order > since for event in bumps)


def _moves(event, buffers):
    """A statistic was changed, not by its own construction."""
    made = event.entry == "__init__" or event.entry.startswith("reset")
    return event.kind == "bump" and event.subject in buffers and event.note and not made


def _training(case, module, buffer):
    """The submodule that owns the buffer is in training mode."""
    thing = module.thing
    for name in buffer.split(".")[:-1]:
        thing = thing.__dict__["_modules"][name]
    return bool(thing.__dict__.get("training", True))


RULE = Rule("GV316", "mode.bn-not-frozen", "warning", look)
