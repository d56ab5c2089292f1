"""A block in which somebody stands between the operations of a thread and what computes them.

Functions of ``dispatch`` hold what computes them in a variable of their own, so that nothing is
asked in ordinary code. While such a block is open anywhere, those variables hold a stand-in, which
asks the thread who stands there: ``kernel(op, forward, arrays)`` gives the arrays of an operation,
``made(op, result, inputs, attrs, in_place)`` is told of the tensors when they are recorded.
"""

from __future__ import annotations

import functools
import threading

from . import dispatch
from .modes import count, local
from .operation import EVERY

_changing = threading.Lock()
_open = 0


class standing:
    """Inside the block ``who`` stands between; None: nobody."""

    def __init__(self, who):
        self.who = who

    def __enter__(self):
        self.before, local.between = local.between, self.who
        _step_in(1)
        count(1)

    def __exit__(self, *_):
        count(-1)
        _step_in(-1)
        local.between = self.before


def _step_in(change):
    global _open
    with _changing:
        before, _open = _open, _open + change
        if not before or not _open:
            _exchange(stand_in if _open else _original)


def _exchange(by):
    for op in EVERY:
        op.forward = by(op, op.forward)
    for function in dispatch.FUNCTIONS:
        names = function.__code__.co_freevars
        if "op" in names and "forward" in names:
            cells = dict(zip(names, function.__closure__, strict=True))
            cells["forward"].cell_contents = cells["op"].cell_contents.forward


def stand_in(op, forward):
    """``forward``, unless somebody stands between in the thread that calls it."""

    @functools.wraps(forward)
    def kernel(*arrays):
        who = local.between
        return forward(*arrays) if who is None else who.kernel(op, forward, arrays)

    return kernel


def _original(op, kernel):
    return kernel.__wrapped__
