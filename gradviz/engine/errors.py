"""Errors with PyTorch's type and words, and below them a note in ours: which tensor, why, what to
write instead.
"""

from __future__ import annotations


def advised(error, key, **fields):
    """``error`` with the advice ``key`` of the catalogue as a note below PyTorch's own words."""
    from ..texts import text

    for name, value in fields.items():
        if name == "shape":
            fields[name] = tuple(value)
    error.add_note(text(f"advice.{key}", **fields))
    return error
