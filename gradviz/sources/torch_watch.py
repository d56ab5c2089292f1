"""Watches PyTorch while a cell runs: what our engine tells its observer, told of PyTorch.

A ``TorchFunctionMode`` (``torch_mode``) hears the calls of PyTorch from Python. It lets each run as
it is, and is on PyTorch's stack only between ``begin`` and ``end``. It is taken off for what is
PyTorch's alone: modules of PyTorch, steps of optimizers, the clearing of gradients.
"""

from __future__ import annotations

import dis
import importlib
import sys
import time
import weakref
from contextlib import contextmanager
from functools import wraps

from gradviz.engine.node import serial
from gradviz.watch.places import user_chain

from . import reading, torch_mode, torch_tensors
from .budget import Budget
from .observer import Watcher, quiet
from .torch_import import Notice
from .torch_lines import lines
from .torch_mode import HOOKS, is_in_place, mode_class
from .torch_modules import is_closed
from .torch_nodes import (
    MOST,
    SPACE,
    WeakNode,
    WeakResult,
    is_custom,
    is_leaf_end,
    loaded,
    made_by,
    node_for,
    serial_of,
)

FAST = ("MultiheadAttention", "TransformerEncoderLayer", "TransformerEncoder")
MODULE_HOOKS = {
    "register_forward_pre_hook": "forward_pre",
    "register_forward_hook": "forward",
    "register_full_backward_pre_hook": "backward_pre",
    "register_full_backward_hook": "backward",
    "register_backward_hook": "backward",
}
LOOKS, SHARE, SAVED = 5, 0.01, 0.005
MEASURED = 2_000
ASKED = "_is_setup_context_defined"
OURS = frozenset((__file__, torch_mode.__file__, quiet.__code__.co_filename))

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
        self._budget = Budget(SHARE, SAVED)
        self._looks: dict[tuple, int] = {}
        self._known: dict[int, weakref.ref] = {}
        self._samples = False
        self._measuring: list = []
        self._core = self._next_number = None

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
        module, self._core = torch.nn.Module, torch._C
        self._next_number = torch._C._autograd._get_sequence_nr
        for name, kind in MODULE_HOOKS.items():
            self._replace(module, name, self._told_of(getattr(module, name), kind))
        for name in FAST:
            owner = getattr(torch.nn, name)
            self._replace(owner, "forward", self._unheard(owner.forward))
        self._replace(module, "__call__", self._called(module.__call__))
        for owner in (module, hooks.Optimizer):
            self._replace(owner, "zero_grad", self._silent(owner.zero_grad, self._cleared))
        block = torch.autograd.profiler.record_function
        for name in ("__enter__", "__exit__"):
            self._replace(block, name, self._silent(getattr(block, name)))
        functions = importlib.import_module("torch.autograd.function")
        if hasattr(functions, ASKED):
            self._replace(functions, ASKED, self._before_apply(getattr(functions, ASKED)))
        lines.skip(self._next_number())
        lines.tell = self._tell
        self.mode = mode_class()(self)
        self._join_stack()

    def end(self):
        """PyTorch is as it was."""
        self._notice.remove()
        if self.mode is None:
            return
        self._leave_stack()
        self._catch_up()
        for handle in self._handles:
            handle.remove()
        for owner, name, original in self._replaced:
            setattr(owner, name, original)
        self._replaced.clear()
        lines.tell = None
        self.mode, self._handles = None, []
        self._grads, self._leaves = {}, []
        self._looks.clear()
        self._known.clear()

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
    def made(self, result):
        """Nodes were made by the call that runs, and ``result`` came out."""
        lines.made(self._next_number(), self.watcher.note_at(_frame(2)))
        one = result[0] if result.__class__ in (tuple, list) and result else result
        if torch_tensors.is_tensor(one):
            self.watcher.ring.append(WeakResult(one))

    def _tell(self, mark, fn):
        self.watcher.ring.append(WeakNode(mark))
        if is_custom(fn):
            held = [v for v in vars(fn).values() if torch_tensors.is_tensor(v)]
            self.watcher.note_context(node_for(fn), [v for v in held if made_by(v) is fn])

    @quiet
    def unrecorded(self, name, args, result):
        """A result without a graph, of something that has one, while nothing is recorded."""
        torch = loaded()
        kept = [a for a in args if isinstance(a, torch.Tensor) and a.requires_grad]
        if kept and not torch.is_inference_mode_enabled():
            self.watcher.cut_at(*self._here(name), kept, result, "no_grad")

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
        closure = bool(args[1:] or kwargs)
        if closure:
            self._leave_stack()
        self._stepped(optimizer)
        self._join_stack()

    @quiet
    def _stepped(self, optimizer):
        note, entry = self._here("step")
        self._catch_up()
        for group in optimizer.param_groups:
            self.watcher.stepped(note, entry, [p for p in group["params"] if p.grad is not None])

    def _silent(self, original, after=None):
        """A function of PyTorch's, unheard; ``after`` is called with its arguments."""
        core = self._core

        @wraps(original)
        def call(*args, **kwargs):
            __tracebackhide__ = True
            if core._len_torch_function_stack() != 1:
                return original(*args, **kwargs)
            mode = core._pop_torch_function_stack()
            try:
                out = original(*args, **kwargs)
                if after is not None:
                    after(*args, *kwargs.values())
                return out
            finally:
                core._push_on_torch_function_stack(mode)

        return call

    @quiet
    def _cleared(self, owner, set_to_none=True):
        """Gradients that ``zero_grad`` has filled with zeros."""
        if set_to_none:
            return
        found = owner.parameters() if hasattr(owner, "parameters") else None
        if found is None:
            found = (p for group in owner.param_groups for p in group["params"])
        zeroed = [p.grad for p in found if p.grad is not None]
        note, entry = self._here("zero_grad") if zeroed else ((), "")
        for grad in zeroed:
            self.watcher.changed_at(note, "zero_grad", grad, 0, self._owner_of(grad))

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
        finally:
            for handle in self._measuring:
                handle.remove()
            self._measuring = []
        self._sweep_ended(leaves, out)
        return out

    @quiet
    def _sweep_begins(self, name, args, kwargs, settings):
        watcher = self.watcher
        self._catch_up()
        tensors = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
        given = tensors if isinstance(tensors, list | tuple) else [tensors]
        given = [one for one in given if reading.is_tensor(one)]
        create = bool(settings("create_graph", args, kwargs))
        keep = settings("retain_graph", args, kwargs)
        keep = create if keep is None else bool(keep)
        note, entry = self._here(name)
        watcher.settle_hooks()
        ids, ops = [], []
        for tensor in given:
            fn = made_by(tensor)
            ids.append(torch_tensors.leaf_id(tensor) if fn is None else serial_of(fn))
            ops.append(type(tensor).__name__ if fn is None else fn.name().removeprefix(SPACE))
        refs = [weakref.ref(t) if made_by(t) is None else WeakResult(t) for t in given]
        watcher.ledger.begin_sweep(
            serial(), note, entry, keep, create, tuple(ids), tuple(ops), tuple(refs),
            name == "backward",
        )  # fmt: skip
        self._samples = self._is_time(note[:2], *ops)
        if self._samples:
            started = time.perf_counter()
            roots = [reading.node_of(t) or t for t in given]
            watcher.ledger.current.root_refs = tuple(reading.weak(root) for root in roots)
            watcher.look_back(roots)
            if watcher.on_sweep is not None:
                watcher.on_sweep(roots)
            if name == "backward":
                self._meet(_leaves(roots))
            self._measure([root for root in roots if not reading.is_tensor(root)])
            self._budget.since(started)
        else:
            watcher.updates.compare()
        if name != "backward":
            return create
        held = ((id, leaf) for id, ref in self._known.items() if (leaf := ref()) is not None)
        return [(id, leaf, leaf._version, *_state(leaf.grad)) for id, leaf in held], create

    def _meet(self, leaves):
        """Whether these get a gradient is asked at each backward pass from now on."""
        self._known = {id: ref for id, ref in self._known.items() if ref() is not None}
        for leaf in leaves:
            self._known[torch_tensors.leaf_id(leaf)] = weakref.ref(leaf)

    def _measure(self, roots):
        """Measure what the coming pass sends along the edges, by hooks on the nodes."""
        if not self.watcher.flow.begin():
            return
        nodes, _, _ = reading.walk(roots, MEASURED)
        for node in nodes.values():
            self._measuring.append(node.fn.register_hook(self._measurer(node.mark)))

    def _measurer(self, mark):
        flow = self.watcher.flow

        def measure(sent, arrived):
            try:
                flow.left(mark, [torch_tensors.on_host(grad) for grad in sent])
            except Exception as error:
                self.errors.append(f"measure: {type(error).__name__}: {error}")

        return measure

    def _is_time(self, *site):
        """Whether to look at a graph: the first few of each line, and later now and then."""
        self._looks[site] = before = self._looks.get(site, 0) + 1
        return before <= LOOKS or bool(self.watcher.edits) or self._budget.has_some()

    @quiet
    def _sweep_ended(self, begun, out):
        leaves, create = begun if begun.__class__ is tuple else ((), begun)
        ledger = self.watcher.ledger
        self._grads, self._leaves = {}, []
        for number, leaf, version, *before in leaves:
            if leaf._version != version and leaf._post_accumulate_grad_hooks:
                self._changed_by_hook(leaf)
            after, at = _state(leaf.grad)
            if after is None or (after is before[0] and at == before[1]):
                continue
            self._leaves.append((weakref.ref(leaf), number))
            ledger.accumulated(number, before[0] is None)
            if self._samples:
                self.watcher.updates.sample(leaf)
            if create and after.grad_fn is not None:
                self.watcher.note_loop(leaf)
        self._catch_up()
        ledger.end_sweep()
        self.watcher.past.measured(self.watcher.flow.norms)

    def _changed_by_hook(self, leaf):
        """A leaf was written to while backward ran; PyTorch does not say by whom, the hooks on it
        are asked by their code.
        """
        for hook in leaf._post_accumulate_grad_hooks.values():
            at = _writing(getattr(hook, "__code__", None))
            if at is not None:
                self.watcher.changed_at((hook.__code__, at, ()), "", leaf)

    # -- requests --------------------------------------------------------------------------------
    @quiet
    def asked(self, name, args, handle):
        """A hook was put on a tensor, or its gradient asked for."""
        tensor = args[0]
        self._catch_up()
        note, entry = self._here(name)
        node = reading.node_of(tensor)
        if name == "retain_grad":
            subject = reading.leaf_id(tensor) if node is None else node.seq
            self.watcher.ledger.add("retain", subject, note, entry)
        elif len(args) > 1:
            self.watcher.hooked_at(note, node or tensor, HOOKS[name], args[1], handle.id, handle)

    def _replace(self, owner, name, other):
        """``owner`` has another method until the end."""
        self._replaced.append((owner, name, owner.__dict__[name]))
        setattr(owner, name, other)

    def _unheard(self, original):
        """A ``forward`` that goes a faster way, with other last digits, where nobody hears its
        calls: so nobody does there.
        """

        @wraps(original)
        def forward(module, *args, **kwargs):
            __tracebackhide__ = True
            recording = loaded().is_grad_enabled()
            if module.training or (recording and any(p.requires_grad for p in module.parameters())):
                return original(module, *args, **kwargs)
            with self._paused():
                return original(module, *args, **kwargs)

        return forward

    def _called(self, original):
        """The call of a module; unheard where all inside is PyTorch's own."""
        core = self._core

        @wraps(original)
        def call(module, *args, **kwargs):
            __tracebackhide__ = True
            if core._len_torch_function_stack() != 1 or not is_closed(module):
                return original(module, *args, **kwargs)
            mode = core._pop_torch_function_stack()
            try:
                out = original(module, *args, **kwargs)
            finally:
                core._push_on_torch_function_stack(mode)
            if mode is self.mode:
                self._left(module, args, out)
            return out

        return call

    def _left(self, module, args, out):
        if self._next_number() != lines.end:
            self.made(out)
        elif not loaded().is_grad_enabled():
            weights = [p for p in module.parameters() if p.requires_grad]
            self.unrecorded(type(module).__name__, (*args, *weights), out)

    def _before_apply(self, original):
        """What ``apply`` of custom functions, which no mode hears, asks before it begins."""

        @wraps(original)
        def ask(*args):
            if self._core._len_torch_function_stack():
                self._expect()
            return original(*args)

        return ask

    @quiet
    def _expect(self):
        lines.expect(self._next_number(), self.watcher.note_at(_frame(2)))

    def _catch_up(self):
        """Nodes that were made unheard belong to the line that runs."""
        if self._next_number() != lines.end:
            lines.made(self._next_number(), self.watcher.note_at(_frame(2)))

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


def _state(grad):
    """A gradient and how often it was changed."""
    return grad, None if grad is None or grad.is_inference() else grad._version


def _leaves(roots):
    """The leaves that gradients of ``roots`` arrive at."""
    found = [root for root in roots if reading.is_tensor(root)]
    pending, seen = [root.fn for root in roots if not reading.is_tensor(root)], set()
    while pending and len(seen) < MOST:
        for below, _ in pending.pop().next_functions:
            if below is None or id(below) in seen:
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
        if one.opname in ("LOAD_METHOD", "LOAD_ATTR") and is_in_place(str(one.argval)):
            return one.offset
    return None
