"""Whether every link of a built site leads somewhere inside it, and whether a page would fetch
anything from outside.
"""

from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag

FETCHED = {"script": "src", "img": "src", "source": "srcset", "link": "href", "iframe": "src"}


class Page(HTMLParser):
    """``anchors``, ``links`` and what is ``fetched`` of one page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.fetched = {""}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get(FETCHED.get(tag)) and found.get("rel") not in ("prev", "next", "canonical"):
            self.fetched.append(found[FETCHED[tag]])


def check(folder) -> list[str]:
    """What is wrong, a line each."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in folder.rglob("*.html")}
    wrong = []
    for file, page in pages.items():
        if file.name == "404.html":  # its links are those of the server's root
            continue
        here = file.relative_to(folder)
        outside = [one for one in page.fetched if "://" in one or one.startswith("//")]
        wrong += [f"{here} fetches {one}" for one in outside]
        for link in {*page.links, *page.fetched}:
            if not link.startswith(("http:", "https:", "mailto:", "data:", "javascript:")):
                wrong += [f"{here} -> {link}" for _ in [0] if not leads(file, link, pages)]
    return sorted(wrong)


def leads(file, link, pages) -> bool:
    """Whether a relative link of a file leads to a file, and to an anchor that is there."""
    path, anchor = urldefrag(unquote(link))
    target = (file.parent / path).resolve() if path else file
    if target.is_dir():
        target /= "index.html"
    return target.is_file() and (target not in pages or anchor in pages[target].anchors)
