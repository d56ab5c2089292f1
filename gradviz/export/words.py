"""A finding, a place and a size in words, in one language."""

from __future__ import annotations

import math
import os
import re
import unicodedata

from gradviz.texts import DEFAULT, language, text

UNREACHABLE = re.compile(r"\(unreachable( from the notebook)?\)")  # as rules write it
HOLDERS = 2
UNITS = ("B", "kB", "MB", "GB", "TB")
EXPONENT = re.compile(r"e(?:\+|(-))?0*(?=\d)")


def size(count: float) -> str:
    """``820 kB``: bytes in decimal units, three digits at most."""
    for unit in UNITS:
        if count < 999.5 or unit == UNITS[-1]:
            digits = 0 if unit == "B" or count >= 99.95 else 1
            return f"{count:.{digits}f}".removesuffix(".0") + f" {unit}"
        count /= 1000
    raise AssertionError("the last unit takes everything")


def width(said: str) -> int:
    """Columns of a terminal; a Chinese character takes two."""
    return len(said) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in said)


def padded(said: str, columns: int) -> str:
    """``said`` with blanks up to ``columns``."""
    return said + " " * (columns - width(said))


def figure(value: float) -> str:
    """``0.412``, ``1.23e-5``, ``NaN``, ``∞``: a number as the live view writes it, three digits."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "\N{MINUS SIGN}∞"
    amount = abs(value)
    if value == int(value) and amount < 1e5:
        said = f"{int(value)}"
    elif amount >= 1e5 or amount < 1e-3:
        said = EXPONENT.sub(lambda found: "e" + (found[1] or ""), f"{value:.2e}")
    else:
        rounded = float(f"{value:.{5 if amount >= 100 else 3}g}")
        said = f"{rounded:.10g}"
    return said if amount == 0 or value > 0 else "\N{MINUS SIGN}" + said.removeprefix("-")


def place(cell: int | None, line: int | None, file: str = "", lang: str | None = None) -> str:
    """``In [3], line 8``, or ``train.py:8`` when there is a file and no cell."""
    if line is None:
        return text("notebook.place.none", lang)
    if cell is None:
        return text("notebook.place.file", lang, file=near(file) or "?", line=line)
    return text("notebook.place.cell", lang, cell=cell, line=line)


def near(file: str) -> str:
    """A file's name from the working folder, when it is inside."""
    inside = os.path.relpath(file) if file and not file.startswith("<") else file
    return file if inside.startswith(os.pardir) else inside


def message(finding, lang: str | None = None) -> str:
    """The sentence of a finding."""
    return _said(finding.message, lang)


def fix(finding, lang: str | None = None) -> str:
    """What to write instead."""
    return _said(finding.fix, lang)


def holds(finding, lang: str | None = None) -> str:
    """``41 nodes, 820 kB; each step adds 4 nodes, 82 kB``; '' when a finding holds nothing."""
    said = _amount(finding.nodes, finding.bytes, lang)
    more = _amount(finding.step_nodes, finding.step_bytes, lang)
    return text("notebook.grows", lang, said=said, more=more) if said and more else said


def _amount(nodes, count, lang):
    """Operations and bytes, without what is zero."""
    if not nodes:
        return size(count) if count else ""
    key = "notebook.holds" if count else "notebook.holds_nodes"
    shown = f"{nodes:,.1f}".removesuffix(".0")
    return text(key, lang, nodes=shown, **({"bytes": size(count)} if count else {}))


def serious(findings) -> list:
    """Those above ``info``."""
    return [finding for finding in findings if finding.severity != "info"]


def held_by(finding, lang: str | None = None) -> str:
    """``history[0], history[219] and 218 more``: the first two, not also what they are in."""
    inner = [h for h in finding.holders if not any(_is_in(o, h) for o in finding.holders)]
    named = inner[:HOLDERS]
    total = max(len(inner), finding.count if _is_series(named) else 0)
    said = UNREACHABLE.sub(lambda _: text("notebook.unreachable", lang), ", ".join(named))
    others = total - len(named)
    return text("notebook.and_more", lang, said=said, count=others) if others > 0 else said


def _is_in(inner, outer):
    return inner != outer and inner.startswith((f"{outer}[", f"{outer}."))


def _is_series(named):
    """Items of one container."""
    return len(named) > 1 and len({one.rpartition("[")[0] for one in named}) == 1


def finding_key(finding) -> tuple:
    """What makes two findings the same one at two moments."""
    return finding.rule, finding.kind, finding.cell, finding.file, finding.line, finding.code


def _said(texts, lang):
    return texts.get(lang or language()) or texts.get(DEFAULT, "")


def paragraph(finding, where: str | None = None, lang: str | None = None) -> str:
    """A finding for a terminal: the sentence and its place, then holder, size and what to write."""
    where = where or place(finding.cell, finding.line, finding.file, lang)
    rows = [f"  {finding.rule}  {message(finding, lang)}  [{where}]"]
    facts = {
        "notebook.holder": held_by(finding, lang),
        "notebook.size": holds(finding, lang),
        "notebook.fix": fix(finding, lang),
    }
    rows += [f"      {text(key, lang, said=said)}" for key, said in facts.items() if said]
    return "\n".join(rows)
