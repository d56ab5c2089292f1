"""Plays a lesson in a shell of its own, with chosen answers to its exercises."""

import jupytext


def answers(cells):
    """``{number: {"exercise" | "solution" | "wrong": [texts]}}`` of a lesson."""
    found = {}
    for cell in cells:
        for kind in ("exercise", "solution", "wrong"):
            if kind in cell.metadata:
                one = found.setdefault(cell.metadata[kind], {"solution": [], "wrong": []})
                one.setdefault(kind, []).append(cell.source)
    return found


def cells_of(source):
    """The cells of a source."""
    return jupytext.read(source, fmt="py:percent").cells


def play(shell, cells, chosen):
    """Run the code with ``chosen`` answers by number (default: what the learner is given); the
    lesson.
    """
    list(tried(shell, cells, chosen, lambda number: ()))
    return shell.user_ns["lesson"]


def tried(shell, cells, chosen, first):
    """The same, trying the answers that ``first(number)`` gives before the chosen one: (number,
    answer, verdict) of each.

    AssertionError when a cell fails unannounced.
    """
    given = [
        c for c in cells if c.cell_type == "code" and not {"solution", "wrong"} & set(c.metadata)
    ]
    for index, cell in enumerate(given):
        number = cell.metadata.get("exercise")
        for answer in first(number) if number else ():
            _run(shell, cell, answer)
            lesson = shell.user_ns["lesson"]
            lesson.verdicts.pop(number, None)
            for later in given[index + 1 :]:
                _run(shell, later)
                if number in lesson.verdicts:
                    break
            yield number, answer, lesson.verdicts[number]
        _run(shell, cell, chosen.get(number))


def _run(shell, cell, text=None):
    text = text or cell.source
    done = shell.run_cell(text, store_history=True)
    assert done.success != ("raises-exception" in cell.metadata.get("tags", ())), text
