"""The catalogue of every sentence a person sees, in English and Chinese.

``texts/en/SECTION.toml`` and ``texts/zh/SECTION.toml`` hold the same keys with the same
placeholders. A key is ``section.name``; a table inside a file adds a part: ``findings.GV101.fix``.

A template names its fields plainly, ``{count}`` or ``{bytes:,}``; ``{count:node|nodes}`` is the
first word when the count is one, else the second. What is put in is data: it is
never read as a template itself, and a template cannot reach into it (no ``{a.b}``, no ``{a[0]}``).
"""

from __future__ import annotations

import os
import string
import tomllib
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "zh")
DEFAULT = "en"

_chosen: str | None = None
_of_page: str | None = None


def text(key: str, lang: str | None = None, **fields: object) -> str:
    """The text of ``key`` in ``lang`` (default: :func:`language`) with its ``fields`` filled in.

    Raises KeyError for an unknown key or a missing field.
    """
    section, _, name = key.partition(".")
    template = catalogue(section, lang).get(name)
    if template is None:
        raise KeyError(f"no text {key!r} in {lang or language()!r}")
    return _FORMATTER.vformat(template, (), fields)


def both(key: str, **fields: object) -> dict[str, str]:
    """The text of ``key`` in every language: ``{"en": ..., "zh": ...}``."""
    return {lang: text(key, lang, **fields) for lang in LANGUAGES}


def catalogue(section: str, lang: str | None = None) -> dict[str, str]:
    """All templates of one section by name. Raises KeyError when there is no such section."""
    return _read(section, match(lang) if lang else language())


def sections() -> tuple[str, ...]:
    """The names of all sections, sorted."""
    folder = files(__name__).joinpath(DEFAULT)
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def language() -> str:
    """The language in use: what was set, else ``GRADVIZ_LANG``, else that of the page that shows a
    view, else the locale's, else English.
    """
    if _chosen:
        return _chosen
    asked, *locale = map(os.environ.get, ("GRADVIZ_LANG", "LC_ALL", "LC_MESSAGES", "LANG"))
    return match(next(filter(None, (asked, _of_page, *locale)), DEFAULT))


def chosen() -> str | None:
    """What :func:`set_language` chose."""
    return _chosen


def set_language(lang: str | None) -> None:
    """Choose ``"en"`` or ``"zh"`` for this process; None goes back to the environment's choice."""
    global _chosen, _of_page
    if lang is not None and lang not in LANGUAGES:
        raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, got {lang!r}")
    _chosen, _of_page = lang, _of_page if lang else None


def follow_page(lang: object) -> None:
    """A page shows ``lang``: say the same language, unless another one was chosen."""
    global _of_page
    if lang in LANGUAGES:
        _of_page = lang


def match(tag: str) -> str:
    """The catalogue language for a tag such as ``zh_CN.UTF-8`` or ``en-GB``; English for others."""
    lead = tag.replace("-", "_").split("_")[0].split(".")[0].lower()
    return lead if lead in LANGUAGES else DEFAULT


class _PlainFormatter(string.Formatter):
    """``str.format`` whose fields are plain names."""

    def get_field(self, field_name, args, kwargs):
        if field_name not in kwargs:
            raise KeyError(f"the text needs a field {field_name!r}")
        return kwargs[field_name], field_name

    def format_field(self, value, format_spec):
        one, several, many = format_spec.partition("|")
        if several:
            return one if str(value) == "1" else many
        return super().format_field(value, format_spec)


_FORMATTER = _PlainFormatter()


@cache
def _read(section: str, lang: str) -> dict[str, str]:
    file = files(__name__).joinpath(lang, f"{section}.toml")
    if not section.isidentifier() or not file.is_file():
        raise KeyError(f"no texts {section!r} in {lang!r}")
    return dict(_flatten(tomllib.loads(file.read_text(encoding="utf-8")), ""))


def _flatten(table, prefix):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value
