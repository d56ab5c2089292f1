"""Which findings are wanted: by identifier or kind, and by comments in the person's own code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gradviz.watch.cells import Cells
from gradviz.watch.model import Finding

COMMENT = re.compile(r"#\s*gradviz:\s*ignore(?:\[(?P<names>[^\]]*)\])?", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """``select`` and ``ignore``: identifiers (``GV203``), their beginnings (``GV2``), kinds
    (``alias.state-dict``) or families (``alias``). Empty ``select`` means all.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def wants(self, finding: Finding) -> bool:
        """Whether the finding is to be told."""
        chosen = not self.select or names(finding, self.select)
        return chosen and not names(finding, self.ignore)


def names(finding: Finding, wanted: Iterable[str]) -> bool:
    """Whether one of ``wanted`` names the finding's rule or kind."""
    return any(_names(word.strip(), finding.rule, finding.kind) for word in wanted)


def is_known(word: str) -> bool:
    """Whether ``word`` names a rule or kind that there is."""
    from .examine import all_rules

    return any(_names(word, rule.identifier, rule.kind) for rule in all_rules())


def _names(word, identifier, kind):
    same = kind == word or kind.startswith(f"{word}.")
    return bool(word) and (same or identifier.startswith(word.upper()))


def silenced(finding: Finding, cells: Cells) -> bool:
    """Whether a line of the finding's statement says ``# gradviz: ignore`` or
    ``# gradviz: ignore[GV203, leak]``.
    """
    statement = cells.at(finding.cell, finding.line)
    first = finding.line or 0
    last = first if statement is None else max(first, _last(statement.node))
    for line in range(first, last + 1):
        found = COMMENT.search(cells.code(finding.cell, line))
        if found is not None and (
            found["names"] is None or names(finding, found["names"].split(","))
        ):
            return True
    return False


def _last(node):
    """The last line of a statement itself, without the blocks inside it."""
    body = getattr(node, "body", None)
    end: int = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
    return end
