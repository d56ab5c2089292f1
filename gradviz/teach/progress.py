"""What a learner has done, in one JSON file beside the notebooks."""

from __future__ import annotations

import json
import os
from pathlib import Path

from gradviz.ask.answer import Answer
from gradviz.texts import text

NAME = "gradviz-progress.json"
VARIABLE = "GRADVIZ_PROGRESS"


def place() -> Path:
    """The file: what ``GRADVIZ_PROGRESS`` names, else one in the working folder."""
    return Path(os.environ.get(VARIABLE) or NAME).expanduser().resolve()


def read() -> dict:
    """``{lesson: {"exercises": {number: {…}}, "predictions": {what: {…}}, "of": count}}``;
    empty when there is no such file or it is not ours.
    """
    try:
        found = json.loads(place().read_text(encoding="utf-8"))
        lessons = found["lessons"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return lessons if isinstance(lessons, dict) else {}


def write(lessons: dict) -> bool:
    """Replace the file as a whole; False when the folder cannot be written."""
    file = place()
    draft = file.with_name(file.name + ".new")
    content = json.dumps({"version": 1, "lessons": lessons}, indent=1, ensure_ascii=False)
    try:
        draft.write_text(content + "\n", encoding="utf-8")
        draft.replace(file)
    except OSError:
        return False
    return True


def progress() -> Answer:
    """Every lesson that was begun: exercises done, predictions right."""
    rows = [
        {
            "lesson": name,
            "exercises": f"{passed(one)} / {one.get('of', 0)}",
            "predictions": f"{right(one)} / {len(one.get('predictions', {}))}",
        }
        for name, one in sorted(read().items())
    ]
    head = text("teach.progress" if rows else "teach.no_progress", file=place())
    return Progress(head, rows)


class Progress(Answer):
    """The answer of :func:`progress`."""

    def __repr__(self):
        lines = (text("teach.line", **row) for row in self.rows)
        return "\n".join([self.text, *lines])


def passed(one: dict) -> int:
    """How many exercises of a lesson are done."""
    return sum(bool(e.get("passed")) for e in one.get("exercises", {}).values())


def right(one: dict) -> int:
    """How many predictions of a lesson were right."""
    return sum(bool(p.get("right")) for p in one.get("predictions", {}).values())
