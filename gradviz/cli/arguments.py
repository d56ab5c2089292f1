"""Texts of the catalogue as the help of arguments."""

from __future__ import annotations

from gradviz.texts import text


def help_of(key: str) -> str:
    """The text of ``key`` for argparse, which takes a percent sign for the start of a field."""
    return text(key).replace("%", "%%")
