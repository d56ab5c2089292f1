"""What a walk over the namespace looks for, and what a tensor holds by itself."""

from __future__ import annotations

import numpy as np

from . import reading
from .reading import context_items, node_of

ITEMS = 4_000


class Interest:
    """What a walk over the namespace looks for, and what a tensor holds by itself."""

    def kind(self, type_):
        """``tensor``, ``array``, ``node`` (a grad_fn) or None."""
        if issubclass(type_, reading.kinds()):
            return "tensor"
        if reading.are_nodes(type_):
            return "node"
        return "array" if issubclass(type_, np.ndarray) else None

    def children(self, thing):
        """The gradient, hooks and attributes of a tensor, what is on a node's ctx, the items of
        an array of objects.
        """
        if isinstance(thing, np.ndarray) and thing.dtype.hasobject and thing.size <= ITEMS:
            for at, value in np.ndenumerate(thing):
                yield "item", at[0] if len(at) == 1 else ", ".join(map(str, at)), value
        if not reading.is_tensor(thing):
            if reading.are_nodes(type(thing)):
                node = reading.node_behind(thing)
                yield from (("ctx", name, value) for name, value in context_items(node))
            return
        grad = reading.grad(thing)
        if grad is not None:
            yield "grad", "grad", grad
        for index, (_, hook) in enumerate(reading.hooks(thing)):
            if hook is not None:
                yield "hooktable", f"_backward_hooks[{index}]", hook
        for name, value in list(getattr(thing, "__dict__", {}).items()):
            yield "attribute", name, value
        node = node_of(thing)
        if node is not None:
            for name, value in context_items(node):
                yield "ctx", f"grad_fn.{name}", value
