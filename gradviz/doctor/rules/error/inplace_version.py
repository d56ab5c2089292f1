"""GV502: a tensor that backward needs was changed in place after it was saved."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, with_message


def look(case):
    """The place is the line that changed it."""
    for error in with_message(case, "modified by an inplace operation"):
        place = error.bump or raised(error)
        yield state(
            RULE, case, error, place, "backward", changed=place.code if place is not None else ""
        )


RULE = Rule("GV502", "error.inplace-version", "error", look)
