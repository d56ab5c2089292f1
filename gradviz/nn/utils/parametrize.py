"""Parametrizations: a tensor of a module computed from others each time it is read."""

from __future__ import annotations

import contextlib

from ...engine.dispatch import Tensor
from ...engine.modes import no_grad
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

_caching = 0
_cache = {}


@contextlib.contextmanager
def cached():
    """Inside the block, a parametrized tensor is computed once."""
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The chain of parametrizations of one tensor, and the ``original`` tensors it is computed
    from."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        value = original
        for module in reversed(self):
            if hasattr(module, "right_inverse"):
                with no_grad():
                    value = module.right_inverse(value)
        self.is_tensor = isinstance(value, Tensor)
        if self.is_tensor:
            self._keep("original", value, original)
        else:
            self.ntensors = len(value)
            for k, part in enumerate(value):
                self._keep(f"original{k}", part, original)

    def _keep(self, name, value, original):
        if isinstance(original, Parameter):
            value = (
                value
                if isinstance(value, Parameter)
                else Parameter(value.detach(), original.requires_grad)
            )
            self.register_parameter(name, value)
        else:
            self.register_buffer(name, value)

    def right_inverse(self, value):
        """Set the original tensors so that the parametrized one becomes ``value``."""
        with no_grad():
            for module in reversed(self):
                value = module.right_inverse(value)
            if self.is_tensor:
                self.original.data = value.data
            else:
                for k, part in enumerate(value):
                    getattr(self, f"original{k}").data = part.data

    def forward(self):
        first = self[0]
        if self.is_tensor:
            x = first(self.original)
        else:
            x = first(*(getattr(self, f"original{k}") for k in range(self.ntensors)))
        for module in list(self)[1:]:
            x = module(x)
        return x


def _inject(module, name):
    """A subclass of the module's class with a property that computes ``name``."""
    cls = type(module)
    if not getattr(cls, "_parametrized_from", None):
        made = type(
            f"Parametrized{cls.__name__}",
            (cls,),
            {"_parametrized_from": cls, "__module__": cls.__module__},
        )
        module.__class__ = cls = made

    def read(self):
        key = (id(self), name)
        if _caching and key in _cache:
            return _cache[key]
        value = self.parametrizations[name]()
        if _caching:
            _cache[key] = value
        return value

    def write(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(cls, name, property(read, write))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Compute ``module.<tensor_name>`` by ``parametrization`` from now on; returns the module."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    chain = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if "parametrizations" not in module._modules:
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = chain
    _inject(module, tensor_name)
    return module


def is_parametrized(module, tensor_name=None):
    """Whether the module, or one of its tensors, is parametrized."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if found is None or not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Make the tensor ordinary again, with its parametrized value or its original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    original = chain.original if chain.is_tensor else chain.original0
    with no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else chain.original
    cls = type(module)
    delattr(cls, tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(original, Parameter):
        if chain.is_tensor:
            original.data = value.data
        else:
            original = Parameter(value.detach(), original.requires_grad)
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, value)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = cls._parametrized_from
    return module


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Put the parametrizations of one module on another."""
    names = [tensor_name] if tensor_name else list(from_module.parametrizations)
    for name in names:
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
    return to_module


def type_before_parametrizations(module):
    """The class of the module as it was."""
    return getattr(type(module), "_parametrized_from", None) or type(module)
