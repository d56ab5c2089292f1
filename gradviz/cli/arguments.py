"""Texts of the catalogue as the help of arguments; the language that ``--lang`` chose."""

from __future__ import annotations

import argparse

from gradviz.texts import chosen, text


class Parser(argparse.ArgumentParser):
    """A parser whose headings and ``--help`` are in the language in use too."""

    def __init__(self, **settings):
        super().__init__(add_help=False, **settings)
        self._positionals.title = text("cli.positionals")
        self._optionals.title = text("cli.options")
        self.add_argument("-h", "--help", action="help", help=help_of("cli.help"))

    def format_usage(self):
        """``usage: …``"""
        return super().format_usage().replace("usage: ", text("cli.usage"), 1)

    def format_help(self):
        """The whole help."""
        return super().format_help().replace("usage: ", text("cli.usage"), 1)


def help_of(key: str) -> str:
    """The text of ``key`` for argparse, which takes a percent sign for the start of a field."""
    return text(key).replace("%", "%%")


def chosen_language() -> dict[str, str]:
    """What a program that we start is to find in its environment: the language of ``--lang``."""
    return {"GRADVIZ_LANG": lang} if (lang := chosen()) else {}
