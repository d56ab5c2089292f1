"""Where the example notebooks are: in the package, or beside it in a clone."""

from __future__ import annotations

from pathlib import Path

import gradviz
from gradviz.texts import language

SUFFIX = {"en": ".ipynb", "zh": ".zh.ipynb"}


def folder_of_examples() -> Path | None:
    """The folder with the examples, None when they were not installed."""
    package = Path(gradviz.__file__).parent
    for folder in (package / "examples", package.parent / "examples"):
        if any(folder.glob("*.ipynb")):
            return folder
    return None


def example(name: str) -> Path | None:
    """The notebook ``name`` in the language in use, else in English, else None."""
    folder = folder_of_examples()
    if folder is None:
        return None
    for lang in (language(), "en"):
        file = folder / f"{name}{SUFFIX[lang]}"
        if file.is_file():
            return file
    return None
