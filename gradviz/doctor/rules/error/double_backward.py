"""GV501: a second backward through a graph whose saved tensors are gone."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, with_message


def look(case):
    """The place is where the freed part was made, or the second call when it is the same result
    again.
    """
    for error in with_message(case, "backward through the graph a second time"):
        place = raised(error) if error.freed_root or error.freed is None else error.freed
        made = error.freed or place
        yield state(
            RULE, case, error, place, "backward", made=made.code if made is not None else ""
        )


RULE = Rule("GV501", "error.double-backward", "error", look)
