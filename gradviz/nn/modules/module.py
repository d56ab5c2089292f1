"""``Module``: what has parameters, buffers and submodules, and a ``forward``."""

from __future__ import annotations

import copy
import inspect
import itertools
import warnings
from collections import OrderedDict

from ...backend.meta import NO_DATA
from ...engine.dispatch import Tensor
from ...engine.dtypes import dtype as Dtype
from ...engine.modes import no_grad
from ...ops.declare import FUNCTIONS
from ..parameter import Buffer, Parameter, is_lazy
from . import global_hooks as everywhere
from .global_hooks import (  # noqa: F401 (part of this module in PyTorch)
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from .hooks import HookMethods
from .state import StateMethods

_global_forward_hooks = everywhere.forward
_global_forward_pre_hooks = everywhere.forward_pre
_global_backward_hooks = everywhere.backward
_global_backward_pre_hooks = everywhere.backward_pre

_TABLES = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def typename(obj):
    """PyTorch's name of an object's type: ``torch.FloatTensor`` for a tensor, otherwise module and
    class."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.type_name}"
    cls = type(obj)
    module = (
        "" if cls.__module__ == "builtins" else cls.__module__.replace("gradviz", "torch", 1) + "."
    )
    return module + cls.__qualname__


def _unimplemented(self, *input):
    """Overridden by every subclass that is called."""
    raise NotImplementedError(
        f'Module [{type(self).__name__}] is missing the required "forward" function'
    )


class Module(HookMethods, StateMethods):
    """Base class of everything with parameters. Subclasses call ``super().__init__()`` first and
    define ``forward``."""

    dump_patches = False
    call_super_init = False
    _version = 1
    forward = _unimplemented

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and (args or kwargs):
            what = (
                f"got an unexpected keyword argument '{next(iter(kwargs))}'"
                if kwargs
                else (f"takes 1 positional argument but {len(args) + 1} were given")
            )
            raise TypeError(f"{type(self).__name__}.__init__() {what}")
        own = self.__dict__
        own["training"] = True
        own["_parameters"], own["_buffers"], own["_modules"] = {}, {}, {}
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        for name in _TABLES:
            own[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ------------------------------------------------------------ attributes
    def __getattr__(self, name):
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            found = own.get(table)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif own.get("_parameters") is not None and name in own["_parameters"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter "
                    "or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            own["_modules"][name] = everywhere.registered(everywhere.on_module, self, name, value)
        else:
            self._set_other(own, name, value)

    def _set_other(self, own, name, value):
        modules, buffers = own.get("_modules"), own.get("_buffers")
        if modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module "
                    "or None expected)"
                )
            modules[name] = everywhere.registered(everywhere.on_module, self, name, None)
        elif isinstance(value, Buffer) or buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, "
                    "torch.Tensor or None expected)"
                )
            self._put_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _put_buffer(self, name, value):
        """Register a buffer; RuntimeError where a subclass cannot leave it out of the state."""
        persistent = (
            value.persistent
            if isinstance(value, Buffer)
            else name not in self._non_persistent_buffers_set
        )
        register = self.register_buffer
        if (
            getattr(register, "__func__", None) is Module.register_buffer
            or "persistent" in inspect.signature(register).parameters
        ):
            register(name, value, persistent)
        elif persistent:
            register(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements "
                "register_buffer() without the persistent argument is not allowed."
            )

    def __delattr__(self, name):
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if name in own[table]:
                del own[table][name]
                own["_non_persistent_buffers_set"].discard(name)
                return
        object.__delattr__(self, name)

    def _forget(self, name, *tables):
        own = self.__dict__
        own.pop(name, None)
        for table in tables:
            own[table].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def __dir__(self):
        own = self.__dict__
        names = [*dir(type(self)), *own, *own["_parameters"], *own["_modules"], *own["_buffers"]]
        return sorted(n for n in names if not n[0].isdigit())

    def __getstate__(self):
        return self.__dict__.copy()

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _TABLES:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)

    # ------------------------------------------------------------ registration
    def _check_name(self, kind, name, table):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if kind != "module" and "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "" and kind != "module":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')

    def register_parameter(self, name, param):
        """Add a parameter, or None for one that is absent."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        table = self.__dict__["_parameters"]
        self._check_name("parameter", name, table)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                "created explicitly. To express "
                f"'{name}' as a function of another Tensor, compute the value in the forward() "
                "method."
            )
        table[name] = everywhere.registered(everywhere.on_parameter, self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is state but no parameter. ``persistent``: part of ``state_dict``."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        table = self.__dict__["_buffers"]
        self._check_name("buffer", name, table)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or "
                "None required)"
            )
        table[name] = everywhere.registered(everywhere.on_buffer, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a submodule under ``name``."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        table = self.__dict__["_modules"]
        self._check_name("module", name, table)
        table[name] = everywhere.registered(everywhere.on_module, self, name, module)

    register_module = add_module

    def _walk_to(self, target):
        module = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise AttributeError(f"{module._get_name()} has no attribute `{item}`")
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError(f"`{item}` is not an nn.Module")
        return module

    def get_submodule(self, target):
        """The submodule at a dotted path."""
        return self._walk_to(target)

    def set_submodule(self, target, module, strict=False):
        """Replace the submodule at a dotted path."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self._walk_to(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def _tensor_at(self, target, table, what):
        path, _, name = target.rpartition(".")
        module = self._walk_to(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in getattr(module, table):
            raise AttributeError(f"`{name}` is not {what}")
        return getattr(module, name)

    def get_parameter(self, target):
        """The parameter at a dotted path."""
        return self._tensor_at(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        """The buffer at a dotted path."""
        return self._tensor_at(target, "_buffers", "a buffer")

    # ------------------------------------------------------------ walking
    def _named_members(self, get_members, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, member in get_members(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def parameters(self, recurse=True):
        """The parameters, each once."""
        for _, param in self.named_parameters(recurse=recurse):
            yield param

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(dotted name, parameter), each once."""
        yield from self._named_members(
            lambda m: m._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse=True):
        """The buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(dotted name, buffer), each once."""
        yield from self._named_members(
            lambda m: m._buffers.items(), prefix, recurse, remove_duplicate
        )

    def children(self):
        """The direct submodules, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self):
        """(name, direct submodule), each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self):
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(dotted name, module) of this module and all below it, parents first."""
        memo = set() if memo is None else memo
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if module in memo:
                continue
            if remove_duplicate:
                memo.add(module)
            yield path, module
            below = [
                (f"{path}.{n}" if path else n, m)
                for n, m in module._modules.items()
                if m is not None
            ]
            stack.extend(reversed(below))

    def apply(self, fn):
        """Call ``fn`` on every submodule, then on this one; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------ modes and conversion
    def train(self, mode=True):
        """Training mode, here and below; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Evaluation mode: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Track the parameters, or stop tracking them; returns self."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of the parameters, or fill them with zeros."""
        from ...optim.optimizer import clear_gradient

        if getattr(self, "_is_replica", False):
            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. "
                "The parameters are copied (in a "
                "differentiable manner) from the original module. This means they are not leaf "
                "nodes in autograd and so don't "
                "accumulate gradients. If you need gradients in your forward method, consider "
                "using autograd.grad instead.",
                stacklevel=2,
            )
        for p in self.parameters():
            clear_gradient(p, set_to_none)

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, p in self._parameters.items():
            if p is None:
                continue
            with no_grad():
                changed = fn(p.data)
                gradient = None if p._grad is None else fn(p._grad.data)
            if changed.is_meta is not p.is_meta:
                # what has no memory gets none: another parameter takes its place
                p = self._parameters[name] = Parameter(changed, p.requires_grad)
                p._grad = gradient
                continue
            p.data = changed
            if gradient is not None:
                p._grad.data = gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = buffer if is_lazy(buffer) else fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Move or cast parameters and buffers in place: ``to(device)``, ``to(dtype)``,
        ``to(tensor)``, ``to(memory_format=…)`` for weights of 4 and 5 dimensions; returns self."""
        dtype = kwargs.get("dtype") or next((a for a in args if isinstance(a, Dtype)), None)
        like = kwargs.get("tensor") or next((a for a in args if isinstance(a, Tensor)), None)
        device = kwargs.get("device") or next(
            (a for a in args if not isinstance(a, (Dtype, Tensor, bool)) and a is not None), None
        )
        if like is not None:
            dtype = like.dtype
        if dtype is not None and dtype.category < 2:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        keyword = {} if device is None else {"device": device}
        memory_format = kwargs.get("memory_format")

        def convert(t):
            wanted = dict(keyword)
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                wanted["dtype"] = dtype
            if memory_format is not None and t.dim() in (4, 5):
                wanted["memory_format"] = memory_format
            return t.to(**wanted) if wanted else t

        try:
            return self._apply(convert)
        except NotImplementedError as error:
            if str(error) != NO_DATA:
                raise
            raise NotImplementedError(
                f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
                "when moving module from meta to a different device."
            ) from None

    def _cast_to(self, name):
        from ...engine import dtypes

        target = getattr(dtypes, name)
        return self._apply(lambda t: t.to(target) if t.is_floating_point() else t)

    def float(self):
        """Floating parameters and buffers in float32; returns self."""
        return self._cast_to("float32")

    def double(self):
        """Floating parameters and buffers in float64; returns self."""
        return self._cast_to("float64")

    def half(self):
        """Floating parameters and buffers in float16; returns self."""
        return self._cast_to("float16")

    def bfloat16(self):
        """Floating parameters and buffers in bfloat16; returns self."""
        return self._cast_to("bfloat16")

    def type(self, dst_type):
        """All parameters and buffers in ``dst_type``; returns self."""
        return self._apply(lambda t: t.to(dst_type))

    def cpu(self):
        """Parameters and buffers on the CPU; returns self."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Parameters and buffers on a CUDA device; returns self."""
        return self._apply(lambda t: t.cuda(device))

    def to_empty(self, *, device, recurse=True):
        """Parameters and buffers with undefined values on ``device``; returns self."""
        empty_like = FUNCTIONS["empty_like"]
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self):
        """Returns self: memory is never shared between processes here."""
        for t in (*self.parameters(), *self.buffers()):
            if is_lazy(t):
                t.share_memory_()
        return self._apply(lambda t: t.share_memory_())

    def compile(self, *args, **kwargs):
        """Accepted for compatibility: the module runs as it is."""

    # ------------------------------------------------------------ printing and copying
    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What the printed form shows between the parentheses."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        below = [f"({name}): {_indent(repr(module))}" for name, module in self._modules.items()]
        if len(lines) == 1 and not below:
            return f"{self._get_name()}({lines[0]})"
        body = lines + below
        return (
            f"{self._get_name()}(\n  " + "\n  ".join(body) + "\n)"
            if body
            else f"{self._get_name()}()"
        )

    def _replicate_for_data_parallel(self):
        replica = copy.copy(self)
        replica.__dict__["_parameters"] = {}
        replica.__dict__["_buffers"] = dict(self._buffers)
        replica.__dict__["_modules"] = dict(self._modules)
        replica.__dict__["_is_replica"] = True
        return replica


def _indent(text, spaces=2):
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])


def pairs(name, size):
    """A tuple of ``size`` from a number or an iterable."""
    return tuple(name) if hasattr(name, "__iter__") else tuple(itertools.repeat(name, size))
