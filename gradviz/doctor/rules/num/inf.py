"""GV403: an activation became infinite."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import results

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
        if inf and held.facts.op.startswith(OPS):
            severity = "warning" if nan else "info"
            yield RULE.found(
                case, [held.path], held.facts.place, None, [held.facts.id], severity, name=held.path
            )
            return


RULE = Rule("GV403", "num.inf", "warning", look)
