"""``Lesson``: predictions and exercises of one notebook."""

from __future__ import annotations

import sys
import traceback
from html import escape

from gradviz.ask.answer import STYLE, Answer
from gradviz.texts import text
from gradviz.watch.places import Files

from . import progress
from .want import StillToDo, Want, _done, _written, plain, same, told

MARKS = {True: "✓", False: "✗", None: "·"}
COLOURS = {
    True: "var(--jp-success-color1,#15803d)",
    False: "var(--jp-error-color1,#dc2626)",
    None: "var(--jp-ui-font-color2,#6b7684)",
}
_files = Files()


class Verdict(Answer):
    """``held``: True, False, or None when there is nothing to judge yet; ``lines``: the same of
    each claim, with its words.
    """

    def __init__(self, held, said, lines=()):
        super().__init__(said)
        self.held, self.lines = held, list(lines)

    def __repr__(self):
        return "\n".join(f"{MARKS[held]} {said}" for held, said in self._all())

    def _repr_html_(self):
        rows = "".join(
            f'<div style="padding-left:{16 * (i > 0)}px;white-space:pre-wrap">'
            f'<b style="color:{COLOURS[held]}">{MARKS[held]}</b> {escape(said)}</div>'
            for i, (held, said) in enumerate(self._all())
        )
        return f'<div style="{STYLE}">{rows}</div>'

    def _all(self):
        return [(self.held, self.text), *self.lines]


class Lesson:
    """Lesson ``name`` with so many ``exercises``; progress is kept in a file."""

    def __init__(self, name: str, exercises: int = 0):
        self.name, self.exercises = name, exercises
        self.verdicts: dict[int | str, Verdict] = {}

    def __repr__(self):
        one = progress.read().get(self.name, {})
        counts = {"done": progress.passed(one), "of": self.exercises, "right": progress.right(one)}
        guessed = len(one.get("predictions", {}))
        return text(
            "teach.lesson", name=self.name, guessed=guessed, file=progress.place(), **counts
        )

    def compare(self, guess, measured):
        """Say whether the prediction ``guess`` is what was ``measured``; ``...`` is none."""
        what, measured = _written(1), plain(measured)
        try:
            guess = plain(_done(guess))
            held = same(guess, measured)
            key = "right" if held else "wrong"
        except StillToDo:
            held, key = None, "no_guess"
        said = text(f"teach.{key}", what=what, guess=told(guess), measured=told(measured))
        record = {"guess": told(guess), "right": held}
        self._tell(what, Verdict(held, said), "predictions", record if held is not None else None)

    def check(self, number: int):
        """A decorator: run the function that it decorates with a :class:`Want`, tell what held.

        An error of the person's code is told with its line; nothing is raised.
        """

        def run(function):
            verdict = _judged(number, function)
            done = {"passed": verdict.held, "claims": [said for _, said in verdict.lines]}
            self._tell(number, verdict, "exercises", done if verdict.held is not None else None)
            return verdict

        return run

    def _tell(self, key, verdict, kind, record):
        self.verdicts[key] = verdict
        if record is not None:
            lessons = progress.read()
            one = lessons.setdefault(self.name, {})
            one["of"] = self.exercises
            one.setdefault(kind, {})[str(key)] = record
            progress.write(lessons)
        _show(verdict)


def _judged(number, function):
    want = Want()
    title = text("teach.exercise", number=number)
    try:
        function(want)
    except StillToDo:
        return Verdict(None, text("teach.open", title=title))
    except Exception as error:
        if "ellipsis" in str(error):  # an operation on the ... that was not replaced
            return Verdict(None, text("teach.open", title=title))
        want.lines.append((False, _told_error(error)))
    held = bool(want.lines) and all(ok for ok, _ in want.lines)
    return Verdict(held, text(f"teach.{'passed' if held else 'failed'}", title=title), want.lines)


def _told_error(error):
    """The error, and the person's innermost line."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _files.is_mine(f.filename)]
    said = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    if frames:
        said.append(text("teach.line_at", line=frames[-1].lineno, code=frames[-1].line))
    return "\n".join(said)


def _show(verdict):
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(verdict)
    else:
        print(verdict)
