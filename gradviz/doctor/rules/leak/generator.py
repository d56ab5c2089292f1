"""GV110: a suspended generator keeps the tensors of its frame."""

from gradviz.doctor.finding import Rule, ids, paths

FRAMES = ("gi_frame", "cr_frame", "ag_frame")


def look(case):
    """Locals with a graph in the frame of a generator or coroutine that waits at a yield or
    await.
    """
    groups = {}
    for held in case.held:
        if held.category == "generator" and held.facts.attached:
            owner = _generator(held)
            if owner is not None:
                groups.setdefault(id(owner), (owner, []))[1].append(held)
    for owner, group in groups.values():
        frame = next(frame for name in FRAMES if (frame := getattr(owner, name, None)))
        place = case.places.at(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
        name = frame.f_code.co_name
        yield RULE.found(
            case, paths(group), place, case.graph.weigh(ids(group)), ids(group), name=name
        )


def _generator(held):
    return next((o for o in held.link.owners() if any(hasattr(o, name) for name in FRAMES)), None)


RULE = Rule("GV110", "leak.generator", "warning", look)
