"""GV514: scaler.update() is missing after scaler.step()."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple


def look(case):
    """A cell ended because the scaler stepped twice without an update."""
    yield from simple(RULE, case, "has already been called since the last update()", method="step")
    yield from simple(RULE, case, "unscale_() is being called after step()", method="unscale_")


RULE = Rule("GV514", "amp.missing-update", "error", look)
