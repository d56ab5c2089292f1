"""Writes the pages of docs that are made from the code: findings, operations, names, what is
absent and the schema of traces.

python docs/build.py            write them all, in every language
python docs/build.py --check    exit with 1 if one of them is out of date
"""

import argparse
import json
import sys
from pathlib import Path

from pages import absent, findings, names, operations

from gradviz.texts import LANGUAGES
from gradviz.watch.schema import schema

FOLDER = Path(__file__).parent
PAGES = (findings, operations, names, absent)


def made():
    """(file, text) of every page in every language, and of the schema."""
    for page in PAGES:
        for lang in LANGUAGES:
            suffix = "" if lang == "en" else f".{lang}"
            yield FOLDER / f"{page.NAME}{suffix}.md", page.page(lang)
    yield FOLDER / "trace.schema.json", json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args(arguments).check
    stale = 0
    for file, text in made():
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{'differs' if check else 'written'}: {file.name}")
        if not check:
            file.write_text(text, encoding="utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
