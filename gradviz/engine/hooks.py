"""Hooks: on tensors (as their gradient arrives), on nodes (before and after they run), on leaves
(after accumulation).
"""

from __future__ import annotations

import weakref
from collections import OrderedDict

from .events import door
from .modes import state


class RemovableHandle:
    """What a ``register_*`` call returns: ``remove()`` takes the hook of this ``id`` out of
    ``hooks_dict``, and out of one or several ``extra_dict``; usable with ``with``. TypeError for
    tables that cannot be referenced weakly: a plain dict.
    """

    __slots__ = ("__dict__", "__weakref__", "_kind", "_owner")
    __module__ = "gradviz.utils.hooks"
    next_id = 0

    def __init__(self, hooks_dict, *, extra_dict=None):
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(x) for x in extra if x is not None)
        self._kind, self._owner = "", None

    def remove(self):
        """Remove the hook; a second call does nothing."""
        table = self.hooks_dict_ref()
        hook = None if table is None else table.pop(self.id, None)
        for ref in self.extra_dict_ref:
            extra = ref()
            if extra is not None:
                extra.pop(self.id, None)
        if hook is not None and door.observer is not None and self._owner is not None:
            door.observer.hook_removed(self._owner(), self._kind, hook)

    def __getstate__(self):
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, state):
        table, self.id, extra = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if table is None else table)
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if x is None else x) for x in extra)
        self._kind, self._owner = "", None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


ANY = "any"


class Hooks:
    """All hooks of one node or one leaf. ``tensor`` and ``retain`` are by output number (0 for a
    leaf). ``grad_dtype``: of a leaf's gradient where it is not the leaf's own, or ANY. ``joined``:
    the edge where further hooks of a result go, if that is not the one that it has now.
    """

    __slots__ = (
        "grad_dtype",
        "joined",
        "post",
        "post_accumulate",
        "pre",
        "retain",
        "retains",
        "tensor",
    )

    def __init__(self):
        state.onlookers = True
        self.pre = self.post = self.post_accumulate = None
        self.tensor = self.retain = self.grad_dtype = self.joined = None
        self.retains = False

    def table(self, kind):
        found = getattr(self, kind)
        if found is None:
            found = OrderedDict()
            setattr(self, kind, found)
        return found

    def tensor_table(self, nr):
        if self.tensor is None:
            self.tensor = {}
        return self.tensor.setdefault(nr, OrderedDict())


def _hooks_of(holder, slot):
    found = getattr(holder, slot)
    if found is None:
        found = Hooks()
        setattr(holder, slot, found)
    return found


def ensure_hooks(leaf):
    """The place for hooks of ``leaf``; sweeps look closely at a leaf that has one."""
    return _hooks_of(leaf, "_hooks")


def register(owner, table, kind, hook, *, extra=None, prepend=False):
    """Put ``hook`` into ``table``, first or last; returns its handle. ``owner``: whose hook it is,
    None for one of all modules or optimizers.
    """
    handle = RemovableHandle(table, extra_dict=extra)
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    if owner is not None:
        handle._kind, handle._owner = kind, weakref.ref(owner)
        if door.observer is not None:
            door.observer.hook_added(owner, kind, hook, handle.id)
    return handle


def add_node_hook(node, kind, hook):
    """Put a ``pre`` or ``post`` hook on a node."""
    return register(node, _hooks_of(node, "hooks").table(kind), kind, hook)


def add_accumulator_hook(acc, kind, hook):
    """Hooks of AccumulateGrad live with the leaf, since the accumulator itself is made on
    demand.
    """
    return register(acc, _hooks_of(acc.variable, "_hooks").table(kind), kind, hook)


def _has_table(g):
    """Whether the node of a result has tensor hooks already: a further hook joins them, even if
    the result is a view that has another node by now.
    """
    node, nr = (g.node, g.nr) if g._kind == 1 else (g, 0)
    return node.hooks is not None and node.hooks.tensor is not None and nr in node.hooks.tensor


def _hooked_edge(tensor):
    from .tensor import edge_now

    joined = None if tensor._hooks is None else tensor._hooks.joined
    return edge_now(tensor) if joined is None else joined


def let_join(tensor, before):
    """A result changed its sizes in place: hooks that it gets from now on join those of the edge
    ``before``, if there are any, as PyTorch has it.
    """
    from .tensor import is_result

    hooks = tensor._hooks
    if (hooks is None or hooks.joined is None) and is_result(before) and _has_table(before):
        _hooks_of(tensor, "_hooks").joined = before


