"""Measures what graphs hold while some code runs: bytes saved for backward, gradients, state."""

from __future__ import annotations

import weakref
from collections import Counter

from gradviz.engine import events
from gradviz.watch.memory import Held, Mark, Measured, Moment

from . import reading
from .reading import memory

MOST = 1_000
NAMED = 8


class Meter(events.Observer):
    """Between ``start`` and ``stop`` writes ``measured``; whoever watched before goes on watching.

    ``model`` names parameters and modules, ``optimizer`` its state; both may be None.
    """

    def __init__(self, model=None, optimizer=None):
        self.measured = Measured()
        self._model, self._optimizer = model, optimizer
        self._sizes: Counter = Counter()
        self._uses: Counter = Counter()
        self._makers: dict[int, str] = {}
        self._modules: dict[int, str] = {}
        self._held: dict[int, list[int]] = {}
        self._inside: list[str] = []
        self._handles: list = []
        self._at = self._activations = 0
        self._phase, self._step = "", 1
        self._own: set[int] = set()

    # -- between start and stop ----------------------------------------------------------
    def start(self):
        """Begin."""
        self._outer = events.door.observer
        parameters = list(self._model.parameters()) if self._model is not None else []
        self._parameters = [weakref.ref(p) for p in parameters]
        self._own = {memory(p._a)[0] for p in parameters}
        for name, module in self._model.named_children() if self._model is not None else ():
            self._handles += [
                module.register_forward_pre_hook(self._enter(name)),
                module.register_forward_hook(self._leave),
            ]
        if self._optimizer is not None:
            self._handles.append(self._optimizer.register_step_post_hook(self._stepped))
        events.door.observer = Both(self._outer, self)
        self._note()

    def stop(self):
        """End; everything is as it was."""
        self._note()
        for handle in self._handles:
            handle.remove()
        events.door.observer = self._outer
        self._held.clear()
        self._model = self._optimizer = None

    def _enter(self, name):
        def enter(module, inputs):
            self._inside.append(name)

        return enter

    def _leave(self, module, inputs, output):
        self._inside.pop()

    def _stepped(self, optimizer, args, kwargs):
        self._mark("step")

    # -- events ----------------------------------------------------------------------------
    def operation(self, output, inputs):
        """What the new node saved is held from now on."""
        node = reading.node_of(output[0] if output.__class__ is tuple else output)
        self._at += 1
        if self._phase != "forward":
            self._mark("forward")
        if node is None:
            return
        mine = []
        for _, array, _, _, freed in reading.saved(node):
            if freed or array is None:
                continue
            key, size = memory(array)
            if key not in self._own:
                mine.append(key)
                self._hold(key, size, node)
        if mine:
            seq = node.seq
            self._held[seq] = mine
            weakref.finalize(node, self._release, seq).atexit = False
            self._note()

    def _hold(self, key, size, node):
        if self._uses[key] == 0:
            self._sizes[key] = size
            self._activations += size
            self._makers[key] = node.name()
            self._modules[key] = self._inside[0] if self._inside else ""
        self._uses[key] += 1

    def _release(self, seq):
        for key in self._held.pop(seq, ()):
            self._uses[key] -= 1
            if self._uses[key] == 0:
                self._activations -= self._sizes.pop(key)
                del self._uses[key]

    def saved_released(self, node):
        """Backward has let go of what ``node`` saved."""
        self._at += 1
        self._release(node.seq)
        self._note()

    def backward_started(self, sweep):
        """The gradient flows back."""
        self._mark("backward")

    def accumulated(self, sweep, leaf, grad):
        """A gradient is there."""
        self._at += 1
        self._note()

    def backward_finished(self, sweep):
        """All gradients are there."""
        self._note()

    # -- writing down ------------------------------------------------------------------------
    def _mark(self, what):
        self._phase = what
        self.measured.marks.append(Mark(self._at, what))
        self._note()

    def _note(self):
        told = self.measured
        now = Moment(self._at, *self._lasting(), self._activations)
        if told.moments and told.moments[-1].at == now.at:
            told.moments.pop()
        told.moments.append(now)
        if told.peak is None or now.total > told.peak.total:
            told.peak = now
            told.alive, told.saving = self._alive(self._makers), self._alive(self._modules)
        if len(told.moments) > MOST:
            told.moments = _thinned(told.moments)

    def _lasting(self):
        parameters = [p for ref in self._parameters if (p := ref()) is not None]
        grads = [g for p in parameters if (g := reading.grad(p)) is not None]
        state = self._optimizer.state.values() if self._optimizer is not None else ()
        tensors = [t for one in state for t in one.values() if hasattr(t, "_a")]
        return (
            sum(p._a.nbytes for p in parameters),
            sum(g._a.nbytes for g in grads),
            sum(t._a.nbytes for t in tensors),
        )

    def _alive(self, names):
        sizes: Counter = Counter()
        for key, size in self._sizes.items():
            if names[key]:
                sizes[names[key]] += size
        return [Held(name, size) for name, size in sizes.most_common(NAMED)]


class Both(events.Observer):
    """Tells every event to two observers, of which the first may be None."""

    def __init__(self, first, second):
        self._each = [one for one in (first, second) if one is not None]

    def __getattribute__(self, name):
        each = object.__getattribute__(self, "_each")
        if name == "steps" or name.startswith("_"):
            return True if name == "steps" else object.__getattribute__(self, name)
        return lambda *args: [getattr(one, name)(*args) for one in each] and None


def _thinned(moments):
    """Every second moment, peaks kept."""
    pairs = zip(moments[::2], moments[1::2], strict=False)
    return [max(pair, key=lambda one: one.total) for pair in pairs]
