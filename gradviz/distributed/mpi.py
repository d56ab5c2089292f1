"""Arrays handed from process to process by MPI (``mpi4py``), without blocking."""

from __future__ import annotations

from ..backend import xp
from .ending import end_job_on_errors
from .reduction import ReduceOp, divided
from .transport import Pending, Several, Transport

NATIVE = "iufc"
HALF = "e"


class Request(Pending):
    """One operation of MPI and the array it fills; holds what it reads until it is done."""

    def __init__(self, request, array, sent=None, source=()):
        self._request, self._array, self._sent, self._done = request, array, sent, False
        self._waited = source

    def poll(self):
        if not self._done:
            status = _mpi().Status()
            self._done = self._request.Test(status)
            if self._done:
                self.source, self._sent = status.Get_source(), None
        return self._done

    def value(self):
        return self._array

    def missing(self):
        return () if self._done else self._waited


def _mpi():
    from mpi4py import MPI

    return MPI


def world():
    """All processes that ``mpiexec`` started together."""
    MPI = _mpi()
    if MPI.COMM_WORLD.size > 1:
        end_job_on_errors(MPI.COMM_WORLD.rank)
    return Mpi(MPI.COMM_WORLD)


class Mpi(Transport):
    """The processes of a communicator."""

    def __init__(self, communicator):
        super().__init__(communicator.rank, communicator.size)
        self._all_ranks, self._pairs = communicator.Dup(), communicator.Dup()
        self._ops = {
            ReduceOp.SUM: _mpi().SUM,
            ReduceOp.AVG: _mpi().SUM,
            ReduceOp.PRODUCT: _mpi().PROD,
            ReduceOp.MIN: _mpi().MIN,
            ReduceOp.MAX: _mpi().MAX,
            ReduceOp.BAND: _mpi().BAND,
            ReduceOp.BOR: _mpi().BOR,
            ReduceOp.BXOR: _mpi().BXOR,
        }

    def send(self, array, to, tag):
        raw, (communicator, number) = array.view("u1"), self._way(tag)
        return Several([Request(communicator.Isend(raw, r, number), None, raw) for r in to])

    def receive(self, like, source, tag):
        found = xp.empty_like(like)
        rank = _mpi().ANY_SOURCE if source is None else source
        communicator, number = self._way(tag)
        request = communicator.Irecv(found.view("u1"), rank, number)
        return Request(request, found, source=() if source is None else (source,))

    def _way(self, tag):
        """Messages of a person have a communicator of their own. Those of collectives need no
        number: all ranks start them in the same order, and MPI keeps it."""
        return (self._pairs, tag) if isinstance(tag, int) else (self._all_ranks, 0)

    def gather_all(self, array):
        found = xp.empty((self.size, array.size), array.dtype)
        request = self._all_ranks.Iallgather(array.view("u1"), found.view("u1"))
        return Several([Request(request, found, array)], lambda parts: list(parts[0]))

    def reduce_all(self, array, op):
        if array.dtype.kind not in NATIVE or array.dtype.char == HALF or array.dtype.isbuiltin != 1:
            return super().reduce_all(array, op)
        found = xp.empty_like(array)
        request = self._all_ranks.Iallreduce(array, found, self._ops[op])
        return Several([Request(request, found, array)], lambda p: divided(p[0], op, self.size))

    def broadcast(self, array, source):
        found = xp.array(array)
        return Request(self._all_ranks.Ibcast(found.view("u1"), source), found)

    def part(self, ranks, name):
        inside = self.rank in ranks
        color, key = (0, ranks.index(self.rank)) if inside else (_mpi().UNDEFINED, 0)
        found = self._all_ranks.Split(color, key)
        return Mpi(found) if inside else None

    def close(self):
        self._all_ranks.Free()
        self._pairs.Free()
