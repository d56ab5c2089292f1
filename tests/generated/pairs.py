"""One call on both engines."""

from gradviz.engine import errors

from .outcome import differences, outcome, words


def both(judge, engine, text, tracked):
    """Where gradviz differs from PyTorch in ``text``, and PyTorch's outcome."""
    return against(outcome(judge, text, tracked), engine, text, tracked)


def against(told, engine, text, tracked):
    """Where gradviz differs from the outcome ``told`` of PyTorch."""
    errors._warned.clear()
    found = outcome(engine, text, tracked)
    return differences(told, found, {words(text) for text in errors._warned}), told
