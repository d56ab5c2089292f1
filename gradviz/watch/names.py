"""Names: which of several paths to a tensor is the one a person would use."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from .links import Link, Step, category, path_of

REMEMBERED = 300
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


class Names:
    """Every path to each thing, by serial. They are written out when somebody asks: of many live
    results few are ever looked at.
    """

    def __init__(self):
        self._links: dict[int, list[Link]] = {}
        self._paths: dict[int, list[tuple[tuple[Step, ...], str]]] = {}
        self._best: dict[int, str] = {}

    def add(self, key: int, link: Link):
        """One more path; it keeps what is on the path until ``rest``."""
        self._links.setdefault(key, []).append(link)

    def of(self, key: int) -> list[tuple[tuple[Step, ...], str]]:
        """(steps, path) of each path to the thing."""
        found = self._paths.get(key)
        if found is None and key in self._links:
            steps = [link.steps() for link in self._links[key]]
            found = self._paths[key] = [(one, path_of(one)) for one in steps]
        return found or []

    def get(self, key: int, otherwise: str = "") -> str:
        """The path that a person would use."""
        known = self._best.get(key)
        if known is None:
            known = self._best[key] = best(self.of(key))
        return known or otherwise

    def rest(self, keys: Iterable[int]):
        """Remember the paths to ``keys`` and to the first ones that were found, let go of
        everything else.
        """
        first = islice(self._links, REMEMBERED)
        kept = dict.fromkeys((*first, *(key for key in keys if key in self._links)))
        self._paths = {key: self.of(key) for key in kept}
        self._best = {key: self.get(key) for key in kept}
        self._links = {}
