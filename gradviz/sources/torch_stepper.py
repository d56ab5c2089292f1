"""PyTorch's own backward pass, one node at a time.

The pass runs in a thread of its own, once, as ``backward`` runs it. A hook before each node waits
there until the next step is asked for; PyTorch calls the hooks of the program where it always does.
"""

from __future__ import annotations

import sys
import threading
from functools import partial

from gradviz.engine import events
from gradviz.engine.node import serial
from gradviz.texts.formulas import told
from gradviz.watch.places import user_chain
from gradviz.watch.recording import (
    ABORTED,
    FAILED,
    FINISHED,
    Added,
    Freed,
    Recording,
    Sent,
    Step,
)

from . import reading
from .observer import hook_name
from .stepping import MOST, Stepping
from .torch_nodes import WeakNode, is_leaf_end, loaded


class _Stopped(Exception):
    """Raised in the pass, to end it."""


class TorchStepper(Stepping):
    """A paused ``backward()`` of a ``tensor`` of PyTorch.

    Raises what ``backward`` raises before its first node; ValueError for more than 2,000 nodes.
    ``abort`` puts gradients back; what has run has let go of what it saved, as in ``backward``,
    unless ``retain_graph``. Of gradients on other devices only shapes are told.
    """

    def __init__(self, tensor, gradient=None, retain_graph=False):
        root = reading.node_of(tensor)
        nodes, leaves, whole = reading.walk([] if root is None else [root], MOST)
        if not whole:
            raise ValueError(f"more than {MOST} nodes")
        order = sorted(nodes.values(), key=lambda node: -node.fn._sequence_nr())
        super().__init__(
            Recording(
                roots=[reading.leaf_id(tensor) if root is None else root.seq],
                plan=[node.seq for node in order],
                kept=bool(retain_graph),
            )
        )
        self._root = reading.class_name(root) if root is not None else ""
        self._leaves = leaves or {reading.leaf_id(tensor): tensor}
        self._before = {id: _copy(leaf.grad) for id, leaf in self._leaves.items()}
        self._fresh: list[tuple] = []
        self._error: BaseException | None = None
        self._stopping = self._ended = False
        self._go, self._here = threading.Semaphore(0), threading.Semaphore(0)
        self._handles: list = []
        self._leaf_ids: set[int] = set()
        for node in order:
            self._listen(node)
        run = partial(tensor.backward, gradient, bool(retain_graph))
        self._thread = threading.Thread(target=self._run, args=(run,), daemon=True)
        self._thread.start()
        self._await()
        if self._error is not None:
            self._end(FAILED)
            raise self._error

    def _listen(self, node):
        """Be called before and after ``node``, and before and after the leaves that it feeds."""
        slots = [_target(source) for source in reading.inputs(node)]
        self._handles += [
            node.fn.register_prehook(partial(self._enters, node.mark)),
            node.fn.register_hook(partial(self._leaves_node, node.seq, slots)),
        ]
        for below, _ in node.fn.next_functions:
            if below is not None and is_leaf_end(below):
                id = reading.leaf_id(below.variable)
                if id not in self._leaf_ids:
                    self._leaf_ids.add(id)
                    self._handles += [
                        below.register_prehook(partial(self._adds, id)),
                        below.register_hook(partial(self._added, id)),
                    ]

    # -- in the thread of the pass -----------------------------------------------------------
    def _run(self, backward):
        try:
            backward()
        except BaseException as error:
            self._error = error
        finally:
            self._ended = True
            self._here.release()

    def _enters(self, mark, grads):
        """Wait before a node; it is about to run with ``grads``."""
        self._here.release()
        self._go.acquire()
        if self._stopping:
            raise _Stopped
        self._step = Step(mark.seq, [self._numbers(g) for g in grads])
        node = WeakNode(mark)()
        if node is None or node.fn is None:
            return
        self._step.rule = told(reading.formula(node))
        self._step.hooks = [
            kind if hook is None else f"{kind} {hook_name(hook)}"
            for kind, hook in reading.hooks(node)
        ]
        if not self.recording.kept:
            self._step.freed = [_freed(*one[:2]) for one in reading.saved(node) if not one[4]]

    def _leaves_node(self, seq, slots, sent, arrived):
        """It has run; what it sent on, by slot."""
        step = self._step
        for slot, (target, grad) in enumerate(zip(slots, sent, strict=False)):
            if target is not None:
                step.sent.append(Sent(slot, target, self._numbers(grad)))
        step.stop = self.why_stop(step)
        self.recording.steps.append(step)

    def _adds(self, id, grads):
        """A leaf is about to get a gradient."""
        leaf = self._leaves.get(id)
        self._amount = grads[0], None if leaf is None else self._numbers(leaf.grad)

    def _added(self, id, *_):
        """It has."""
        leaf, steps = self._leaves.get(id), self.recording.steps
        (amount, before), self._amount = self._amount, None
        if leaf is None or not steps:
            return
        self._fresh.append((id, before is None))
        after = self._numbers(leaf.grad)
        if amount is not None and after is not None:
            steps[-1].added.append(Added(id, before, self._numbers(amount), after))

    def _numbers(self, grad):
        array = None if grad is None else reading.host(grad.detach())
        return None if array is None or reading.is_tensor(array) else self.stats(array)

    # -- in the program's thread -----------------------------------------------------------------
    def _await(self):
        self._here.acquire()

    def step(self) -> Step | None:
        """Run one node. Raises what the pass raises; the recording then says ``failed``."""
        if not self.paused:
            return None
        steps, before = self.recording.steps, len(self.recording.steps)
        self._go.release()
        self._await()
        if self._error is not None:
            error = self._error
            self.recording.error = f"{type(error).__name__}: {error}"
            self._end(FAILED)
            raise error
        if self._ended:
            self._thread.join()
            self._announce(sys._getframe(1))
            self._end(FINISHED)
        return steps[-1] if len(steps) > before else None

    def abort(self):
        """Leave every gradient as it was before the first step."""
        if not self.paused:
            return
        self._stopping = True
        self._go.release()
        self._thread.join()
        for id, leaf in self._leaves.items():
            _put_back(leaf, *self._before[id])
        self._end(ABORTED)

    def _announce(self, frame):
        """Tell the watcher, as ``backward`` would have done."""
        watcher, told = events.door.observer, self.recording
        ledger = getattr(watcher, "ledger", None)
        if ledger is None:
            return
        note, _ = user_chain(frame, watcher.files)
        ops, roots = (self._root,), tuple(told.roots)
        ledger.begin_sweep(serial(), note, "backward", told.kept, False, roots, ops)
        for id, fresh in self._fresh:
            ledger.accumulated(id, fresh)
        ledger.end_sweep()

    def _end(self, state):
        """Let go of everything of the person's, and of PyTorch's nodes."""
        self.recording.state = state
        for handle in self._handles:
            handle.remove()
        self._handles, self._leaves, self._before = [], {}, {}


def _target(source):
    """The id at the other end of an edge; None where no gradient goes."""
    if source is None:
        return None
    return source[0].seq if source.__class__ is tuple else reading.leaf_id(source)


def _freed(name, array):
    if array is None:
        return Freed(name)
    return Freed(name, reading.shape_of(array), reading.bytes_of(array))


def _copy(grad):
    return grad, None if grad is None else grad.detach().clone()


def _put_back(leaf, held, kept):
    if held is not None and not loaded().equal(held.detach(), kept):
        held.detach().copy_(kept)
    leaf.grad = held
