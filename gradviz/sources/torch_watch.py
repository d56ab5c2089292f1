"""Watches PyTorch while a cell runs: what our engine tells its observer, told of PyTorch.

A ``TorchFunctionMode`` hears every call of PyTorch from Python. It lets each call run as it is,
looks at what came out, and is on PyTorch's stack only between ``begin`` and ``end``.
"""

from __future__ import annotations

import dis
import importlib
import sys
import time
import weakref
from contextlib import contextmanager
from functools import cache, partial, wraps

from gradviz.engine.node import serial
from gradviz.watch.places import user_chain

from . import reading, torch_tensors
from .observer import Watcher, quiet
from .torch_import import Notice
from .torch_nodes import (
    KEY,
    MOST,
    Mark,
    WeakNode,
    is_custom,
    is_leaf_end,
    loaded,
    made_by,
    node_for,
)

CUTS = {
    "detach": "detach",
    "item": "item",
    "__float__": "item",
    "__int__": "item",
    "__complex__": "item",
    "numpy": "numpy",
    "__array__": "numpy",
}
CASTS = frozenset("to type type_as long int short char byte bool".split())
HOOKS = {"register_hook": "tensor", "register_post_accumulate_grad_hook": "post_accumulate"}
FAST = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerEncoder")
MODULE_HOOKS = {
    "register_forward_pre_hook": "forward_pre",
    "register_forward_hook": "forward",
    "register_full_backward_pre_hook": "backward_pre",
    "register_full_backward_hook": "backward",
    "register_backward_hook": "backward",
}
NOT_IN_PLACE = frozenset("requires_grad_ share_memory_ detach_ rename_".split())
LEAVES = 100_000
OURS = frozenset((__file__, quiet.__code__.co_filename))

_frame = sys._getframe


