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