def forget_joined(tensor):
    """A result was written: its hooks are from now on those of its new node."""
    if tensor._hooks is not None:
        tensor._hooks.joined = None


def add_tensor_hook(tensor, hook):
    """``Tensor.register_hook``: on the producing node for a result, on the tensor for a leaf."""
    from .node import LEAF, Nowhere
    from .tensor import is_result

    g = _hooked_edge(tensor)
    if not (is_result(g) and _has_table(g)):
        g = tensor._g
    if g is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if g is LEAF or g.__class__ is Nowhere:
        return register(tensor, _hooks_of(tensor, "_hooks").tensor_table(0), "tensor", hook)
    node, nr = (g.node, g.nr) if g._kind == 1 else (g, 0)
    return register(tensor, _hooks_of(node, "hooks").tensor_table(nr), "tensor", hook)


def set_tensor_table(leaf, table):
    """``table`` holds the tensor hooks of ``leaf`` from now on."""
    hooks = _hooks_of(leaf, "_hooks")
    hooks.tensor = {0: table}


def add_post_accumulate_hook(tensor, hook):
    """``Tensor.register_post_accumulate_grad_hook``: leaves only."""
    from .node import LEAF

    if tensor._g is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor._g is not LEAF:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return register(
        tensor, _hooks_of(tensor, "_hooks").table("post_accumulate"), "post_accumulate", hook
    )


def set_retain(tensor):
    """Remember, weakly, that the gradient of this result is to be kept."""
    g = tensor._g
    node, nr = (g.node, g.nr) if g._kind == 1 else (g, 0)
    hooks = _hooks_of(node, "hooks")
    if hooks.retain is None:
        hooks.retain = {}
    hooks.retain[nr] = weakref.ref(tensor)
    _hooks_of(tensor, "_hooks").retains = True


def move_retain(tensor, old, fresh):
    """After an in-place operation the gradient is kept at the new node, as PyTorch does."""
    node, nr = (old.node, old.nr) if old._kind == 1 else (old, 0)
    hooks = node.hooks
    if hooks is None or not hooks.retain or nr not in hooks.retain:
        return
    if hooks.retain[nr]() is tensor:
        del hooks.retain[nr]
        node, nr = (fresh.node, fresh.nr) if fresh._kind == 1 else (fresh, 0)
        new_hooks = _hooks_of(node, "hooks")
        new_hooks.retain = (new_hooks.retain or {}) | {nr: weakref.ref(tensor)}


def keep_tensor_hooks(tensor):
    """A result becomes a leaf: its tensor hooks are from now on those of the leaf."""
    g = tensor._g
    node, nr = (g.node, g.nr) if getattr(g, "_kind", None) == 1 else (g, 0)
    found = getattr(node, "hooks", None)
    if found is not None and found.tensor and nr in found.tensor:
        _hooks_of(tensor, "_hooks").tensor = {0: found.tensor[nr]}


def tensor_table(tensor):
    """The tensor hooks of a leaf or result, or None."""
    from .tensor import is_result

    g = _hooked_edge(tensor)
    result = is_result(g)
    node, nr = (g.node, g.nr) if result and g._kind == 1 else (g, 0)
    found = node.hooks if result else tensor._hooks
    return None if found is None or found.tensor is None else found.tensor.get(nr)


def join_table(node, tensor):
    """The hooks of ``tensor``, those of now and later ones, also run before ``node``."""
    table, nr = tensor_table(tensor), tensor.output_nr
    if table is None:
        return

    def joined(grads):
        out = list(grads)
        for hook in list(table.values()):
            told = hook(out[nr])
            out[nr] = out[nr] if told is None else told
        return tuple(out)

    node.register_prehook(joined)


def gradient_dtype(leaf):
    """The NumPy dtype that ``.grad`` of this leaf takes, None where any is allowed."""
    wanted = None if leaf._hooks is None else leaf._hooks.grad_dtype
    return leaf._a.dtype if wanted is None else None if wanted is ANY else wanted


def set_gradient_dtype(leaf, np_dtype):
    """Choose it; None allows any."""
    own = np_dtype == leaf._a.dtype
    if leaf._hooks is not None or not own:
        wanted = ANY if np_dtype is None else None if own else np_dtype
        _hooks_of(leaf, "_hooks").grad_dtype = wanted


def is_retained(tensor):
    """Whether ``retain_grad`` was asked of this result; it stays so whatever becomes of it."""
    hooks = tensor._hooks
    return hooks is not None and hooks.retains
