"""Which operators ran in a block, from which lines: what ``checkpoint(debug=True)`` tells when the
second run differs from the first.
"""

from __future__ import annotations

import traceback
import weakref

from ..engine.between import standing
from ..engine.dispatch import Tensor
from ..engine.operands import is_wrapped
from ..ops.aten import operator_of

_SHORT = {
    "float": "f",
    "bfloat": "bf",
    "int": "i",
    "uint": "u",
    "complex": "c",
}
_TOLD = """An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.

1. Stack traces of the operators that ran in the original forward

{first_places}
2. Stack traces of the operators that ran during recomputation

{second_places}
3. Log of operators in the original forward and recomputation

Operations executed during the original forward:

{first}

Operations executed during recomputation:

{second}

 ERROR: Detected non-determinism while running activation checkpointing
"""


class OperatorLog:
    """Stands between the operators of a block and notes each; a context."""

    def __init__(self):
        self.lines, self.places = [], []

    def __enter__(self):
        self.lines, self.places = [], []
        self.known, self.count = {}, 0
        self.block = standing(self)
        self.block.__enter__()

    def __exit__(self, *error):
        self.block.__exit__(*error)

    @staticmethod
    def kernel(op, forward, arrays):
        """The arrays of an operation, computed."""
        return forward(*arrays)

    def made(self, op, result, inputs, attrs=(), in_place=False):
        """Note an operator with its arguments and the lines that called it."""
        operator = operator_of(op, inputs, in_place) or op.name
        given = ", ".join(self._shown(x) for x in (*inputs, *attrs))
        self.lines.append(f"{self._result(result)} = torch._ops.{operator}({given})")
        frames = traceback.extract_stack()
        self.places.append([f for f in frames if "gradviz" not in f.filename])

    def _number(self, t):
        """The number of a tensor, by identity: another one may get its id when it is gone."""
        found, number = self.known.get(id(t), (lambda: None, 0))
        if found() is not t:
            number = self.count
            self.known[id(t)] = weakref.ref(t), number
            self.count += 1
        return f"${number}"

    def _shown(self, x):
        if not isinstance(x, Tensor):
            return repr(x)
        return repr(x._a.item()) if is_wrapped(x) else self._number(x)

    def _result(self, result):
        if isinstance(result, tuple):
            return f"({', '.join(map(self._result, result))})"
        sizes = ", ".join(map(str, result.shape))
        return f"{self._number(result)}: {_short(result.dtype)}[{sizes}]"

    def with_places(self, where):
        """Every operator with the lines that called it."""
        told = ""
        for k, (line, frames) in enumerate(zip(self.lines, self.places, strict=True)):
            told += f"{line}   ({k + 1} of {len(self.lines)} in {where})\n\n"
            told += "".join(f"{f.filename}:{f.lineno}:{f.name}\n" for f in reversed(frames)) + "\n"
        return told


def _short(dtype):
    kind = dtype.name.rstrip("0123456789")
    return f"{_SHORT[kind]}{dtype.name[len(kind) :]}" if kind in _SHORT else dtype.name


def told(first, second):
    """The words about two runs that differ."""
    return _TOLD.format(
        first_places=first.with_places("original"),
        second_places=second.with_places("recompute"),
        first="\n".join(first.lines),
        second="\n".join(second.lines),
    )
