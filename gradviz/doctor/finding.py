"""A rule, and how it states what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gradviz.texts import LANGUAGES, text
from gradviz.watch.case import Case, Held, Weight
from gradviz.watch.model import Finding, Place

HOLDERS = 12


@dataclass(frozen=True)
class Rule:
    """One rule: ``identifier`` (GV101), ``kind`` of the taxonomy, default ``severity`` and
    ``look(case)``.

    Its texts are ``findings.<identifier>.title``, ``when``, ``why``, ``message`` and ``fix``.
    """

    identifier: str
    kind: str
    severity: str
    look: Callable[[Case], Iterator[Finding]]

    def found(
        self,
        case: Case,
        holders: list[str],
        place: Place | None,
        weight: Weight | None = None,
        ids=(),
        severity: str | None = None,
        variant: str = "",
        **fields,
    ) -> Finding:
        """A finding of this rule; ``fields`` are the further fields of its message and fix, which
        are those of its ``variant`` where one is given.
        """
        nodes, size = (len(weight.nodes), weight.bytes) if weight is not None else (0, 0)
        line = place.line if place is not None else None
        cell = place.cell if place is not None else None
        values = {
            "holder": holders[0] if holders else "",
            "nodes": nodes,
            "size": amount(size),
        } | fields
        key = f"findings.{self.identifier}" + f".{variant}" * bool(variant)
        count = fields.get("count", 0)
        grows = count >= 2 and self.kind.startswith("leak.")
        return Finding(
            rule=self.identifier,
            kind=self.kind,
            severity=severity or self.severity,
            holders=list(dict.fromkeys(holders))[:HOLDERS],
            cell=cell,
            line=line,
            nodes=nodes,
            bytes=size,
            message=_message(f"{key}.message", values, nodes, size),
            fix={lang: text(f"{key}.fix", lang, **_in(lang, values)) for lang in LANGUAGES},
            code=place.code if place is not None else "",
            node_ids=list(ids)[:200],
            count=count,
            step_nodes=round(nodes / count, 1) if grows else 0.0,
            step_bytes=round(size / count, 1) if grows else 0.0,
            file=place.file if place is not None and place.cell is None else "",
        )


def _message(key, values, nodes, size):
    """The message in every language; ``kept`` says what stays alive."""
    kept = "findings.kept.all" if size else "findings.kept.operations"
    return {
        lang: text(
            key, lang, kept=text(kept, lang, nodes=nodes, size=amount(size)), **_in(lang, values)
        )
        for lang in LANGUAGES
    }


def _in(lang, values):
    """Fields that are texts themselves (a text a language) in ``lang``."""
    return {key: v[lang] if isinstance(v, dict) else v for key, v in values.items()}


def amount(size: int) -> str:
    """Bytes for a person: ``812 B``, ``3.4 kB``, ``16 MB``."""
    for unit, step in (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        if size < step * 1e3 or unit == "GB":
            number = size / step
            return (
                f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.3g} {unit}"
            )
    return str(size)


def paths(group: list[Held]) -> list[str]:
    """Holders of a group for a person: the first and the last item, the same by another way, then
    the rest, then the container.
    """
    every = list(dict.fromkeys(held.path for held in group))
    ends = [*every[:1], *every[-1:], *group[0].otherwise, *group[-1].otherwise]
    return [*ends, *every[1:-1][: HOLDERS - 6], *dict.fromkeys(held.holder for held in group)]


def ids(group: list[Held]) -> list[int]:
    """Serials of the tensors of a group, each once."""
    return list(dict.fromkeys(held.facts.id for held in group))
