"""Parametrizations: a tensor of a module computed from others each time it is read."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

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
    from.

    Raises ValueError when a ``right_inverse`` gives something else than tensors, and unless
    ``unsafe`` when the chain changes the shape or dtype of ``original``.
    """

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        value = original
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        value = module.right_inverse(value)
        self.is_tensor = isinstance(value, Tensor)
        if self.is_tensor:
            if value.dtype != original.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\n"
                    f"right_inverse(original).dtype: {value.dtype}"
                )
            self._keep("original", value, original)
        else:
            if not isinstance(value, Sequence):
                raise ValueError(f"{_TENSORS} Got {type(value).__name__}")
            self.ntensors = len(value)
            for k, part in enumerate(value):
                if not isinstance(part, Tensor):
                    raise ValueError(
                        f"{_TENSORS} Got element {k} of the sequence with type "
                        f"{type(part).__name__}."
                    )
                self._keep(f"original{k}", part, original)
        if not unsafe:
            with no_grad():
                found = self()
            _only_a_tensor(found)
            for kind in ("dtype", "shape"):
                old, new = getattr(original, kind), getattr(found, kind)
                if old != new:
                    raise ValueError(
                        f"Registering a parametrization may not change the {kind} of the tensor, "
                        "unless `unsafe` flag is enabled.\n"
                        f"unparametrized {kind}: {old}\nparametrized {kind}: {new}"
                    )

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
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
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


_TENSORS = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...)."


def _only_a_tensor(found):
    if not isinstance(found, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")


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
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
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


def _check_next(module, name, parametrization):
    """ValueError when one more parametrization would change the shape or dtype of the tensor."""
    value = getattr(module, name)
    found = parametrization(value)
    _only_a_tensor(found)
    for kind in ("dtype", "shape"):
        old, new = getattr(value, kind), getattr(found, kind)
        if old != new:
            raise ValueError(
                f"Registering a parametrization may not change the {kind} of the tensor, unless "
                f"the `unsafe` flag is enabled.\nmodule.{name}.{kind}: {old}\n"
                f"parametrization(module.{name}).{kind}: {new}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(found)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(
            f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}"
        )
    for kind in ("dtype", "shape"):
        old, new = getattr(value, kind), getattr(back, kind)
        if old != new:
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {kind} "
                f"as module.{name}, unless the `unsafe` flag is enabled.\n"
                f"module.{name}.{kind}: {old}\nreturned {kind}: {new}"
            )


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
    if not leave_parametrized and not chain.is_tensor:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
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
