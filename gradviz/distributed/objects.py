"""Plain data between processes: numbers, text, lists, tuples, dicts and tensors.

Nothing is pickled, so that what arrives can never run; other objects raise TypeError.
"""

from __future__ import annotations

import io

from ..backend import xp
from ..engine.dispatch import wrap
from ..serialization import load, save
from .collectives import all_gather, broadcast, scatter
from .group import get_rank, get_world_size, member


def _packed(value):
    stream = io.BytesIO()
    save(value, stream)
    return xp.frombuffer(stream.getvalue(), "u1")


def _unpacked(array):
    return load(io.BytesIO(array.tobytes()))


def _padded(array, size):
    out = xp.zeros(size, "u1")
    out[: array.size] = array
    return wrap(out)


def all_gather_object(object_list, obj, group=None):
    """Fill ``object_list`` with the objects of all processes."""
    if member(group) is None:
        return
    found = _gathered(obj, group)
    object_list[: len(found)] = found


def _gathered(obj, group):
    count, own = get_world_size(group), _packed(obj)
    sizes = [wrap(xp.zeros(1, "i8")) for _ in range(count)]
    all_gather(sizes, wrap(xp.array([own.size], "i8")), group)
    largest = max(t.item() for t in sizes)
    parts = [wrap(xp.zeros(largest, "u1")) for _ in range(count)]
    all_gather(parts, _padded(own, largest), group)
    return [_unpacked(p._a[: n.item()]) for p, n in zip(parts, sizes, strict=True)]


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    """``all_gather_object`` of which only process ``dst`` keeps the result."""
    if member(group) is None:
        return
    found = _gathered(obj, group)
    if get_rank() == dst:
        object_gather_list[: len(found)] = found


def broadcast_object_list(object_list, src=0, group=None, device=None):
    """``object_list`` becomes that of process ``src``, everywhere."""
    if member(group) is None:
        return
    own = _packed(list(object_list) if get_rank() == src else [])
    size = wrap(xp.array([own.size], "i8"))
    broadcast(size, src, group)
    data = _padded(own, size.item()) if get_rank() == src else wrap(xp.zeros(size.item(), "u1"))
    broadcast(data, src, group)
    object_list[:] = _unpacked(data._a)


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=0, group=None
):
    """The first entry of the output becomes this process's entry of the list at ``src``."""
    if member(group) is None:
        return
    sending = get_rank() == src
    packed = [_packed(x) for x in scatter_object_input_list] if sending else []
    size = wrap(xp.array([max((p.size for p in packed), default=0)], "i8"))
    broadcast(size, src, group)
    found, length = wrap(xp.zeros(size.item(), "u1")), wrap(xp.zeros(1, "i8"))
    scatter(found, [_padded(p, size.item()) for p in packed] or None, src, group)
    scatter(length, [wrap(xp.array([p.size], "i8")) for p in packed] or None, src, group)
    scatter_object_output_list[0] = _unpacked(found._a[: length.item()])
