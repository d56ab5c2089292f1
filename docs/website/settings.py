"""MkDocs' settings: what would stand in a mkdocs.yml, for either language."""

import copy

from pymdownx.slugs import slugify

from .sources import WORDS

THEME = {
    "name": "material",
    "font": False,  # the reader's own fonts: nothing is fetched
    "features": ["navigation.tabs", "navigation.indexes", "navigation.top", "content.code.copy"],
    "palette": [
        {
            "media": f"(prefers-color-scheme: {scheme})",
            "scheme": colours,
            "primary": "indigo",
            "accent": "pink",
            "toggle": {"icon": f"material/weather-{icon}", "name": scheme},
        }
        for scheme, colours, icon in (("light", "default", "sunny"), ("dark", "slate", "night"))
    ],
}
REFERENCE = ("asking", "widgets", "operations", "names", "absent", "differences", "performance")
TOGGLES = {"en": ("to dark", "to light"), "zh": ("换成深色", "换成浅色")}
MARKDOWN = [
    "attr_list", "md_in_html", "tables", "pymdownx.superfences",
    {"pymdownx.highlight": {"guess_lang": False}},
    {"toc": {"permalink": False, "slugify": slugify(case="lower"), "toc_depth": 2}},
]  # fmt: skip
VALIDATION = {"anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}


def settings(lang, pages):
    """Arguments of MkDocs' ``load_config``."""
    theme = THEME | {"language": lang}
    theme["palette"] = [
        one | {"toggle": one["toggle"] | {"name": name}}
        for one, name in zip(THEME["palette"], TOGGLES[lang], strict=True)
    ]
    return {
        "site_name": "gradviz",
        "theme": theme,
        "nav": nav(lang, pages),
        "use_directory_urls": False,  # pages are read from a folder as well as from a server
        "markdown_extensions": copy.deepcopy(MARKDOWN),  # MkDocs empties what it is given
        "plugins": [{"search": {"lang": "en"}}],
        "extra": {"generator": False},
        "validation": VALIDATION,
    }


def nav(lang, pages):
    """The menu."""
    said = WORDS[lang]["nav"]

    def below(folder):
        return [page for page in pages if page.startswith(f"{folder}/")]

    return [
        {said["start"]: ["index.md", "start.md", "howto.md", "pytorch.md"]},
        {said["lessons"]: below("lessons")},
        {said["reference"]: [f"{name}.md" for name in REFERENCE]},
        {said["rules"]: below("rules")},
        {said["api"]: below("api")},
        {said["teaching"]: ["workshop.md"]},
        {said["inside"]: ["architecture.md", "protocol.md", "trace.md"]},
    ]  # fmt: skip
