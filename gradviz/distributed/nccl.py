"""Arrays handed from GPU to GPU by NCCL, through CuPy.

Written after CuPy's documented calls and tried with a stand-in only: the project's own checks have
no GPU. What lies on the host goes by the transport that brought the processes together.
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module

from ..backend import DeviceArray, pointer, xp
from .reduction import ReduceOp, divided
from .transport import Pending, Ready, Several, Transport

KINDS = {
    "int8": "NCCL_INT8",
    "uint8": "NCCL_UINT8",
    "int32": "NCCL_INT32",
    "int64": "NCCL_INT64",
    "float16": "NCCL_FLOAT16",
    "float32": "NCCL_FLOAT32",
    "float64": "NCCL_FLOAT64",
}
OPS = {
    ReduceOp.SUM: "NCCL_SUM",
    ReduceOp.AVG: "NCCL_SUM",
    ReduceOp.PRODUCT: "NCCL_PROD",
    ReduceOp.MIN: "NCCL_MIN",
    ReduceOp.MAX: "NCCL_MAX",
}


class Launched(Pending):
    """Work on a stream of the GPU; holds the arrays that it uses."""

    def __init__(self, event, found, *used):
        self._event, self._found, self._used = event, found, used

    def poll(self):
        done = self._event.done
        if done:
            self._used = ()
        return done

    def value(self):
        return self._found


class Nccl(Transport):
    """The processes of ``control``, each with a GPU."""

    on_device = True

    def __init__(self, control, cuda="cupy.cuda"):
        super().__init__(control.rank, control.size)
        self._control, self._cuda = control, import_module(cuda)
        self._nccl, self._name = import_module(f"{cuda}.nccl"), cuda
        self._own = self._nccl.NcclCommunicator(self.size, self._identity(), self.rank)

    def _identity(self):
        """The number of the new communicator, the same for all: that of rank 0."""
        made = self._nccl.get_unique_id() if self.rank == 0 else (0,) * 128
        pending = self._control.broadcast(xp.array(made, "i8"), 0)
        while not pending.poll():
            self._control.check(pending.missing())
        return tuple(int(x) for x in pending.value())

    def _kind(self, array):
        name = KINDS.get(array.dtype.name)
        return None if name is None else getattr(self._nccl, name)

    def _stream(self):
        return self._cuda.get_current_stream()

    def _launched(self, found, *used):
        event = self._cuda.Event(disable_timing=True)
        event.record(self._stream())
        return Launched(event, found, *used)

    @contextmanager
    def _together(self):
        """Sends and receives inside start at once; one after the other they would wait."""
        self._nccl.groupStart()
        try:
            yield
        finally:
            self._nccl.groupEnd()

    # ------------------------------------------------------------ bytes from one to another
    def send(self, array, to, tag):
        if not isinstance(array, DeviceArray):
            return self._control.send(array, to, tag)
        raw = array.view("u1")
        with self._together():
            for rank in to:
                self._own.send(
                    pointer(raw), raw.size, self._nccl.NCCL_UINT8, rank, self._stream().ptr
                )
        return self._launched(None, raw)

    def receive(self, like, source, tag):
        if not isinstance(like, DeviceArray) or source is None:
            return self._control.receive(like, source, tag)
        found = xp.empty_like(like)
        raw, uint8 = found.view("u1"), self._nccl.NCCL_UINT8
        self._own.recv(pointer(raw), raw.size, uint8, source, self._stream().ptr)
        return self._launched(found, raw)

    # ------------------------------------------------------------ collectives
    def gather_all(self, array):
        if not isinstance(array, DeviceArray):
            return self._control.gather_all(array)
        found = xp.empty((self.size * array.size,), array.dtype, like=array)
        here, uint8 = array.view("u1"), self._nccl.NCCL_UINT8
        self._own.allGather(
            pointer(here), pointer(found.view("u1")), here.size, uint8, self._stream().ptr
        )
        done = self._launched(found, array)
        return Several([done], lambda parts: list(parts[0].reshape(self.size, -1)))

    def reduce_all(self, array, op):
        if not isinstance(array, DeviceArray):
            return self._control.reduce_all(array, op)
        kind = self._kind(array)
        if kind is None or op not in OPS:
            return super().reduce_all(array, op)
        found, code = xp.empty_like(array), getattr(self._nccl, OPS[op])
        self._own.allReduce(
            pointer(array), pointer(found), array.size, kind, code, self._stream().ptr
        )
        done = self._launched(found, array)
        return Several([done], lambda parts: divided(parts[0], op, self.size))

    def broadcast(self, array, source):
        if not isinstance(array, DeviceArray):
            return self._control.broadcast(array, source)
        raw, uint8 = array.view("u1"), self._nccl.NCCL_UINT8
        self._own.bcast(pointer(raw), raw.size, uint8, source, self._stream().ptr)
        return self._launched(array, raw)

    def exchange(self, arrays, likes):
        if not all(isinstance(a, DeviceArray) for a in (*arrays, *likes)):
            return self._control.exchange(arrays, likes)
        with self._together():
            sent = [self.send(arrays[r], [r], "exchange") for r in self._others()]
            came = [
                Ready(arrays[r]) if r == self.rank else self.receive(likes[r], r, "exchange")
                for r in range(self.size)
            ]
        return Several([*sent, *came, self._launched(None)], lambda f: f[len(sent) : -1])

    # ------------------------------------------------------------ the group
    def part(self, ranks, name):
        control = self._control.part(ranks, name)
        return None if control is None else Nccl(control, self._name)

    def check(self, waited):
        self._own.check_async_error()
        self._control.check(waited)

    def close(self):
        self._own.destroy()
        self._control.close()
