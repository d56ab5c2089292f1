"""Local derivatives as a person reads them: what the engine writes has words of English in it."""

from __future__ import annotations

from functools import cache, lru_cache

from . import LANGUAGES, catalogue

REMEMBERED = 2_000


@lru_cache(REMEMBERED)
def told(formula: str) -> dict[str, str]:
    """``formula`` in every language; nothing for an empty one."""
    return {lang: _in(lang, formula) for lang in LANGUAGES} if formula else {}


def _in(lang, formula):
    for written, said in _words(lang):
        formula = formula.replace(written, said)
    return formula


@cache
def _words(lang):
    """(as the engine writes it, as it is told), the longest first."""
    written, said = (catalogue("formulas", one)["words"].split("\n") for one in ("en", lang))
    return sorted(zip(written, said, strict=True), key=lambda pair: -len(pair[0]))
