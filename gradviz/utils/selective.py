"""Selective checkpoints: a policy says which results of a checkpointed block are kept, so that the
second run takes them instead of computing them again.
"""

from __future__ import annotations

import enum
from collections import defaultdict

from ..engine.between import standing
from ..engine.dispatch import Tensor
from ..engine.node import INFERENCE, new
from ..engine.operands import is_wrapped
from ..ops.aten import OpOverload, OpOverloadPacket, operator_of

_RECOMPUTE, _CONSUMED = "recompute", "consumed"
_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend "
    "on global state that changed between forward and backward."
)


class CheckpointPolicy(enum.Enum):
    """What becomes of a result: kept, or computed again. Moving it to the CPU meanwhile is to
    compute it again, as in PyTorch outside ``torch.compile``.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_SAVES = CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE


class SelectiveCheckpointContext:
    """What a policy is told beside the operator and its arguments: the result, ``op_output``."""

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


class Kept:
    """The arrays of one result, and the version they were kept at."""

    __slots__ = ("arrays", "cells")

    def __init__(self, outs):
        self.arrays = tuple(t._a for t in outs)
        self.cells = []
        for t in outs:
            if t._v is None:
                t._v = [0, None]
            if t._v is not INFERENCE:
                self.cells.append((t._v, t._v[0]))

    def taken(self, may_change):
        """The arrays; RuntimeError when one was modified in place, unless it ``may_change``."""
        if not may_change and any(cell[0] != before for cell, before in self.cells):
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        return self.arrays


class _Between:
    """Numbers the calls of every operation."""

    def __init__(self, storage):
        self.storage, self.inside = storage, False
        self.calls = defaultdict(int)

    def kernel(self, op, forward, arrays):
        """The arrays of an operation; one that another one's is made with is not asked about."""
        if self.inside or op.view:
            return forward(*arrays)
        k = self.calls[op]
        self.calls[op] += 1
        self.inside = True
        try:
            return self.found(op, k, forward, arrays)
        finally:
            self.inside = False

    def made(self, op, result, inputs, attrs=(), in_place=False):
        """Nothing is kept of what is made."""


class _First(_Between):
    """The first run: the policy is asked about each result."""

    def __init__(self, policy, storage):
        super().__init__(storage)
        self.policy = policy

    def found(self, op, k, forward, arrays):
        """Computed; unless the policy says otherwise it will be computed again."""
        made = forward(*arrays)
        self.storage[op][k] = _RECOMPUTE
        return made

    def made(self, op, result, inputs, attrs=(), in_place=False):
        """Ask the policy, and keep what it wants kept."""
        operator = operator_of(op, inputs, in_place)
        if operator is None:
            return
        outs = result if isinstance(result, tuple) else (result,)
        shown = tuple(_plain(t) for t in outs)
        given = [_argument(x) for x in (*inputs, *attrs)]
        told = SelectiveCheckpointContext(
            is_recompute=False, op_output=shown if isinstance(result, tuple) else shown[0]
        )
        with standing(None):
            policy = self.policy(told, operator, *given)
        if policy is True or policy in _SAVES:
            if not op.view:
                self.storage[op][self.calls[op] - 1] = Kept(outs)


def _plain(t):
    """The same numbers under the same version, outside the graph."""
    shown = new(Tensor)
    shown._a, shown._g, shown._v = t._a, None, t._v
    return shown


def _argument(x):
    if isinstance(x, tuple):
        return list(x)
    return x._a.item() if isinstance(x, Tensor) and is_wrapped(x) else x


class _Again(_Between):
    """The second run: what was kept is taken, once."""

    def __init__(self, storage, may_change):
        super().__init__(storage)
        self.may_change = may_change

    def found(self, op, k, forward, arrays):
        """What was kept, or computed again. RuntimeError for a call that the first run had not, and
        for what was taken before.
        """
        known = self.storage.get(op)
        if known is None:
            raise RuntimeError(
                f"{_name(op)} encountered during backward but not found in storage. {_MISMATCH}"
            )
        kept = known.get(k)
        if kept is None:
            raise RuntimeError(
                f"{_name(op)} invocation index {k} encountered during backward but not found in "
                f"storage. {_MISMATCH}"
            )
        if kept is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any "
                "region computed under selective activation checkpoint."
            )
        if kept is _RECOMPUTE:
            return forward(*arrays)
        known[k] = _CONSUMED
        found = kept.taken(self.may_change)
        return found if op.outputs else found[0]


def _name(op):
    return operator_of(op, ()) or op.name


class _Block:
    """One of the two contexts; each time it is entered the calls are numbered anew."""

    def __init__(self, make):
        self.make = make

    def __enter__(self):
        self.block = standing(self.make())
        self.block.__enter__()
        return self

    def __exit__(self, *error):
        self.block.__exit__(*error)


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """Two contexts for ``context_fn`` of ``checkpoint``. The policy is ``policy_fn(ctx, op, *args,
    **kwargs)``, which gives a CheckpointPolicy, or a list of operators whose results are kept.
    ValueError for a list of anything else, TypeError for what is neither.
    """
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            _check_operator(op)

        def policy(ctx, op, *args, **kwargs):
            saved = op in policy_fn_or_list
            return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE

    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage = defaultdict(dict)
    return (
        _Block(lambda: _First(policy, storage)),
        _Block(lambda: _Again(storage, allow_cache_entry_mutation)),
    )


def _check_operator(op):
    if isinstance(op, OpOverload):
        return
    more = ""
    if isinstance(op, OpOverloadPacket):
        more = (
            "Please update the OpOverloadPacket to a specific OpOverload."
            "For example, if you have `torch.ops.aten.mm`, change it to "
            "`torch.ops.aten.mm.default`."
        )
    raise ValueError(
        f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {more}"
    )
