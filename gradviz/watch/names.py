"""Names: which of several paths to a tensor is the one a person would use."""

from __future__ import annotations

from .links import category, path_of

RANK = {
    "name": 0,
    "attribute": 1,
    "buffer": 1,
    "container": 2,
    "closure": 3,
    "default": 3,
    "display": 5,
    "traceback": 6,
}


def best(candidates) -> str:
    """The path to show, of an iterable of (steps, path): a plain name first, then the shortest.

    Of what only a frame of a traceback holds it is the name that the frame's code has for it.
    """
    every = list(candidates)
    if not every:
        return ""
    steps, path = every[0] if len(every) == 1 else min(every, key=lambda item: rank(*item))
    local = max((n for n, step in enumerate(steps) if step.kind == "local"), default=0)
    return path_of(steps[local:]) if local else str(path)


def rank(steps, path):
    """Smaller is better. Private names and gradients come late."""
    private = steps[0].name.startswith("_") if isinstance(steps[0].name, str) else False
    inside = any(step.name in ("param_groups", "state") for step in steps[1:])
    return RANK.get(category(steps), 4), inside, private, len(steps), len(path), path