class TorchWatcher:
    """Tells ``watcher`` of what PyTorch does. ``errors`` of ours go to the watcher's list."""

    def __init__(self, watcher: Watcher):
        self.watcher = watcher
        self.errors = watcher.errors
        self.mode = None
        self._notice = Notice(self.begin)
        self._handles: list = []
        self._replaced: list = []
        self._grads: dict[int, int] = {}
        self._leaves: list = []
        self._samples = False

    # -- beginning and ending ------------------------------------------------------------
    @quiet
    def begin(self):
        """Watch from now on, or from when the program imports PyTorch."""
        torch = loaded()
        if torch is None:
            self._notice.install()
        if torch is None or self.mode is not None:
            return
        hooks = importlib.import_module("torch.optim.optimizer")
        self._handles = [
            hooks.register_optimizer_step_pre_hook(self._step_begins),
            hooks.register_optimizer_step_post_hook(self._step_ended),
        ]
        for name, kind in MODULE_HOOKS.items():
            self._replace(
                torch.nn.Module, name, self._told_of(getattr(torch.nn.Module, name), kind)
            )
        for name in FAST:
            owner = getattr(torch.nn, name)
            self._replace(owner, "forward", self._unheard(owner.forward))
        self.mode = _mode_class()(self)
        self._join_stack()

    def end(self):
        """PyTorch is as it was."""
        self._notice.remove()
        if self.mode is None:
            return
        self._leave_stack()
        for handle in self._handles:
            handle.remove()
        for owner, name, original in self._replaced:
            setattr(owner, name, original)
        self._replaced.clear()
        self.mode, self._handles = None, []
        self._grads, self._leaves = {}, []

    def _join_stack(self):
        """Put the mode below those of the program, which come and go at the top."""
        core, above = loaded()._C, []
        while core._len_torch_function_stack():
            above.append(core._pop_torch_function_stack())
        for one in (self.mode, *reversed(above)):
            core._push_on_torch_function_stack(one)

    def _leave_stack(self):
        """Take the mode off again; whether it was there."""
        core, above = loaded()._C, []
        while core._len_torch_function_stack():
            above.append(core._pop_torch_function_stack())
        others = [one for one in reversed(above) if one is not self.mode]
        for one in others:
            core._push_on_torch_function_stack(one)
        return len(others) < len(above)

    def _here(self, name):
        """The person's lines that are running, and what they have called."""
        frame = _frame(1)
        while frame.f_code.co_filename in OURS:
            frame = frame.f_back
        note, entry = user_chain(frame, self.watcher.files)
        return note, entry or name

    # -- results -----------------------------------------------------------------------------
    @quiet
    def made(self, tensor, fn):
        """``fn`` was recorded, and ``tensor`` is its result."""
        if Mark.alive >= MOST:
            return
        node = node_for(fn, self.watcher.note_at(_frame(2)), self._tell)
        node.mark.made = weakref.ref(tensor)

    def _tell(self, mark, fn):
        self.watcher.ring.append(WeakNode(mark))
        if is_custom(fn):
            held = [v for v in vars(fn).values() if torch_tensors.is_tensor(v)]
            self.watcher.note_context(node_for(fn), [v for v in held if made_by(v) is fn])

    @quiet
    def unrecorded(self, func, args, result):
        """A result without a graph, of something that has one, while nothing is recorded."""
        torch = loaded()
        kept = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        if kept and not torch.is_inference_mode_enabled():
            self.watcher.cut_at(*self._here(func.__name__), kept, result, "no_grad")

    @quiet
    def cut(self, how, source, result):
        """The path from ``source`` ends here."""
        self.watcher.cut_at(*self._here(how), source, result, how)

    # -- changes in place ----------------------------------------------------------------------
    @quiet
    def changed(self, name, tensors, before):
        """``tensors`` were changed in place; ``before``: serials of the nodes that made them."""
        note, entry = self._here(name)
        for tensor, seq in zip(tensors, before, strict=False):
            self.watcher.changed_at(note, entry, tensor, seq, self._owner_of(tensor))

    def _owner_of(self, grad):
        """The leaf whose gradient ``grad`` is, of those that backward has reached lately."""
        if not self._grads:
            held = ((leaf(), id) for leaf, id in self._leaves)
            pairs = [(leaf.grad, id) for leaf, id in held if leaf is not None]
            self._grads = {torch_tensors.leaf_id(g): id for g, id in pairs if g is not None}
        return self._grads.get(torch_tensors.leaf_id(grad)) if self._grads else None

    def _step_begins(self, optimizer, args, kwargs):
        """What an optimizer does inside is its own; a closure is the program's."""
        if not args[1:] and not kwargs:
            self._leave_stack()

    def _step_ended(self, optimizer, args, kwargs):
        with self._paused():
            self._stepped(optimizer)
        if not args[1:] and not kwargs:
            self._join_stack()

    @quiet
    def _stepped(self, optimizer):
        note, entry = self._here("step")
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self.watcher.changed_at(note, entry, parameter)

    # -- backward passes ------------------------------------------------------------------------
    def sweep(self, func, args, kwargs, settings):
        """Run a backward pass and enter it in the ledger."""
        __tracebackhide__ = True
        leaves = self._sweep_begins(func.__name__, args, kwargs, settings)
        try:
            out = func(*args, **kwargs)
        except BaseException as error:
            self.watcher.ledger.end_sweep(error)
            raise
        self._sweep_ended(leaves, out)
        return out

    @quiet
    def _sweep_begins(self, name, args, kwargs, settings):
        watcher = self.watcher
        tensors = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
        given = tensors if isinstance(tensors, list | tuple) else [tensors]
        roots = [reading.node_of(t) or t for t in given if reading.is_tensor(t)]
        ids = tuple(reading.leaf_id(r) if reading.is_tensor(r) else r.seq for r in roots)
        refs = tuple(reading.weak(root) for root in roots)
        ops = tuple(reading.class_name(root) for root in roots)
        create = bool(settings("create_graph", args, kwargs))
        keep = settings("retain_graph", args, kwargs)
        keep = create if keep is None else bool(keep)
        note, entry = self._here(name)
        watcher.settle_hooks()
        started = time.perf_counter()
        watcher.look_back(roots)
        watcher.flow.spend(time.perf_counter() - started)
        self._samples = watcher.flow.begin()
        watcher.ledger.begin_sweep(
            serial(), note, entry, keep, create, ids, ops, refs, name == "backward"
        )
        if watcher.on_sweep is not None:
            watcher.on_sweep(roots)
        if name != "backward":
            return create
        return [(leaf, leaf.grad, leaf._version) for leaf in _leaves(roots)], create

    @quiet
    def _sweep_ended(self, begun, out):
        leaves, create = begun if begun.__class__ is tuple else ((), begun)
        ledger = self.watcher.ledger
        self._grads, self._leaves = {}, []
        for leaf, before, version in leaves:
            if leaf._version != version and leaf._post_accumulate_grad_hooks:
                self._changed_by_hook(leaf)
            after = leaf.grad
            if after is None:
                continue
            number = torch_tensors.leaf_id(leaf)
            self._leaves.append((weakref.ref(leaf), number))
            ledger.accumulated(number, before is None)
            if self._samples:
                started = time.perf_counter()
                self.watcher.updates.sample(leaf)
                self.watcher.flow.spend(time.perf_counter() - started)
            if create and after.grad_fn is not None:
                self._note_graph(after)
                self.watcher.note_loop(leaf)
        if create:
            for tensor in out if isinstance(out, tuple) else ():
                if tensor is not None and tensor.grad_fn is not None:
                    self._note_graph(tensor)
        ledger.end_sweep()

    def _changed_by_hook(self, leaf):
        """A leaf was written to while backward ran; PyTorch does not say by whom, the hooks on it
        are asked by their code.
        """
        for hook in leaf._post_accumulate_grad_hooks.values():
            at = _writing(getattr(hook, "__code__", None))
            if at is not None:
                self.watcher.changed_at((hook.__code__, at, ()), "", leaf)

    def _note_graph(self, tensor):
        fn = made_by(tensor)
        if fn is not None and KEY not in fn.metadata:
            self.made(tensor, fn)

    # -- requests --------------------------------------------------------------------------------
    @quiet
    def asked(self, name, args, handle):
        """A hook was put on a tensor, or its gradient asked for."""
        tensor = args[0]
        note, entry = self._here(name)
        node = reading.node_of(tensor)
        if name == "retain_grad":
            subject = reading.leaf_id(tensor) if node is None else node.seq
            self.watcher.ledger.add("retain", subject, note, entry)
        elif len(args) > 1:
            self.watcher.hooked_at(note, node or tensor, HOOKS[name], args[1], handle.id, handle)

    def _replace(self, owner, name, other):
        """``owner`` has another method until the end."""
        self._replaced.append((owner, name, getattr(owner, name)))
        setattr(owner, name, other)

    def _unheard(self, original):
        """A ``forward`` that goes a faster way, with other last digits, where nobody hears its
        calls: so nobody does there.
        """

        @wraps(original)
        def forward(module, *args, **kwargs):
            recording = loaded().is_grad_enabled()
            if module.training or (recording and any(p.requires_grad for p in module.parameters())):
                return original(module, *args, **kwargs)
            with self._paused():
                return original(module, *args, **kwargs)

        return forward

    @contextmanager
    def _paused(self):
        left = self._leave_stack()
        try:
            yield
        finally:
            if left:
                self._join_stack()

    def _told_of(self, original, kind):
        """A method of modules that registers a hook, as it is, and we hear of it."""

        @wraps(original)
        def register(module, hook, *args, **kwargs):
            handle = original(module, hook, *args, **kwargs)
            self._registered(module, kind, hook, handle)
            return handle

        return register

    @quiet
    def _registered(self, module, kind, hook, handle):
        note, _ = self._here("")
        self.watcher.hooked_at(note, module, kind, hook, handle.id, handle)


