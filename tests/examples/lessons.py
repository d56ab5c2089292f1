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


def play(shell, cells, chosen, until=None):
    """Run the code with ``chosen`` answers by number (default: what the learner is given), up to
    the check of exercise ``until``; the lesson. AssertionError when a cell fails unannounced.
    """
    reached = False
    for cell in cells:
        given = cell.metadata
        if cell.cell_type != "code" or "solution" in given or "wrong" in given:
            continue
        reached = reached or ("exercise" in given and given["exercise"] == until)
        text = chosen.get(given.get("exercise"), cell.source)
        done = shell.run_cell(text, store_history=True)
        announced = "raises-exception" in given.get("tags", ())
        assert done.success != announced, text
        if reached and until in shell.user_ns["lesson"].verdicts:
            break
    return shell.user_ns["lesson"]
