"""GV501: a second backward through a graph whose saved tensors are gone."""

from pathlib import Path

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, with_message
from gradviz.texts import both


def look(case):
    """The place is where the freed part was made, or the second call when it is the same result
    again.
    """
    for error in with_message(case, "backward through the graph a second time"):
        place = raised(error) if error.freed_root or error.freed is None else error.freed
        made = error.freed or place
        fields = {"made": made.code if made is not None else "", "by": _by(error.by)}
        yield state(RULE, case, error, place, "backward", **fields)


def _by(place):
    """Who freed it, in words: a text a language."""
    if place is None:
        return both("findings.freed.by.unknown")
    line = {"code": place.code, "line": place.line}
    if place.cell is None:
        return both("findings.freed.by.file", file=Path(place.file).name, **line)
    return both("findings.freed.by.cell", cell=place.cell, **line)


RULE = Rule("GV501", "error.double-backward", "error", look)