def _leaves(roots):
    """The leaves that gradients of ``roots`` arrive at."""
    found = [root for root in roots if reading.is_tensor(root)]
    pending, seen = [root.fn for root in roots if not reading.is_tensor(root)], set()
    while pending and len(seen) < LEAVES:
        for below, _ in pending.pop().next_functions:
            if below is None or id(below) in seen:
                continue
            if Mark.alive >= MOST and not is_leaf_end(below) and KEY not in below.metadata:
                continue
            seen.add(id(below))
            if is_leaf_end(below):
                found.append(below.variable)
            else:
                pending.append(below)
    return found


def _writing(code):
    """The first instruction of ``code`` that looks up a method which writes in place."""
    for one in dis.get_instructions(code) if code is not None else ():
        if one.opname in ("LOAD_METHOD", "LOAD_ATTR") and _is_in_place(str(one.argval)):
            return one.offset
    return None


def _setting(places):
    """How to find the options of a function: by name, or by place."""

    def read(name, args, kwargs):
        place = places[name]
        return kwargs.get(name, args[place] if len(args) > place else None)

    return read


@cache
def _mode_class():
    """The class of the mode; made when PyTorch is there."""
    torch = loaded()
    tensor_classes = frozenset((torch.Tensor, torch.nn.Parameter))
    data = torch.Tensor.data
    accessor = type(torch.Tensor.data.__get__)
    backward = _setting({"retain_graph": 2, "create_graph": 3})
    sweeps = {
        torch.Tensor.backward: backward,
        torch.autograd.backward: backward,
        torch.autograd.grad: _setting({"retain_graph": 3, "create_graph": 4}),
    }

    class Watching(torch.overrides.TorchFunctionMode):
        """Hears of every call. What is raised in a call passes through."""

        def __init__(self, watcher):
            super().__init__()
            self.watcher = watcher
            self.ways: dict = {}

        def __torch_function__(self, func, types, args=(), kwargs=None):
            __tracebackhide__ = True
            if func.__class__ is accessor:
                out = func(*args)
                if func.__self__ is data and func.__name__ == "__get__":
                    self.watcher.cut("data", args[0], out)
                return out
            way = self.ways.get(func, self)
            if way is self:
                way = self.ways[func] = self.way_of(func)
            if way is not None:
                return way(func, args, kwargs or {})
            out = func(*args, **kwargs) if kwargs else func(*args)
            self.look(func, args, out)
            return out

        def look(self, func, args, out):
            """Take note of a result."""
            if out.__class__ in tensor_classes:
                fn = out.grad_fn
                if fn is not None:
                    self.watcher.made(out, fn)
                elif not torch.is_grad_enabled():
                    self.watcher.unrecorded(func, args, out)
            elif out.__class__ in (tuple, list):
                for one in out:
                    if one.__class__ is torch.Tensor and one.grad_fn is not None:
                        self.watcher.made(one, one.grad_fn)

        def way_of(self, func):
            """What to do with a function that is more than an operation."""
            name = getattr(func, "__name__", "")
            if func in sweeps:
                settings = sweeps[func]
                return partial(self.watcher.sweep, settings=settings)
            if name in CUTS:
                return self.cut
            if name in CASTS:
                return self.cast
            if name in HOOKS or name == "retain_grad":
                return self.ask
            if name == "__setitem__" or _is_in_place(name):
                return self.change
            if name == "batch_norm":
                return self.normalise
            return None

        def cut(self, func, args, kwargs):
            __tracebackhide__ = True
            out = func(*args, **kwargs)
            self.watcher.cut(CUTS[func.__name__], args[0], out)
            return out

        def cast(self, func, args, kwargs):
            __tracebackhide__ = True
            out = func(*args, **kwargs)
            if out.__class__ is torch.Tensor and args[0].requires_grad and not out.requires_grad:
                if not (out.is_floating_point() or out.is_complex()):
                    self.watcher.cut("integer", args[0], out)
            self.look(func, args, out)
            return out

        def ask(self, func, args, kwargs):
            __tracebackhide__ = True
            out = func(*args, **kwargs)
            self.watcher.asked(func.__name__, (*args, *kwargs.values()), out)
            return out

        def change(self, func, args, kwargs):
            __tracebackhide__ = True
            target = args[0] if args else next(iter(kwargs.values()), None)
            targets = target if isinstance(target, list | tuple) else [target]
            targets = [one for one in targets if isinstance(one, torch.Tensor)]
            recording = torch.is_grad_enabled() and func.__name__ != "__setitem__"
            before = [_maker(one) if recording else 0 for one in targets]
            out = func(*args, **kwargs)
            for one in targets:
                fn = made_by(one)
                if fn is not None and KEY not in fn.metadata:
                    self.watcher.made(one, fn)
            name = "setitem" if func.__name__ == "__setitem__" else func.__name__
            self.watcher.changed(name, targets, before)
            return out

        def normalise(self, func, args, kwargs):
            __tracebackhide__ = True
            """Batch normalisation writes its running statistics."""
            kept = [kwargs.get(name, args[at] if len(args) > at else None) for name, at in RUNNING]
            kept = [one for one in kept if one is not None]
            before = [one._version for one in kept]
            out = func(*args, **kwargs)
            self.look(func, args, out)
            written = [one for one, at in zip(kept, before, strict=True) if one._version != at]
            if written:
                self.watcher.changed("batch_norm", written, [0] * len(written))
            return out

    return Watching


RUNNING = (("running_mean", 1), ("running_var", 2))


def _is_in_place(name):
    return name.endswith("_") and not name.endswith("__") and name not in NOT_IN_PLACE


def _maker(tensor):
    """The serial of the node that made ``tensor``, 0 for one that was not recorded."""
    fn = made_by(tensor)
    mark = None if fn is None else fn.metadata.get(KEY)
    return 0 if mark is None else mark.seq
