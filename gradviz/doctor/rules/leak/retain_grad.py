"""GV117: retain_grad() on results that are kept keeps a gradient for each."""

from dataclasses import replace

from gradviz.doctor.finding import Rule, ids
from gradviz.doctor.history import distinct


def look(case):
    """Two or more results in one container that retain their gradient and have it."""
    for group in case.units("container", "attribute", "closure", "default").values():
        kept = [held for held in distinct(group) if held.facts.retains and held.facts.grad]
        if len(kept) < 2:
            continue
        weight = case.graph.weigh(ids(kept))
        weight = replace(weight, bytes=weight.bytes + sum(held.facts.bytes for held in kept))
        holders = [kept[0].path, kept[-1].path, f"{kept[0].path}.grad", kept[0].holder]
        yield RULE.found(
            case,
            holders,
            _asked(case, kept) or kept[-1].facts.place,
            weight,
            ids(kept),
            count=len(kept),
        )


def _asked(case, kept):
    """The line that called retain_grad."""
    wanted = {held.facts.id for held in kept}
    asked = [e for e in case.ledger.events if e.kind == "retain" and e.subject in wanted]
    return case.place(asked[-1].note) if asked else None


RULE = Rule("GV117", "leak.retain-grad", "warning", look)
