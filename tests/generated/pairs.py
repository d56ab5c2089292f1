"""One call on both engines."""

from gradviz.engine import errors

from .outcome import outcome


def both(judge, engine, text, tracked):
    """The outcomes of ``text`` on PyTorch and on gradviz."""
    errors._warned.clear()
    return outcome(judge, text, tracked), outcome(engine, text, tracked)
