"""Puts the pages of one language into a folder as MkDocs wants them: links between sources become
links between pages, pictures come along, and what is no page becomes a link into the repository.
"""

import json
import os
import posixpath
import re
import shutil

from gradviz.texts import LANGUAGES

from .sources import ROOT, WHOLE, pages, suffixed

REPOSITORY = "https://github.com/gradviz/gradviz/blob/main/"
LINK = re.compile(r"(\]\()([^)#\s]+)?(#[^)\s]*)?(\))")
ATTRIBUTE = re.compile(r'(src|srcset|href)="([^"#]+)"')
BADGE = re.compile(r"!\[([^]]*)\]\(https?://[^)]*\)")  # a picture from elsewhere is not fetched
PICTURES = (".png", ".svg", ".gif")
NAMES = {"en": "English", "zh": "中文"}


class Tree:
    """The pages of one language in ``folder``."""

    def __init__(self, lang, folder):
        self.lang, self.folder = lang, folder
        self.pages = pages(lang)
        self.homes = homes(lang)
        self.anchors = {
            f"#{slug(heading)}": page
            for page, parts in self.pages.items()
            for source, text in parts
            if source == suffixed("README", lang)
            for heading in re.findall(r"^## (.+)$", text, re.M)
        }

    def write(self):
        """Write every page and the pictures that they show."""
        for page, parts in self.pages.items():
            text = "\n\n".join(self.linked(page, *part) for part in parts)
            file = self.folder / page
            file.parent.mkdir(parents=True, exist_ok=True)
            title = re.search(r"^# (.+)$", text, re.M)[1].replace("`", "")
            head = f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\n---\n\n"
            file.write_text(f"{head}{self.twins(page)}\n\n{text}\n", encoding="utf-8")

    def twins(self, page):
        """The line that leads to the same page in the other languages."""
        up = "../" * (page.count("/") + 1)
        html = page.removesuffix(".md") + ".html"
        said = [
            f"<b>{NAMES[lang]}</b>"
            if lang == self.lang
            else f'<a href="{up}{lang}/{html}" hreflang="{lang}" lang="{lang}">{NAMES[lang]}</a>'
            for lang in LANGUAGES
        ]
        return f'<p class="twins">{" · ".join(said)}</p>'

    def linked(self, page, source, text):
        """``text`` of a source with its links as they must be on ``page``."""
        fences = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
        return "".join(
            part if index % 2 else self._relinked(page, source, part)
            for index, part in enumerate(fences)
        )

    def _relinked(self, page, source, text):
        def in_markdown(found):
            before, target, anchor, after = found.groups("")
            to = self.target(page, source, target, anchor) if target else anchor
            return before + to + after

        def in_html(found):
            return f'{found[1]}="{self.target(page, source, found[2])}"'

        text = BADGE.sub(r"\1", text.replace("\\<", "&lt;"))
        return ATTRIBUTE.sub(in_html, LINK.sub(in_markdown, text))

    def target(self, page, source, target, anchor=""):
        """Where a link of a source leads from a page."""
        if ":" in target or source in ("docs/rules", "docs/api"):
            return target + anchor
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        here = posixpath.dirname(page)
        if path.endswith(PICTURES):
            self._bring(path)
            return posixpath.relpath(f"pictures/{posixpath.basename(path)}", here or ".")
        home = self.anchors.get(anchor) if path == suffixed("README", self.lang) else None
        home = home or self.homes.get(path)
        if home is None:
            return REPOSITORY + path + anchor
        return posixpath.relpath(home, here or ".") + anchor

    def _bring(self, path):
        to = self.folder / "pictures" / posixpath.basename(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists():
            shutil.copyfile(ROOT / path, to)


def slug(heading):
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def homes(lang):
    """``{path in the repository: page}`` of what has a page of its own."""
    found = {
        suffixed("README", lang): "index.md",
        f"docs/{suffixed('findings', lang)}": "rules/index.md",
    }
    found |= {f"docs/{suffixed(name, lang)}": f"{name}.md" for name in WHOLE}
    found[f"examples/{suffixed('README', lang)}"] = "lessons/index.md"
    ending = ".ipynb" if lang == "en" else f".{lang}.ipynb"
    for file in os.listdir(ROOT / "examples"):
        name = file.removesuffix(ending)
        if file.endswith(ending) and "." not in name:
            found[f"examples/{file}"] = f"lessons/{name}.md"
    return found
