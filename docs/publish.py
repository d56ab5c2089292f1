"""The documentation as a site: gathers README, docs, lessons, rules and docstrings, builds them
with MkDocs, once a language, and checks every link. Nothing is fetched, neither here nor by whoever
reads the site.

python docs/publish.py [FOLDER]    (default: build/site; needs the extra ``docs``)
"""

import argparse
import logging
import shutil
import sys
import tempfile
from pathlib import Path

from website import links
from website.settings import settings
from website.tree import Tree

from gradviz.texts import LANGUAGES

ROOT = Path(__file__).resolve().parents[1]
CHOOSER = Path(__file__).parent / "website" / "chooser.html"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    out = parser.parse_args(arguments).folder
    shutil.rmtree(out, ignore_errors=True)
    for lang in LANGUAGES:
        build(lang, out / lang)
    shutil.copyfile(CHOOSER, out / "index.html")
    wrong = links.check(out)
    print("\n".join(wrong) or f"{out}: {sum(1 for _ in out.rglob('*.html'))} pages")
    return int(bool(wrong))


def build(lang, out):
    """The site of one language."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    logging.basicConfig(format="%(message)s")
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        tree = Tree(lang, pages)
        tree.write()
        (Path(folder) / "mkdocs.yml").touch()
        build(load_config(str(Path(folder) / "mkdocs.yml"), docs_dir=str(pages), site_dir=str(out),
                          strict=True, **settings(lang, tree.pages)))  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
