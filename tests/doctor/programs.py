"""Reads sound.txt and faulty.txt."""

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass
class Program:
    """``cells`` to run; ``expect``: (kind, place or '') that must be found."""

    name: str
    cells: list[str]
    expect: list[tuple[str, str]]

    def __repr__(self):
        return self.name


def read(file: str) -> list[Program]:
    """All programs of a file."""
    return [_program(block) for block in re.split(r"(?m)^#### ", (HERE / file).read_text())[1:]]


def _program(block):
    head, _, body = block.partition("\n")
    name, _, expected = head.partition("=>")
    cells = [cell.strip("\n") for cell in re.split(r"(?m)^# %%.*\n", body) if cell.strip()]
    expect = [
        tuple(part.strip().partition("@")[::2]) for part in expected.split(",") if part.strip()
    ]
    return Program(name.strip(), ["import torch", *cells], expect)


# -- faulty programs whose marks say where ------------------------------------------
MARK = re.compile(r"\s*#([!?]) (.*)$")
PARTS = re.compile(r"(?m)^# %%(.*)\n")


@dataclass
class Marked:
    """``cells`` to run beside the modules ``files``; ``expect``: (kind, places, holder or '').

    A line that ends in ``#! kind ~ holder; kind`` has these faults; ``#? kind`` names a further
    line where one may be found. A place is (cell or the name of a module, line).
    """

    name: str
    cells: list[str]
    files: dict[str, str]
    expect: list[tuple[str, set, str]]

    def __repr__(self):
        return self.name


def marked(file: str) -> list[Marked]:
    """All programs of a file; ``# %% file NAME.py`` begins a module."""
    return [_marked(block) for block in re.split(r"(?m)^#### ", (HERE / file).read_text())[1:]]


def _marked(block):
    name, _, body = block.partition("\n")
    made, parts = Marked(name.strip(), ["import torch"], {}, []), PARTS.split(body)[1:]
    others = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        _, _, module = title.strip().partition("file ")
        lines = text.strip("\n").split("\n")
        for number, line in enumerate(lines, 1):
            found = MARK.search(line)
            if found is None:
                continue
            lines[number - 1] = line[: found.start()]
            place = module or len(made.cells) + 1, number
            for one in found[2].split(";"):
                kind, _, holder = (part.strip() for part in one.partition("~"))
                others.setdefault(kind, set()).add(place)
                if found[1] == "!":
                    made.expect.append((kind, others[kind], holder))
        if module:
            made.files[module] = "\n".join(lines)
        else:
            made.cells.append("\n".join(lines))
    return made
