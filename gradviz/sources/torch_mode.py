"""Hears every call of PyTorch from Python, while it is on PyTorch's stack of modes."""

from __future__ import annotations

from functools import cache, partial

from .torch_lines import lines
from .torch_nodes import loaded, made_by, serial_of
from .torch_tensors import leaf_id

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
NOT_IN_PLACE = frozenset("requires_grad_ share_memory_ detach_ rename_".split())
RUNNING = (("running_mean", 1), ("running_var", 2))


def _setting(places):
    """How to find the options of a function: by name, or by place."""

    def read(name, args, kwargs):
        place = places[name]
        return kwargs.get(name, args[place] if len(args) > place else None)

    return read


@cache
def mode_class():
    """The class of the mode; made when PyTorch is there."""
    torch = loaded()
    tensor_classes = frozenset((torch.Tensor, torch.nn.Parameter))
    next_number, recording = torch._C._autograd._get_sequence_nr, torch.is_grad_enabled
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
                if next_number() != lines.end:
                    self.watcher.made(out)
                elif func.__self__ is data and func.__name__ == "__get__":
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
            if next_number() != lines.end:
                self.watcher.made(out)
            elif out.__class__ in tensor_classes and not recording() and not out.requires_grad:
                self.watcher.unrecorded(func.__name__, args, out)

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
            if name == "__setitem__" or is_in_place(name):
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
            recorded = recording() and func.__name__ != "__setitem__"
            before = [_maker(one) if recorded else 0 for one in targets]
            for one in targets:
                leaf_id(one)  # so that the serial of the change follows those of its nodes
            out = func(*args, **kwargs)
            if next_number() != lines.end:
                self.watcher.made(out)
            name = "setitem" if func.__name__ == "__setitem__" else func.__name__
            self.watcher.changed(name, targets, before)
            return out

        def normalise(self, func, args, kwargs):
            """Batch normalisation writes its running statistics."""
            __tracebackhide__ = True
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


def is_in_place(name):
    return name.endswith("_") and not name.endswith("__") and name not in NOT_IN_PLACE


def _maker(tensor):
    """The serial of the node that made ``tensor``, 0 for one that was not recorded."""
    fn = made_by(tensor)
    return 0 if fn is None else serial_of(fn)
