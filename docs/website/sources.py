"""What each page of the site is made from, in either language. A fact stands in one file; a page is
that file, or a part of it.
"""

import json
import re
from pathlib import Path

from pages import api, findings

from gradviz.doctor.examine import all_rules
from gradviz.texts import catalogue

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = (
    "try",
    "notebook",
    "ask",
    "commands",
    "tests",
    "differences",
    "speed",
    "limits",
    "licence",
)
TWIN = re.compile(
    r"^(\*\*English\*\* · .*|\[English\].*)\n\n", re.M
)  # the line between the languages
WORDS = {
    "en": {
        "start": "Start in five minutes",
        "ask": "Asking, in Python and on the command line",
        "differences": "Differences from PyTorch, and limits",
        "rules": "Rules of the doctor",
        "rule": ("rule", "title", "kind", "severity"),
        "rules_about": "Each rule is told with the line that did it and what to write instead.",
        "nav": {
            "start": "Start",
            "lessons": "Lessons",
            "reference": "Reference",
            "rules": "Rules",
            "api": "API",
            "inside": "How it works",
            "teaching": "Teaching",
        },
    },
    "zh": {
        "start": "五分钟上手",
        "ask": "提问：在 Python 里与在命令行里",
        "differences": "与 PyTorch 的不同，以及已知的限制",
        "rules": "诊断规则",
        "rule": ("规则", "标题", "类别", "程度"),
        "rules_about": "每条规则都会指出是哪一行造成的，以及应当怎样写。",
        "nav": {
            "start": "开始",
            "lessons": "课程",
            "reference": "参考",
            "rules": "规则",
            "api": "API",
            "inside": "内部结构",
            "teaching": "教学",
        },
    },
}
# pages that are one file of docs as it is: page, file
WHOLE = (
    "howto", "widgets", "operations", "names", "absent", "performance",
    "architecture", "protocol", "trace", "workshop", "pytorch",
)  # fmt: skip


def suffixed(name, lang):
    """``widgets.md`` or ``widgets.zh.md``."""
    return f"{name}.md" if lang == "en" else f"{name}.{lang}.md"


def pages(lang):
    """``{page: [(repository path of a source, Markdown)]}`` of one language: a page is one or more
    parts.
    """
    words = WORDS[lang]
    head, parts = sections(lang)

    def of(title, *names):
        said = "\n\n".join(parts[name] for name in names)
        return [(suffixed("README", lang), f"# {title}\n\n{said}")]

    found = {
        "index.md": [(suffixed("README", lang), head)],
        "start.md": of(words["start"], "try", "notebook"),
        "asking.md": of(words["ask"], "ask", "commands"),
        "differences.md": of(words["differences"], "differences", "limits"),
        "lessons/index.md": [read(f"examples/{suffixed('README', lang)}")],
    }
    found |= {f"{name}.md": [read(f"docs/{suffixed(name, lang)}")] for name in WHOLE}
    found["performance.md"].append((suffixed("README", lang), parts["speed"]))
    found |= {page: [part] for page, part in (*lessons(lang), *rules(lang))}
    return found | {f"api/{name}.md": [("docs/api", text)] for name, text in api.pages(lang)}


def read(path):
    """A file and its text, without the line that leads to the other language."""
    return path, TWIN.sub("", (ROOT / path).read_text(encoding="utf-8"), count=1)


def sections(lang):
    """The README above its first heading, and ``{name: section}``."""
    _, text = read(suffixed("README", lang))
    head, *parts = re.split(r"^(?=## )", text, flags=re.M)
    return head, dict(zip(SECTIONS, parts, strict=True))


def lessons(lang):
    """Each lesson's notebook as a page."""
    ending = ".ipynb" if lang == "en" else f".{lang}.ipynb"
    for file in sorted((ROOT / "examples").glob("[0-9]*.ipynb")):
        name = file.name.removesuffix(ending)
        if "." not in name:
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            yield f"lessons/{name}.md", (f"examples/{file.name}", "\n\n".join(map(shown, cells)))


def shown(cell):
    """A cell of a notebook as Markdown."""
    text = "".join(cell["source"]).replace("<details>", '<details markdown="1">')
    return f"```python\n{text}\n```" if cell["cell_type"] == "code" else text


def rules(lang):
    """A page a rule, and the table of them."""
    words, texts = WORDS[lang], catalogue("findings", lang)
    rows, each = [], {}
    for rule in all_rules():
        title = findings.plain(texts[f"{rule.identifier}.title"])
        link = f"[{rule.identifier}]({rule.identifier}.md)"
        rows.append(f"| {link} | {title} | `{rule.kind}` | {findings.severity(rule, lang)} |")
        text = findings.entry(rule, texts, lang).replace("## ", "# ", 1)
        each[f"rules/{rule.identifier}.md"] = "docs/rules", text
    head = f"| {' | '.join(words['rule'])} |\n|---|---|---|---|"
    text = f"# {words['rules']}\n\n{words['rules_about']}\n\n{head}\n" + "\n".join(rows)
    yield "rules/index.md", ("docs/rules", text)
    yield from each.items()
