"""Saved tensors: how a node keeps what its derivative needs, and how that is read back.

A saved input is the tensor itself and its version at that time. A saved result is (array, version
cell, version), never a tensor, so that a node and its output are in no cycle. Behind
``saved_tensors_hooks`` either is a ``Packed``. A node that dropped them holds FREED.
"""

from __future__ import annotations

from . import dtypes
from .errors import advised
from .modes import force_grad_mode, local, persons_code, state
from .node import FREED, LEAF, Detached, Nowhere, OnView, Output, freed, new, shown_name


class Packed:
    """A saved value behind a user's pack and unpack hooks; ``edge`` is where its gradient goes."""

    __slots__ = ("edge", "packed", "unpack")
    _v = (float("nan"),)  # equals no version: whoever looks for a plain tensor asks read_array

    def __init__(self, packed, unpack, edge):
        state.onlookers = True
        self.packed = packed
        self.unpack = unpack
        self.edge = edge


def pack(tensor, edge, hooks=None):
    """Hand ``tensor`` to a pack hook (this thread's innermost one unless given)."""
    if local.saved_hooks_disabled is not None and hooks is None:
        raise RuntimeError(local.saved_hooks_disabled)
    pack_hook, unpack_hook = hooks or local.saved_hooks[-1]
    version = tensor._version
    with force_grad_mode(False):
        packed = pack_hook(tensor)
    if tensor._version != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to "
            "pack hook cannot be modified by in-place operations as this can lead to unexpected "
            "side-effects. Please open an issue if you need to perform in-place operations on the "
            "input to a pack hook."
        )
    return Packed(packed, unpack_hook, edge)


def unpack(packed):
    """The tensor that the user's unpack hook gives back, joined to the graph where it was."""
    from .tensor import Tensor

    with persons_code():
        found = packed.unpack(packed.packed)
    if not isinstance(found, Tensor):
        raise TypeError(
            "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
            f"{type(found).__name__}"
        )
    joined = new(Tensor)
    joined._a = found._a
    joined._v = found._v
    edge = packed.edge
    joined._g = Output(edge, 0) if edge is not None and edge._kind == 2 else edge
    return joined


def read_array(tensor, version):
    """The array of a saved input, its version checked."""
    __tracebackhide__ = True
    if tensor.__class__ is Packed:
        return unpack(tensor)._a
    cell = tensor._v
    if cell is not None and cell[0] != (version or 0):
        _complain(as_given(tensor)._a, _first_output(tensor), cell[0], version or 0)
    return tensor._a


def as_given(tensor):
    """What a person gave where ``tensor`` was converted from it by an operation."""
    return tensor.__dict__.get("_converted", tensor)


def _first_output(tensor):
    """The edge of a saved input as PyTorch's message tells it: always output 0 of its node."""
    g = tensor._g
    return g.node if g is not None and g is not LEAF and g._kind == 1 else g


def read_tensor(tensor, version):
    """The saved input itself, its version checked."""
    __tracebackhide__ = True
    if tensor.__class__ is Packed:
        return unpack(tensor)
    cell = tensor._v
    if cell is not None and cell[0] != (version or 0):
        _complain(as_given(tensor)._a, _first_output(tensor), cell[0], version or 0)
    return tensor


def read_kept(tensor, version):
    """An input that a user's Function saved: detached in place meanwhile it is still as it was."""
    __tracebackhide__ = True
    now = None if tensor._v is None else tensor._v[0]
    if now.__class__ is Detached and int(now) == int(version or 0):
        return tensor
    return read_tensor(tensor, version)


def check_output(tensor, version):
    """Its version, of an output that a user's Function saved."""
    __tracebackhide__ = True
    if tensor._v[0] != version:
        _complain(tensor._a, tensor._g, tensor._v[0], version)
    return tensor


def result_array(node):
    """The array of a saved result, its version checked."""
    __tracebackhide__ = True
    kept = node.r
    if kept.__class__ is tuple:
        if kept[0].__class__ is tuple:
            return tuple(_one_result(Output(node, k), *one) for k, one in enumerate(kept))
        array, cell, version = kept
        if cell[0] != version:
            _complain(array, node, cell[0], version)
        return array
    if kept is FREED:
        freed(node)
    if kept.__class__ is list:
        return tuple(
            unpack(one)._a if one.__class__ is Packed else _one_result(Output(node, k), *one)
            for k, one in enumerate(kept)
        )
    return unpack(kept)._a


def _one_result(edge, array, cell, version):
    if cell[0] != version:
        _complain(array, edge if array.dtype.kind in "fcV" else None, cell[0], version)
    return array


