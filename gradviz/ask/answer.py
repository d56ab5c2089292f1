"""An answer: words, and the same as rows, as HTML and as a DataFrame. Keeps nothing of the
person's alive.
"""

from __future__ import annotations

from html import escape

from gradviz.texts import text
from gradviz.watch.plain import clean

STYLE = "font-size:13px;font-family:var(--jp-ui-font-family,system-ui,sans-serif)"
CELL = "text-align:left;padding:2px 10px 2px 0;vertical-align:top"


class Answer:
    """``text`` says it in the language that was in use; ``rows`` are dicts with the same keys."""

    def __init__(self, said: str, rows: list[dict] | None = None):
        self.text = said
        self.rows = rows or []

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
        return f'<div style="{STYLE}">{self._head()}{self._table()}</div>'

    def _head(self):
        return "".join(f"<div>{inert(line)}</div>" for line in self.text.splitlines()[:1])

    def _table(self):
        if not self.rows:
            return ""
        head = "".join(
            f'<th style="{CELL}">{inert(text(f"ask.column.{name}"))}</th>' for name in self.rows[0]
        )
        body = "".join(
            "<tr>" + "".join(f'<td style="{CELL}">{inert(shown(v))}</td>' for v in row.values())
            for row in self.rows
        )
        return f"<table><tr>{head}</tr>{body}</table>"


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
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    joined = ("  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(indent + line.rstrip() for line in joined)
