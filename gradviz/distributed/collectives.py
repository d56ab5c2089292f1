"""Collective operations. All processes of a group call the same ones in the same order.

With ``async_op=True`` they return a ``Work`` at once; otherwise they wait and return None. ``src``
and ``dst`` are numbers in the whole job, as in PyTorch.
"""

from __future__ import annotations

import functools
import inspect
import time
import warnings
from datetime import timedelta

from ..backend import beside, host, xp
from ..engine.tensor import Tensor
from ..engine.views import bump
from .group import get_rank, member
from .reduction import ReduceOp, combined
from .transport import Several
from .work import Work

_ONE = (
    "Invalid function argument. Expected parameter `{}` of type torch.Tensor\n"
    "             but got {} instead."
)
_MANY = (
    "Invalid function argument. Expected parameter `{}` of type List[torch.Tensor]\n"
    "             but got {} with elements of type {}."
)


# ---------------------------------------------------------------- arrays of tensors
def _flat(own, tensor):
    """A copy of the numbers of a tensor, flat; what is sent stays as it was when it was handed
    over."""
    array = tensor._a.copy().reshape(-1)
    return array if own.transport.on_device else host(array)


def _like(own, tensor):
    if own.transport.on_device:
        return xp.empty(tensor._a.size, tensor._a.dtype, like=tensor._a)
    return xp.empty(tensor._a.size, tensor._a.dtype)


def _write(tensor, array):
    """As PyTorch's backends do: no version counter hears of it."""
    tensor._a[...] = beside(array, tensor._a).reshape(tensor._a.shape)
    return tensor


def _put(tensor, array):
    """What arrived together is copied to where it belongs: an ordinary change in place."""
    _write(tensor, array)
    bump(tensor)
    return tensor


def _fill(tensors, arrays, put=_put):
    return [put(t, a) for t, a in zip(tensors, arrays, strict=True)]


def _check_tensor(value, name):
    if not isinstance(value, Tensor):
        raise TypeError(_ONE.format(name, type(value)))


def _check_list(value, name):
    if not isinstance(value, list) or not all(isinstance(t, Tensor) for t in value):
        kinds = [type(t) for t in value] if isinstance(value, (list, tuple)) else []
        raise TypeError(_MANY.format(name, type(value), kinds))


def _check_outputs(name, outputs, like, size):
    if len(outputs) != size:
        raise RuntimeError(
            f"ProcessGroupGloo::{name}: invalid output tensor list at index 0 (expected length "
            f"{size}, got {len(outputs)})"
        )
    for k, t in enumerate(outputs):
        if t.dtype is not like.dtype:
            raise TypeError(
                f"ProcessGroupGloo::{name}: invalid tensor type at index {k} (expected "
                f"{like.dtype.type_name}, got {t.dtype.type_name})"
            )
        if t.shape != like.shape:
            expected, got = (", ".join(map(str, x.shape)) for x in (like, t))
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid tensor size at index {k} (expected "
                f"({expected}), got ({got}))"
            )


def _check_op(op, name, tensor):
    if not isinstance(op, ReduceOp):
        raise TypeError(f"{name}: op must be a ReduceOp, got {op!r}")
    if tensor.is_complex() and op not in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT):
        raise ValueError(f"{name} does not support {op} on complex tensors")


# ---------------------------------------------------------------- the verbs
def collective(function):
    """``function(own, …)`` starts one and gives (pending, finish, nbytes); this adds group and
    wait."""
    parameters = list(inspect.signature(function).parameters.values())
    defaults = {"group": None, "async_op": False}

    @functools.wraps(function)
    def verb(*args, **kwargs):
        bound = inspect.signature(verb).bind(*args, **kwargs)
        asked = defaults | {k: bound.arguments.pop(k) for k in defaults if k in bound.arguments}
        own = member(asked["group"])
        if own is None:
            warnings.warn(
                f"Running {function.__name__} on global rank {get_rank()} which does not belong to "
                "the given group.",
                stacklevel=2,
            )
            return None
        pending, finish, nbytes = function(own, **bound.arguments)
        seconds = own.timeout.total_seconds()
        work = Work(function.__name__, pending, own.transport, seconds, finish, nbytes)
        if asked["async_op"]:
            return work
        work.wait()
        return None

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    added = [inspect.Parameter(k, kind, default=v) for k, v in defaults.items()]
    verb.__signature__ = inspect.Signature([*parameters[1:], *added])
    return verb


def _root(own, name, rank):
    if rank not in own.ranks:
        raise RuntimeError(f"ProcessGroupGloo::{name}: invalid root rank: {rank}")
    return own.ranks.index(rank)


@collective
def all_reduce(own, tensor, op=ReduceOp.SUM):
    """``tensor`` becomes the sum (or ``op``) of those of all processes, everywhere."""
    _check_tensor(tensor, "tensor")
    _check_op(op, "all_reduce", tensor)
    pending = own.transport.reduce_all(_flat(own, tensor), op)
    return pending, lambda p: [_write(tensor, p.value())], tensor.nbytes


