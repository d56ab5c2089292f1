"""Makes the English and the Chinese notebook of each example from its one source.

    python examples/build.py            write NAME.ipynb and NAME.zh.ipynb
    python examples/build.py --check    exit with 1 if a committed notebook differs from its source

A source is a py:percent file. Code cells go into both notebooks, a markdown cell into that of its
``lang``.
"""

import argparse
import re
import sys
from pathlib import Path

import jupytext
import nbformat

FOLDER = Path(__file__).parent
SUFFIXES = {"en": ".ipynb", "zh": ".zh.ipynb"}
HAN = "[\u3000-\u9fff\uff00-\uffef]"
WRAPPED_HAN = re.compile(f"(?<={HAN})\n(?={HAN})")


def sources():
    """The files the notebooks are made from, in order."""
    return sorted(FOLDER.glob("[0-9][0-9]_*.py"))


def notebook(source, lang):
    """The notebook of ``source`` in one language, without outputs, always the same bytes."""
    book = jupytext.read(source, fmt="py:percent")
    book.cells = [cell for cell in book.cells if cell.metadata.pop("lang", lang) == lang]
    for number, cell in enumerate(book.cells, start=1):
        cell.id = f"cell-{number:02d}"
        if cell.cell_type == "markdown":  # a line break between Chinese letters would show as a gap
            cell.source = WRAPPED_HAN.sub("", cell.source)
    book.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    book.nbformat, book.nbformat_minor = 4, 5
    return book


def built():
    """Each target file with the text it should hold."""
    for source in sources():
        for lang, suffix in SUFFIXES.items():
            text = nbformat.writes(notebook(source, lang))
            yield source.with_name(source.stem + suffix), text.rstrip("\n") + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    stale = [
        (file, text)
        for file, text in built()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]
    for file, text in stale:
        print(f"{'differs' if check else 'written'}: {file.name}")
        if not check:
            file.write_text(text, encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
