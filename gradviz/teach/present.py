"""``present``: a notebook for a projector."""

from __future__ import annotations

STYLE = """<style>
.jp-Notebook {{
  --jp-content-font-size1: {text}px; --jp-code-font-size: {code}px; --jp-ui-font-size1: {text}px;
}}
.jp-Notebook .jp-RenderedMarkdown details {{ display: {answers}; }}
</style>"""


class Presentation:
    """What ``present`` returns; it holds as long as it is displayed."""

    def __init__(self, size: float, answers: bool):
        shown = {"text": round(14 * size), "code": round(13 * size)}
        self._style = STYLE.format(answers="block" if answers else "none", **shown)

    def __repr__(self):
        return ""

    def _repr_html_(self) -> str:
        return self._style


def present(size: float = 1.5, answers: bool = False) -> Presentation:
    """Make the type of this notebook ``size`` times as large and hide its hints and solutions.

    As the last line of a cell; ``present(1, answers=True)`` undoes it, as does clearing the cell.
    ValueError for a size that is not between 0.5 and 4.
    """
    if not 0.5 <= size <= 4:
        raise ValueError(f"size must be between 0.5 and 4, got {size}")
    return Presentation(size, answers)