@collective
def reduce(own, tensor, dst=0, op=ReduceOp.SUM):
    """``all_reduce`` of which only process ``dst`` keeps the result."""
    _check_tensor(tensor, "tensor")
    _check_op(op, "reduce", tensor)
    here = _root(own, "reduce", dst) == own.rank()
    pending = own.transport.reduce_all(_flat(own, tensor), op)
    return pending, lambda p: [_write(tensor, p.value()) if here else tensor], tensor.nbytes


@collective
def broadcast(own, tensor, src=0):
    """``tensor`` becomes that of process ``src``, everywhere."""
    _check_tensor(tensor, "tensor")
    root = _root(own, "broadcast", src)
    pending = own.transport.broadcast(_flat(own, tensor), root)
    here = root == own.rank()
    return pending, lambda p: [tensor if here else _write(tensor, p.value())], tensor.nbytes


@collective
def all_gather(own, tensor_list, tensor):
    """Fill ``tensor_list`` with the tensors of all processes."""
    _check_list(tensor_list, "tensor_list")
    _check_tensor(tensor, "tensor")
    _check_outputs("allgather", tensor_list, tensor, own.size())
    pending = own.transport.gather_all(_flat(own, tensor))
    return pending, lambda p: _fill(tensor_list, p.value()), tensor.nbytes * own.size()


@collective
def all_gather_single(own, output_tensor, input_tensor):
    """``output_tensor`` becomes the tensors of all processes, one after the other."""
    _check_tensor(input_tensor, "input_tensor")
    _check_tensor(output_tensor, "output_tensor")
    if output_tensor.numel() != input_tensor.numel() * own.size():
        raise ValueError("output tensor size must be equal to world_size times input tensor size")
    pending = own.transport.gather_all(_flat(own, input_tensor))
    return (
        pending,
        lambda p: [_put(output_tensor, xp.concatenate(p.value()))],
        output_tensor.nbytes,
    )


@collective
def gather(own, tensor, gather_list=None, dst=0):
    """``all_gather`` of which only process ``dst`` keeps the result."""
    _check_tensor(tensor, "tensor")
    root = _root(own, "gather", dst)
    if root != own.rank():
        if gather_list:
            raise ValueError(
                "Argument ``gather_list`` must NOT be specified on non-destination ranks."
            )
        return own.transport.gather(_flat(own, tensor), root), lambda p: [], tensor.nbytes
    if not gather_list:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    _check_list(gather_list, "gather_list")
    _check_outputs("gather", gather_list, tensor, own.size())
    pending = own.transport.gather(_flat(own, tensor), root)
    return pending, lambda p: _fill(gather_list, p.value()), tensor.nbytes * own.size()


@collective
def scatter(own, tensor, scatter_list=None, src=0):
    """``tensor`` becomes this process's entry of the list that process ``src`` gives."""
    _check_tensor(tensor, "tensor")
    root, arrays = _root(own, "scatter", src), None
    if root == own.rank():
        if not scatter_list:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        _check_list(scatter_list, "scatter_list")
        _check_outputs("scatter", scatter_list, tensor, own.size())
        arrays = [_flat(own, t) for t in scatter_list]
    elif scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    pending = own.transport.scatter(arrays, _like(own, tensor), root)
    return pending, lambda p: [_write(tensor, p.value())], tensor.nbytes


@collective
def reduce_scatter(own, output, input_list, op=ReduceOp.SUM):
    """``output`` becomes the sum (or ``op``) of this process's entry of everybody's
    ``input_list``."""
    _check_tensor(output, "output")
    _check_list(input_list, "input_list")
    _check_op(op, "reduce_scatter", output)
    _check_outputs("reduce_scatter", input_list, output, own.size())
    return _reduced_parts(own, output, [_flat(own, t) for t in input_list], op)


@collective
def reduce_scatter_single(own, output, input, op=ReduceOp.SUM):
    """``reduce_scatter`` of one tensor that is cut into equal parts."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    _check_op(op, "reduce_scatter", output)
    if input.numel() != output.numel() * own.size():
        raise ValueError("input tensor must be the same size as output size times world size")
    return _reduced_parts(own, output, xp.split(_flat(own, input), own.size()), op)


def _reduced_parts(own, output, arrays, op):
    pending = own.transport.exchange(arrays, [_like(own, output)] * own.size())
    return pending, lambda p: [_put(output, combined(p.value(), op))], output.nbytes


@collective
def all_to_all(own, output_tensor_list, input_tensor_list):
    """Entry ``r`` of the input goes to process ``r``; the output is what they sent here."""
    _check_list(output_tensor_list, "output_tensor_list")
    _check_list(input_tensor_list, "input_tensor_list")
    for given in (output_tensor_list, input_tensor_list):
        if len(given) != own.size():
            raise RuntimeError(
                f"all_to_all: expected {own.size()} tensors, one a process, got {len(given)}"
            )
    return _exchanged(own, output_tensor_list, [_flat(own, t) for t in input_tensor_list], _put)


def _exchanged(own, outputs, arrays, put):
    pending = own.transport.exchange(arrays, [_like(own, t) for t in outputs])
    return pending, lambda p: _fill(outputs, p.value(), put), sum(t.nbytes for t in outputs)


@collective
def all_to_all_single(own, output, input, output_split_sizes=None, input_split_sizes=None):
    """``all_to_all`` of the parts of one tensor, cut along its first dimension."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    arrays = [_flat(own, t) for t in _parts(own, input, input_split_sizes)]
    return _exchanged(own, _parts(own, output, output_split_sizes), arrays, _write)


