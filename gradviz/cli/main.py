"""The command ``gradviz``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

import gradviz
from gradviz.texts import LANGUAGES, set_language, text

from .arguments import Parser, help_of

COMMANDS = ("check", "migrate", "demo", "lab", "launch", "workshop")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    _choose_language(arguments)
    options = _parser(arguments).parse_args(arguments)
    try:
        status: int = options.command(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read what is printed has had enough: gradviz check … | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _choose_language(arguments):
    """Before the parser is made, so that its help is in that language too."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--lang")
    lang = early.parse_known_args(arguments)[0].lang
    if lang in LANGUAGES:
        set_language(lang)


def _parser(arguments):
    parser = Parser(prog="gradviz", description=text("cli.about"))
    parser.add_argument(
        "--version",
        action="version",
        version=f"gradviz {gradviz.__version__}",
        help=help_of("cli.version"),
    )
    spoken = {"choices": LANGUAGES, "help": help_of("cli.language"), "default": argparse.SUPPRESS}
    parser.add_argument("--lang", **spoken)
    subparsers = parser.add_subparsers(required=True, metavar="{" + ",".join(COMMANDS) + "}")
    for name in COMMANDS:
        about = text(f"cli.{name}.about")
        subparser = subparsers.add_parser(
            name, help=help_of(f"cli.{name}.about"), description=about
        )
        module = importlib.import_module(f"gradviz.cli.{name}")
        module.add_arguments(subparser)
        subparser.add_argument("--lang", **spoken)
        subparser.set_defaults(command=module.command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
