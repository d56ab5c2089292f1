"""GV110: a suspended generator keeps the tensors of its frame."""

from gradviz.doctor.finding import Rule, ids, paths


def look(case):
    """Locals with a graph in the frame of a generator that waits at a yield."""
    groups = {}
    for held in case.held:
        if held.category == "generator" and held.facts.attached:
            owner = _generator(held)
            if owner is not None:
                groups.setdefault(id(owner), (owner, []))[1].append(held)
    for owner, group in groups.values():
        frame = getattr(owner, "gi_frame", None) or getattr(owner, "cr_frame", None)
        place = case.places.at(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        name = frame.f_code.co_name
        yield RULE.found(
            case, paths(group), place, case.graph.weigh(ids(group)), ids(group), name=name
        )


def _generator(held):
    return next(
        (o for o in held.link.owners() if hasattr(o, "gi_frame") or hasattr(o, "cr_frame")), None
    )


RULE = Rule("GV110", "leak.generator", "warning", look)