def _parts(own, tensor, sizes):
    rows, size = tensor.size(0), own.size()
    if not sizes:
        if rows % size:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [rows // size] * size
    if len(sizes) != size or sum(sizes) != rows:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return list(tensor.detach().split(list(sizes)))


@collective
def barrier(own, device_ids=None):
    """Wait until all processes are here."""
    return own.transport.gather_all(xp.zeros(1, "u1")), lambda p: [], 0


# ---------------------------------------------------------------- from one to another
def _peer(own, rank, group_rank, what):
    if group_rank is not None:
        return group_rank
    if rank is None:
        return None
    if rank == own.ranks[own.rank()]:
        raise ValueError(
            f"Invalid {what} rank: {what} rank should not be the same as the rank of the current "
            "process."
        )
    return own.ranks.index(rank)


def _between(name, own, pending, finish, nbytes=0):
    return Work(name, pending, own.transport, own.timeout.total_seconds(), finish, nbytes)


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Start to send ``tensor`` to process ``dst``; a ``Work``."""
    _check_tensor(tensor, "tensor")
    own = member(group)
    to = _peer(own, dst, group_dst, "destination")
    pending = own.transport.send(_flat(own, tensor), [to], tag)
    return _between("send", own, pending, lambda p: [tensor], tensor.nbytes)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Start to receive ``tensor`` from process ``src`` (None: from anybody); a ``Work``."""
    _check_tensor(tensor, "tensor")
    own = member(group)
    pending = own.transport.receive(_like(own, tensor), _peer(own, src, group_src, "source"), tag)

    def finish(done):
        _write(tensor, done.value())
        return own.ranks[done.source]

    return _between("recv", own, pending, finish, tensor.nbytes)


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Send ``tensor`` to process ``dst``."""
    isend(tensor, dst, group, tag, group_dst).wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receive ``tensor`` from process ``src`` (None: from anybody); the sender's number."""
    work = irecv(tensor, src, group, tag, group_src)
    work.wait()
    return work.source_rank()


class P2POp:
    """One ``isend`` or ``irecv`` of a batch."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.peer = op, tensor, peer
        self.group, self.tag, self.group_peer = group, tag, group_peer


def batch_isend_irecv(p2p_op_list):
    """Start all of them; a list of ``Work``."""
    return [p.op(p.tensor, p.peer, p.group, p.tag, p.group_peer) for p in p2p_op_list]


MONITOR = 16383


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A barrier whose error at rank 0 names who did not come (with ``wait_all_ranks``: all of
    them)."""
    own = member(group)
    limit = own.timeout if timeout is None else timeout
    token = xp.zeros(1, "u1")
    if own.rank() != 0:
        own.transport.send(token, [0], MONITOR)
        _wait(own, own.transport.receive(token, 0, MONITOR), limit)
        return
    late, end = [], time.monotonic() + limit.total_seconds()
    for rank in range(1, own.size()):
        left = timedelta(seconds=max(0.0, end - time.monotonic()))
        try:
            _wait(own, own.transport.receive(token, rank, MONITOR), left)
        except RuntimeError:
            late.append(str(rank))
            if not wait_all_ranks:
                break
    if late:
        word = "Ranks" if wait_all_ranks else "Rank"
        raise RuntimeError(
            f"[Rank 0]: {word} {', '.join(late)} failed to pass monitoredBarrier in "
            f"{limit.total_seconds() * 1000:.0f} ms"
        )
    own.transport.send(token, list(range(1, own.size())), MONITOR)


def _wait(own, pending, limit):
    seconds = limit.total_seconds()
    Work("recv", pending, own.transport, seconds, lambda p: []).wait()


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """``all_reduce`` of several tensors at once."""
    own = member(group)
    parts = [own.transport.reduce_all(_flat(own, t), op) for t in tensors]
    work = _between(
        "all_reduce_coalesced", own, Several(parts), lambda p: _fill(tensors, p.value())
    )
    return work if async_op else (work.wait(), None)[1]
