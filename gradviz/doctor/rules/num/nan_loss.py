"""GV402: a loss is not a number."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import results


def look(case):
    """A named scalar result is NaN."""
    for held, nan, _ in results(case):
        if nan and held.facts.shape == ():
            yield RULE.found(
                case, [held.path], held.facts.place, None, [held.facts.id], name=held.path
            )
            return


RULE = Rule("GV402", "num.nan-loss", "error", look)
