"""What an exercise asks for: each method of :class:`Want` is one claim about values, gradients or
the graph, told with the words of the person's own program.
"""

from __future__ import annotations

import ast
import gc
import linecache
import math
import sys
from collections import Counter
from collections.abc import Callable

from gradviz.ask.explain import answer
from gradviz.ask.moment import now
from gradviz.engine import events
from gradviz.engine.node import Node
from gradviz.engine.tensor import Tensor
from gradviz.sources.graph import reach
from gradviz.sources.reading import node_of
from gradviz.texts import text


class Want:
    """The claims of one check, in order: ``lines`` holds (held, words) of each.

    A claim that does not hold is noted and the check goes on. What the person left as ``...`` makes
    the check stop with :class:`StillToDo`.
    """

    def __init__(self):
        self.lines: list[tuple[bool, str]] = []

    def value(self, actual, expected, within: float = 1e-4):
        """``actual`` (tensor, number, bool, text, or lists of them) equals ``expected``; numbers up
        to the relative or absolute tolerance ``within``.
        """
        self._equal(_written(0), _done(actual), expected, within)

    def grad(self, tensor, expected, within: float = 1e-4):
        """``tensor.grad`` equals ``expected``; None: it has none."""
        found = events.grad(_tensor(tensor))
        if not self._equal(f"{_written(0)}.grad", found, expected, within) and found is None:
            why = answer(tensor, _written(0), now(sys._getframe(1)))
            if why.reason != "unwatched":
                self.lines[-1] = (False, f"{self.lines[-1][1]}\n{why.text}")

    def flows(self, source, target):
        """A backward from ``target`` would reach ``source``."""
        self._note(_reaches(source, target), "flows", source=_written(0), target=_written(1))

    def cut(self, source, target):
        """A backward from ``target`` would not reach ``source``."""
        self._note(not _reaches(source, target), "cut", source=_written(0), target=_written(1))

    def leaf(self, tensor):
        """``tensor`` is a leaf that requires grad."""
        found = _tensor(tensor)
        self._note(found.is_leaf and found.requires_grad, "leaf", what=_written(0))

    def tracked(self, tensor):
        """``tensor`` requires grad."""
        self._note(_tensor(tensor).requires_grad, "tracked", what=_written(0))

    def untracked(self, tensor):
        """``tensor`` does not require grad."""
        self._note(not _tensor(tensor).requires_grad, "untracked", what=_written(0))

    def nodes(self, tensor, **counts: int):
        """The graph of ``tensor`` has so many nodes of each name: ``MulBackward0=2``."""
        found = Counter(node.name() for node in _graph(tensor))
        for name, wanted in counts.items():
            fields = {"what": _written(0), "name": name, "wanted": wanted, "found": found[name]}
            self._note(found[name] == wanted, "nodes", **fields)

    def saved(self, tensor, count: int):
        """The graph of ``tensor`` keeps ``count`` saved tensors."""
        found = saved_tensors(tensor)
        self._note(found == count, "saved", what=_written(0), wanted=count, found=found)

    def raises(self, function: Callable, kind: type[BaseException], phrase: str = ""):
        """Calling ``function`` raises ``kind`` with ``phrase`` in its message."""
        try:
            function()
        except kind as error:
            ok, found = phrase in str(error), f"{type(error).__name__}: {error}".splitlines()[0]
        except Exception as error:
            ok, found = False, f"{type(error).__name__}: {error}".splitlines()[0]
        else:
            ok, found = False, text("teach.nothing")
        self._note(ok, "raises", kind=kind.__name__, phrase=phrase, found=found)

    def leaves_no_graph(self, function: Callable):
        """When ``function`` has returned, its result kept, no operation it recorded is alive."""
        left = operations_left(function)
        self._note(left == 0, "no_graph", what=_written(0), left=left)

    def done(self, answer):
        """Something was answered: ``...`` stops the check here."""
        _done(answer)

    def that(self, held: bool):
        """``held`` is true; it is told as it is written."""
        self._note(bool(_done(held)), "that", what=_written(0))

    # -- how a claim is noted ------------------------------------------------------------
    def _equal(self, what, actual, expected, within):
        actual, expected = plain(actual), plain(expected)
        ok = same(actual, expected, within)
        self._note(ok, "value", what=what, wanted=told(expected), found=told(actual))
        return ok

    def _note(self, ok, key, **fields):
        self.lines.append((ok, text(f"teach.want.{key}.{'yes' if ok else 'no'}", **fields)))


class StillToDo(Exception):
    """The exercise still has its ``...``."""


def plain(value):
    """Tensors as numbers and lists; everything else as it is."""
    if isinstance(value, Tensor):
        with events.unwatched():  # looking is not the person's doing
            return value.detach().tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def same(a, b, within: float = 1e-4) -> bool:
    """Whether two plain values are equal, numbers up to a tolerance and text whatever its case."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, within) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) and isinstance(b, str):
        return a.strip().casefold() == b.strip().casefold()
    if None in (a, b) or isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=within, abs_tol=within) or (a != a and b != b)
    return bool(a == b)


def told(value) -> str:
    """A plain value for a person."""
    if isinstance(value, list):
        return "[" + ", ".join(map(told, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def saved_tensors(tensor) -> int:
    """How many saved tensors the graph of ``tensor`` keeps now."""
    return sum(len(events.saved_arrays(node) or ()) for node in _graph(tensor))


def _done(value):
    if value is ... or (isinstance(value, list | tuple) and any(item is ... for item in value)):
        raise StillToDo
    return value


def _tensor(value):
    """``value``; TypeError when it is no tensor."""
    if not isinstance(_done(value), Tensor):
        raise TypeError(text("ask.needs_tensor", type=type(value).__name__))
    return value


def _graph(tensor):
    top = node_of(_tensor(tensor))
    return list(reach([top]).nodes.values()) if top is not None else []


def _reaches(source, target):
    source, target = _tensor(source), _tensor(target)
    top, made = node_of(target), node_of(source)
    if top is None:
        return source is target and source.requires_grad
    found = reach([top])
    if made is not None:
        return made.seq in found.nodes
    return source.requires_grad and events.leaf_id(source) in found.leaves


def operations_left(function: Callable) -> int:
    """How many operations that ``function`` recorded are alive while only its result is kept."""
    gc.freeze()  # what is there already is neither searched nor counted
    try:
        kept = function()  # noqa: F841
        gc.collect()
        return sum(issubclass(type(one), Node) for one in gc.get_objects())
    finally:
        gc.unfreeze()


def _written(index):
    """The argument of the claim that is being made, as it is written in the check."""
    frame = sys._getframe(2)
    line, end, start, stop = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    lines = [one.encode() for one in linecache.getlines(frame.f_code.co_filename)[line - 1 : end]]
    lines[-1:] = [one[:stop] for one in lines[-1:]]
    lines[:1] = [one[start:] for one in lines[:1]]
    try:
        return ast.unparse(ast.parse(b"".join(lines), mode="eval").body.args[index])
    except (SyntaxError, AttributeError, IndexError):
        return text("ask.it")
