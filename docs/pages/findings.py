"""What the doctor can find: from its rules and their texts."""

import re

from gradviz.doctor.examine import all_rules
from gradviz.texts import catalogue, text

NAME = "findings"
FIELD = re.compile(r"\{(\w+)[^}]*\}")
WORDS = {
    "en": {
        "title": "What the doctor can find",
        "other": "**English** · [中文](findings.zh.md)",
        "about": "Made from the rules by `python docs/build.py`."
        " A word in ‹brackets› stands for what was found.",
        "when": "When",
        "why": "Why it matters",
        "fix": "Instead",
    },
    "zh": {
        "title": "能发现的问题",
        "other": "[English](findings.md) · **中文**",
        "about": "由 `python docs/build.py` 根据规则生成。‹尖括号›里的词代表实际发现的内容。",
        "when": "何时提示",
        "why": "为何重要",
        "fix": "应当怎样写",
    },
}


def page(lang):
    """The whole page in one language."""
    words = WORDS[lang]
    texts = catalogue("findings", lang)
    parts = [f"# {words['title']}", words["other"], words["about"]]
    parts += [entry(rule, texts, lang) for rule in all_rules()]
    return "\n\n".join(parts) + "\n"


def entry(rule, texts, lang):
    """One rule: its title, identifier and kind, then when, why and what to write instead."""
    words = WORDS[lang]
    said = {part: texts[f"{rule.identifier}.{part}"] for part in ("title", "when", "why", "fix")}
    said = {part: one.replace("{store}", texts["store.number"]) for part, one in said.items()}
    lines = [f"## {rule.identifier}: {said['title']}", f"`{rule.kind}` · {severity(rule, lang)}"]
    lines += [f"**{words[part]}** {plain(said[part])}" for part in ("when", "why", "fix")]
    return "\n\n".join(lines)


def severity(rule, lang):
    """How grave a rule is, in a word."""
    return text(f"ask.severity.{rule.severity}", lang)


def plain(template):
    """A template as prose: fields named in brackets, nothing read as Markdown or HTML."""
    return re.sub(r"([\\*_<>`|])", r"\\\1", FIELD.sub(r"‹\1›", template))
