"""GV403: an activation became infinite."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import results

HOPS = 4
OPS = (
    "Log",
    "Exp",
    "Div",
    "Pow",
    "Reciprocal",
    "Sqrt",
    "Rsqrt",
    "Mul",
    "Addmm",
    "Mm",
    "Sinh",
    "Cosh",
    "Tan",
)


def look(case):
    """The first named result with an infinity that an operation made (not a mask)."""
    found = list(results(case))
    nan = any(is_nan for _, is_nan, _ in found)
    for held, _, inf in found:
        made = _made(case, held.facts.id) if inf else 0
        if made:
            own = made == held.facts.id
            place = held.facts.place if own else case.place(case.graph.note(made))
            severity = "warning" if nan else "info"
            yield RULE.found(case, [held.path], place, None, [made], severity, name=held.path)
            return


def _made(case, id):
    """The operation that can make an infinity, at or below one that only passes it on; 0: none."""
    for _ in range(HOPS):
        if case.graph.op(id).startswith(OPS):
            return id
        below = [i for _, i, leaf in case.graph.inputs(id) if not leaf]
        if len(below) != 1:
            return 0
        id = below[0]
    return 0


RULE = Rule("GV403", "num.inf", "warning", look)
