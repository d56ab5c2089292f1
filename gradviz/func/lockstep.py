"""All slices of a ``vmap`` side by side, for Functions that bring a rule for the whole batch.

Every slice runs in a thread of its own, one at a time, until it comes to such a Function; when all
have come, the rule is called once with the stacked inputs, and each slice goes on with its part.
"""

from __future__ import annotations

import threading
from collections import namedtuple

from ..autograd.function import FOR_DETAILS, require_batching
from ..engine.modes import local
from ..engine.tensor import Tensor
from .tree import flatten, spread, structure
from .vmap import Batch, Random, stacked

VmapInfo = namedtuple("VmapInfo", ("batch_size", "randomness"))


class _Abandoned(BaseException):
    """Unwinds the slices that nobody waits for any more."""


class _Slice(Batch):
    """One slice and its thread."""

    def __init__(self, lockstep, number):
        super().__init__(lockstep.size, lockstep.mapped.randomness, lockstep.outer)
        self.inputs = lockstep.mapped.slices(number)
        self.mapped, self.modes = lockstep.mapped, dict(vars(local))
        self.random = Random(self.randomness)
        self.go, self.back = threading.Semaphore(0), threading.Semaphore(0)
        self.request = self.answer = self.result = self.error = None
        self.abandoned = False
        self.thread = threading.Thread(target=self._body, daemon=True)

    def _body(self):
        self.go.acquire()
        vars(local).update(self.modes)
        local.batch = self
        try:
            if not self.abandoned:
                self.result = self.mapped.call(self.inputs)
                self.random.leave()
        except BaseException as error:  # noqa: BLE001 (told in the thread that waits)
            self.error = error
        self.request = None
        self.back.release()

    def resume(self, answer=None):
        """Let it run to its next request, or to its end."""
        self.answer, self.request = answer, None
        if not self.thread.is_alive():
            self.thread.start()
        self.go.release()
        self.back.acquire()

    def apply(self, cls, args):
        """A function that gives what the rule of ``cls`` gave for this slice."""
        if not require_batching(cls):
            return None
        self.random.leave()
        self.request = (cls, args)
        self.back.release()
        self.go.acquire()
        if self.abandoned:
            raise _Abandoned
        self.random = Random(self.randomness)
        answer = self.answer
        return lambda: answer

    def abandon(self):
        self.abandoned = True
        if self.thread.is_alive():
            self.go.release()
            self.thread.join()


class Lockstep:
    """A vmap whose slices wait for each other."""

    def __init__(self, mapped, size, outer):
        self.mapped, self.size, self.outer = mapped, size, outer

    def run(self):
        """The results of all slices."""
        slices = [_Slice(self, k) for k in range(self.size)]
        before, local.batch = local.batch, self.outer
        try:
            answers = [None] * self.size
            while True:
                for one, answer in zip(slices, answers, strict=True):
                    one.resume(answer)
                    if one.error is not None:
                        raise one.error
                waiting = [one.request for one in slices]
                if all(request is None for request in waiting):
                    return [one.result for one in slices]
                answers = self._answer(slices, waiting)
        finally:
            local.batch = before
            for one in slices:
                one.abandon()

    def _answer(self, slices, waiting):
        """What the Function that all slices came to gives for each."""
        if any(request is None or request[0] is not waiting[0][0] for request in waiting):
            raise RuntimeError(
                "vmap: It looks like you're attempting to use a Tensor in some data-dependent "
                "control flow. We don't support that yet, please file an issue at "
                "https://github.com/pytorch/pytorch/issues ."
            )
        cls = waiting[0][0]
        rows = [flatten(args)[0] for _, args in waiting]
        rebuild = flatten(waiting[0][1])[1]
        columns = [self._whole(slices, column) for column in zip(*rows, strict=True)]
        args, in_dims = (rebuild(list(x)) for x in zip(*columns, strict=True))
        if all(d is None for _, d in columns):
            return [cls.apply(*args)] * self.size
        info = VmapInfo(self.size, self.mapped.randomness)
        output, dims = _checked(cls.vmap(info, in_dims, *args))
        leaves, build = flatten(output)
        return [
            build(
                [
                    x if d is None or not isinstance(x, Tensor) else x.select(d, k)
                    for x, d in zip(leaves, dims, strict=True)
                ]
            )
            for k in range(self.size)
        ]

    def _whole(self, slices, column):
        """(all slices of one argument together, their dimension); dimension None when it is the
        same for all.
        """
        first = column[0]
        if not isinstance(first, Tensor) or all(x is first for x in column):
            return first, None
        for place, x in enumerate(slices[0].inputs):
            if x is first and all(
                s.inputs[place] is own for s, own in zip(slices, column, strict=True)
            ):
                return self.mapped.leaves[place], self.mapped.dims[place]
        return stacked(list(column), 0), 0


def _checked(returned):
    """(output, one dimension a tensor of it) from what a ``vmap`` staticmethod returned."""
    if not (isinstance(returned, tuple) and len(returned) == 2):
        got = f"{len(returned)} returns" if isinstance(returned, tuple) else f"a {type(returned)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got {got} instead"
        )
    output, out_dims = returned
    dims = spread(out_dims, output)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, "
            f"out_dims) tuple. Expected out_dims={out_dims} to be compatible with the structure of "
            f"`output`. out_dims has structure {structure(out_dims)} but output has structure "
            f"{structure(output)}. {FOR_DETAILS}"
        )
    return output, dims
