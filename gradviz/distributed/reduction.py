"""How arrays of several processes become one."""

from __future__ import annotations

import enum
import functools

from ..backend import xp


class RedOpType(enum.Enum):
    """The reductions, by PyTorch's names."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7

    def __str__(self):
        return f"RedOpType.{self.name}"


ReduceOp = RedOpType
_COMBINE = {
    ReduceOp.SUM: xp.add,
    ReduceOp.AVG: xp.add,
    ReduceOp.PRODUCT: xp.multiply,
    ReduceOp.MIN: xp.minimum,
    ReduceOp.MAX: xp.maximum,
    ReduceOp.BAND: xp.bitwise_and,
    ReduceOp.BOR: xp.bitwise_or,
    ReduceOp.BXOR: xp.bitwise_xor,
}


def combined(arrays, op=ReduceOp.SUM):
    """Arrays of all processes as one, in the order of the ranks."""
    return divided(functools.reduce(_COMBINE[op], arrays), op, len(arrays))


def divided(total, op, count):
    """The mean of ``count`` arrays from their sum, where a mean is wanted."""
    return (total / count).astype(total.dtype) if op is ReduceOp.AVG else total
