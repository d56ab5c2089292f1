"""The engine's own sweep, one node at a time, written down as it goes.

Nothing is freed before the end, so that ``abort`` can leave everything as it was: gradients go back
to what they were, saved tensors are still there. Hooks that have fired cannot be taken back.
"""

from __future__ import annotations

from gradviz.backend import host
from gradviz.engine import events
from gradviz.engine.backward import Sweep
from gradviz.engine.roots import roots_of
from gradviz.engine.saved import release
from gradviz.texts.formulas import told
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

from .local import with_numbers
from .observer import hook_name
from .paths import explain
from .stepping import MOST, Stepping


class Stepper(Stepping):
    """A paused ``backward()`` of ``tensor``. ``rows`` and ``edges`` draw its graph.

    Raises what ``backward`` raises for ``tensor`` and ``gradient``; ValueError for more than 2,000
    nodes.
    """

    def __init__(self, tensor, gradient=None, retain_graph=False, rows=(), edges=()):
        roots = roots_of((tensor,), gradient, False)
        with events.unwatched():
            self._sweep = Sweep(roots, True, False)
        self._seeds = [(edge.node, g) if edge._kind == 1 else (edge, g) for edge, g in roots]
        nodes, self._leaves = self._reach()
        if len(nodes) > MOST:
            raise ValueError(f"{len(nodes)} nodes")
        self._nodes = {node.seq: node for node in nodes}
        self._before = {id: _copy(leaf) for id, leaf in self._leaves.items()}
        self._writer = Writer(self)
        self._sweep.observed_by(self._writer)
        super().__init__(
            Recording(
                list(rows),
                list(edges),
                roots=[_id(edge) for edge, _ in roots],
                plan=sorted(self._nodes, reverse=True),
                kept=retain_graph,
            )
        )

    def _reach(self):
        """Every node under the roots, and the leaves by id."""
        found, leaves, pending = {}, {}, [edge for edge, _ in self._seeds]
        while pending:
            node = pending.pop()
            if node._kind == 2:
                leaves[events.leaf_id(node)] = node
            elif node.seq not in found:
                found[node.seq] = node
                pending += [
                    x[0] if x.__class__ is tuple else x
                    for x in events.inputs(node)
                    if x is not None
                ]
        return list(found.values()), leaves

    def step(self) -> Step | None:
        """Run one node. Raises what the sweep raises; the recording then says ``failed``."""
        if not self.paused:
            return None
        steps, before = self.recording.steps, len(self.recording.steps)
        try:
            done = self._sweep.run(1)
        except BaseException as error:
            self.recording.error = f"{type(error).__name__}: {error}"
            self._end(FAILED)
            raise
        if done or len(steps) == len(self.recording.plan):
            self._finish()
        return steps[-1] if len(steps) > before else None

    def abort(self):
        """Leave every gradient as it was before the first step."""
        if not self.paused:
            return
        for id, leaf in self._leaves.items():
            held, kept = self._before[id]
            if held is not None and kept is not None and not _same(held._a, kept):
                held._a[...] = kept
            leaf._grad = held
        self._end(ABORTED)

    def _finish(self):
        """All have run: what ``backward`` frees is freed, and the session hears of the sweep."""
        self.recording.why = explain(self._seeds_that_are_nodes(), self._leaves)
        if not self.recording.kept:
            for node in self._nodes.values():
                if node.s or node.r is not None:
                    release(node)
        self._announce()
        self._end(FINISHED)

    def _seeds_that_are_nodes(self):
        return [(edge, g) for edge, g in self._seeds if edge._kind != 2]

    def _announce(self):
        """Tell whoever watches the engine, as ``backward`` would have done."""
        observer, sweep = events.door.observer, self._sweep
        if observer is None:
            return
        sweep.keep_graph = self.recording.kept
        observer.backward_started(sweep)
        for leaf, grad in self._writer.accumulations:
            observer.accumulated(sweep, leaf, grad)
        observer.backward_finished(sweep)

    def _end(self, state):
        """Let go of everything of the person's."""
        self.recording.state = state
        self._sweep = self._writer = None
        self._nodes, self._leaves, self._before, self._seeds = {}, {}, {}, []

    # -- what the writer asks ------------------------------------------------------------
    def held_before(self, leaf):
        """The gradient of ``leaf`` before the first step, as an array; None when it had none."""
        held, kept = self._before[events.leaf_id(leaf)]
        return None if held is None else kept

    def stats(self, array):
        """Numbers of a gradient; of a long sweep only norms."""
        return super().stats(host(getattr(array, "_a", array)))


class Writer(events.Observer):
    """Writes the steps of one ``stepper`` down as its sweep runs them."""

    def __init__(self, stepper):
        self._stepper = stepper
        self._step: Step | None = None
        self._sums: dict = {}
        self.accumulations: list = []

    def node_entered(self, sweep, node, grads):
        """A step begins."""
        stats = self._stepper.stats
        first = grads[0] if len(grads) == 1 else None
        step = Step(node.seq, [None if g is None else stats(g) for g in grads])
        step.rule = told(events.formula(node))
        if step.rule:
            step.numbers = told(with_numbers(node, first))
        step.hooks = hooks_of(node)
        if not self._stepper.recording.kept:
            step.freed = [_freed(*one) for one in events.saved(node) if not one[4]]
        self._step = step

    def node_left(self, sweep, node, grads):
        """The gradients that it sent on."""
        step, stepper = self._step, self._stepper
        for slot, (source, g) in enumerate(zip(events.inputs(node), grads, strict=False)):
            if source is not None:
                target = source[0].seq if source.__class__ is tuple else events.leaf_id(source)
                step.sent.append(Sent(slot, target, None if g is None else stepper.stats(g)))
        step.stop = stepper.why_stop(step)
        stepper.recording.steps.append(step)

    def accumulated(self, sweep, leaf, grad):
        """A leaf has its gradient; results with ``retain_grad`` come here too."""
        self.accumulations.append((leaf, grad))
        id, stepper = events.leaf_id(leaf), self._stepper
        if self._step is None or id not in stepper._leaves:
            return
        before = self._sums.get(id, stepper.held_before(leaf))
        self._sums[id] = events.grad(leaf)._a.copy("K")
        self._step.added.append(
            Added(
                id,
                None if before is None else stepper.stats(before),
                stepper.stats(grad),
                stepper.stats(self._sums[id]),
                hooks_of(leaf),
            )
        )


def hooks_of(thing) -> list[str]:
    """``kind name`` of each hook."""
    return [
        kind if hook is None else f"{kind} {hook_name(hook)}" for kind, hook in events.hooks(thing)
    ]


def _freed(name, array, saved_at, now, gone):
    if array is None:
        return Freed(name)
    return Freed(name, tuple(array.shape), array.nbytes)


def _copy(leaf):
    """(the gradient of ``leaf``, a copy of its numbers)."""
    held = events.grad(leaf)
    return held, None if held is None else held._a.copy("K")


def _same(a, b):
    return a.tobytes() == b.tobytes()


def _id(edge):
    edge = edge.node if edge._kind == 1 else edge
    return events.leaf_id(edge) if edge._kind == 2 else edge.seq
