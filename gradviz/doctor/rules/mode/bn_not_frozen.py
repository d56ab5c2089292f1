"""GV502: batch-norm statistics of a frozen part still move."""

from gradviz.doctor.finding import Rule


def look(case):
    """All parameters of a module are frozen, it is in training mode, and its running statistics were changed."""
    tracked = {held.facts.own for held in case.held if held.facts.leaf}
    told = set()
    for module in sorted(case.modules, key=lambda m: len(m.path)):
        leaves = set(module.parameters.values())
        trained = any(case.ledger.leaves.get(leaf) and case.ledger.leaves[leaf].total for leaf in leaves)
        if not leaves or leaves & tracked or trained or not case.ledger.sweeps:
            continue
        statistics = {id: name for name, id in module.buffers.items() if name.endswith(("running_mean", "running_var"))}
        moved = [e for e in case.ledger.events if e.kind == "bump" and e.subject in statistics and e.note]
        moved = [e for e in moved if e.subject not in told and _training(case, module, statistics[e.subject])]
        if moved:
            told.update(statistics)
            holders = [case.named(id) or f"{module.path}.{statistics[id]}" for id in sorted({e.subject for e in moved})]
            place = case.place(moved[-1].note)
            yield RULE.found(case, holders, place, name=module.path, count=len({e.order for e in moved}))


def _training(case, module, buffer):
    """The submodule that owns the buffer is in training mode."""
    thing = module.thing
    for name in buffer.split(".")[:-1]:
        thing = thing.__dict__["_modules"][name]
    return bool(thing.__dict__.get("training", True))


RULE = Rule("GV502", "mode.bn-not-frozen", "warning", look)
