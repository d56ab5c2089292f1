"""GV106: a traceback keeps the frames of a failed call, and these their tensors."""

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import elsewhere
from gradviz.doctor.where import put

ELSEWHERE = ("name", "container", "attribute", "buffer", "closure")


def look(case):
    """Locals of frames in the last traceback, and in exceptions that were stored."""
    groups = {}
    for held in case.held:
        if held.category == "traceback" and held.facts.attached:
            stored = held.steps[0].kind == "name"
            groups.setdefault(held.root if stored else "", []).append(held)
    for root, group in groups.items():
        known = elsewhere(case, group, *ELSEWHERE)
        group = [held for held in group if held.facts.id not in known]
        if group:
            place = put(case, group) if root else _raised(case)
            frames = ", ".join(
                dict.fromkeys(s.name for h in group for s in h.steps if s.kind == "frame")
            )
            yield RULE.found(
                case, paths(group), place, case.graph.weigh(ids(group)), ids(group), frames=frames
            )


def _raised(case):
    """The line that raised last."""
    chain = case.errors[-1].chain if case.errors else []
    return chain[0] if chain else None


RULE = Rule("GV106", "leak.traceback", "warning", look)
