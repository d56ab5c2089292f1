"""An answer: words, and the same as rows, as HTML and as a DataFrame. Keeps nothing of the
person's alive.
"""

from __future__ import annotations

from html import escape

from gradviz.export.words import padded, width
from gradviz.texts import text
from gradviz.watch.plain import clean

STYLE = "font-size:13px;font-family:var(--jp-ui-font-family,system-ui,sans-serif)"
CELL = "padding:2px 10px 2px 0;vertical-align:top;text-align:"
SIDES = {True: "right", False: "left"}


class Answer:
    """``text`` says it in the language that was in use; ``rows`` are dicts with the same keys.

    ``drawn``: the rows as a page shows them, ``after``: lines of the text that follow them there.
    """

    def __init__(self, said: str, rows: list[dict] | None = None, drawn=None, after=()):
        self.text = "\n".join([said, *after])
        self.rows = rows or []
        self._drawn, self._after = self.rows if drawn is None else drawn, after

    def __repr__(self):
        return self.text

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __bool__(self):
        return True

    def to_frame(self):
        """The rows as a pandas DataFrame. ImportError where pandas is not installed."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError(text("ask.needs_pandas"), name="pandas") from error
        return pandas.DataFrame(self.rows)

    def _repr_html_(self) -> str:
        after = "".join(f"<div>{inert(line)}</div>" for line in self._after)
        return f'<div style="{STYLE}">{self._head()}{self._table()}{after}</div>'

    def _head(self):
        return "".join(f"<div>{inert(line)}</div>" for line in self.text.splitlines()[:1])

    def _table(self):
        if not self._drawn:
            return ""
        head = {name: text(f"ask.column.{name}") for name in self._drawn[0]}
        numbers = [isinstance(value, int | float) for value in self._drawn[0].values()]
        lines = [_line("th", head, numbers), *(_line("td", r, numbers) for r in self._drawn)]
        return f"<table>{''.join(lines)}</table>"


def _line(tag, row, numbers):
    """A line of a table; numbers stand below each other."""
    cells = zip(row.values(), numbers, strict=True)
    drawn = (f'<{tag} style="{CELL}{SIDES[n]}">{inert(shown(v))}</{tag}>' for v, n in cells)
    return f"<tr>{''.join(drawn)}</tr>"


def shown(value) -> str:
    """A value of a row for a person."""
    if value is None:
        return "None"
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def inert(said: object) -> str:
    """Text as data: no markup of the person's gets through."""
    return escape(clean(str(said)), quote=True)


def table(rows: list[dict], indent: str = "  ") -> str:
    """The rows in columns, for a terminal."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [[text(f"ask.column.{name}") for name in names]]
    lines += [[shown(row[name]) for name in names] for row in rows]
    widths = [max(width(line[i]) for line in lines) for i in range(len(names))]
    joined = ("  ".join(map(padded, line, widths)) for line in lines)
    return "\n".join(indent + line.rstrip() for line in joined)