def result_tensor(node):
    """A saved result as a tensor whose ``grad_fn`` is ``node``."""

    kept = node.r
    if kept.__class__ is Packed:
        return unpack(kept)
    if kept.__class__ is list or kept is not FREED and kept[0].__class__ is tuple:
        return tuple(_output(node, k, one) for k, one in enumerate(kept))
    return with_tangent(_result(result_array(node), kept[1], node), node, 0)


def with_tangent(t, node, nr):
    """A saved output with the tangents that the output had."""
    if state.special and local.dual is not None:
        from .forward_mode import recall

        recall(t, node, nr)
    return t


def _output(node, k, kept):
    if kept.__class__ is Packed:
        return unpack(kept)
    edge = Output(node, k) if node.op.has_gradient(k) else None
    return with_tangent(_result(_one_result(Output(node, k), *kept), kept[1], edge), node, k)


def _result(array, cell, edge):
    from .tensor import Tensor

    t = new(Tensor)
    t._a = array
    t._v = cell
    t._g = edge if array.dtype.kind in "fcV" else None
    return t


def _complain(array, g, now, saved):
    if now.__class__ is Detached:
        if (g is None or g is LEAF) and saved.__class__ is not Detached:
            raise RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with "
                ".detach_().This is not supported, please use out-of-place `.detach()` instead"
            )
        if int(now) == int(saved):
            return
    __tracebackhide__ = True
    text = ""
    if g is not None and g is not LEAF and g.__class__ is not Nowhere:
        node, nr = (g.node, g.nr) if g._kind == 1 else (g, 0)
        on_view = getattr(node, "_meta", None)
        shown = on_view.node() if on_view.__class__ is OnView else None
        name = shown_name(shown or node)
        text = f", which is output {nr} of {name},"
    shape = "[" + ", ".join(map(str, array.shape)) + "]"
    message = (
        "one of the variables needed for gradient computation has been modified by an inplace "
        "operation: "
        f"[{dtypes.tensor_name(array)} {shape}]{text} is at version {now}; expected version "
        f"{saved} instead. "
        + (
            "Hint: the backtrace further above shows the operation that failed to compute its "
            "gradient. The variable in "
            "question was changed in there or anywhere later. Good luck!"
            if local.anomaly
            else "Hint: enable anomaly detection to find the operation that failed to compute its "
            "gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
    )
    raise advised(RuntimeError(message), "modified", shape=array.shape, now=now, saved=saved)


def check(node):
    """The errors of reading all that a recorded operation saved, for a node that has no gradient to
    compute with.
    """
    __tracebackhide__ = True
    if node.s is FREED or node.r is FREED:
        freed(node)
    names = () if node.op is None else node.op.saved_names
    by_name = sorted(range(len(names)), key=names.__getitem__)  # as PyTorch unpacks them
    for k in [2 * k for k in (*by_name, *range(len(names), len(node.s) // 2))]:
        if node.s and node.s[k] is not None:
            read_array(node.s[k], node.s[k + 1])
    if node.r is not None:
        result_array(node)


def release(node):
    """Drop what ``node`` saved; reading it afterwards raises the second-backward error."""
    if node.s:
        node.s = FREED
    if node.r is not None:
        node.r = FREED


def check_callables(name, hooks, owner=None):
    """TypeError unless a pack and an unpack hook were given to the function ``name``."""
    if len(hooks) != 2 or not all(map(callable, hooks)):
        self = "" if owner is None else "self: torch._C._autograd.SavedTensor, "
        given = ", ".join(map(repr, hooks if owner is None else (owner, *hooks)))
        raise TypeError(
            f"{name}(): incompatible function arguments. The following argument types are "
            f"supported:\n    1. ({self}arg0: collections.abc.Callable, arg1: "
            f"collections.abc.Callable) -> None\n\nInvoked with: {given}"
        )


def check_may_be_packed(gone, kept):
    """PyTorch's conditions for hooks on one saved tensor."""
    refused = "Calling register_hooks on a saved tensor "
    if gone:
        raise RuntimeError(
            f"{refused}after it has been freed. Saved intermediate values of the graph are freed "
            "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
            "to "
            "backward through the graph a second time or if you need to access saved variables "
            "after calling backward."
        )
    if kept is None:
        raise RuntimeError(f"{refused}with value None is forbidden")
    if kept.__class__ is Packed:
        raise RuntimeError(
            f"{refused}whose hooks have already been set. Hint: only one pair of hooks is allowed "
            "at a time."
        )
