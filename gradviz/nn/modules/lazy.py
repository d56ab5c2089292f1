"""Modules that learn their shapes from the first input."""

from __future__ import annotations

from ..parameter import is_lazy


class LazyMixin:
    """Before the first ``forward``: ``initialize_parameters(*args)``, then the class becomes
    ``cls_to_become``."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters)

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _load_one(self, name, key, target, source, assign, error_msgs):
        if is_lazy(target) and not is_lazy(source):
            target.materialize(source.shape)
        super()._load_one(name, key, target, source, assign, error_msgs)

    @staticmethod
    def _infer_parameters(module, args):
        module.initialize_parameters(*args)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        del module._initialize_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
