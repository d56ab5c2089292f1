"""GV601: numbers are read from tensors in a loop again and again."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import READ

MANY = 100


def look(case):
    """One line inside a loop has read a hundred numbers or more."""
    for cut in case.cuts:
        place = case.place(cut.note) if cut.how in READ and cut.count >= MANY else None
        statement = case.cells.at(*case.cells.line(place))
        if statement is not None and statement.loops:
            yield RULE.found(case, [], place, count=cut.count)


RULE = Rule("GV601", "perf.host-sync", "info", look)
