"""``torch.overrides``: classes whose ``__torch_function__`` is asked before one of our functions.

Nobody pays for it but who uses it. The methods and properties of a subclass of ``Tensor`` are those
of ``Overridable``, which comes between the two when the subclass is made; and functions look at
their arguments from the moment on that there is such a subclass, or this module is imported.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
import types
import warnings

from .engine.construct import mark
from .engine.operation import TENSOR
from .engine.tensor import Tensor
from .ops import FUNCTIONS

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


class _Thread(threading.local):
    off = 0
    modes = ()  # the function modes that are entered, innermost last


_thread = _Thread()


class DisableTorchFunctionSubclass:
    """Inside the block no ``__torch_function__`` is asked."""

    def __enter__(self):
        _thread.off += 1

    def __exit__(self, *_):
        _thread.off -= 1


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Inside the block no function mode is asked either."""

    def __enter__(self):
        super().__enter__()
        self.modes, _thread.modes = _thread.modes, ()

    def __exit__(self, *error):
        _thread.modes = self.modes
        super().__exit__(*error)


# ---------------------------------------------------------------- asking
def _disabled_torch_function_impl(func, types, args=(), kwargs=None):
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _default(cls, func, types, args=(), kwargs=None):
    """The function itself, and its tensors as instances of ``cls``."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        found = func(*args, **(kwargs or {}))
        return found if func in get_default_nowrap_functions() else _converted(found, cls)


def _converted(found, cls):
    if cls is Tensor:
        return found
    if isinstance(found, Tensor) and not isinstance(found, cls):
        found = TENSOR.alias(found)
        found.__class__ = cls
    if isinstance(found, (tuple, list)):
        parts = [_converted(x, cls) for x in found]
        made = type(found)
        return made(*parts) if hasattr(found, "_fields") else made(parts)
    return found


@functools.cache
def get_default_nowrap_functions():
    """The functions whose results stay plain tensors."""
    names = ("_base", "grad", "_grad")
    return {table[n].__get__ for table in (_PLAIN, _ASKING) for n in names if n in table}


def _overrides(x):
    kind = type(x)
    if kind is Tensor or _thread.off:
        return False
    found = getattr(kind, "__torch_function__", None)
    if found is None or found is _disabled_torch_function_impl:
        return False
    return not issubclass(kind, Tensor) or issubclass(kind, Overridable)


def _overloaded(args):
    """One argument of every class that is to be asked, subclasses first."""
    found = []
    for x in args:
        if _overrides(x) and all(type(x) is not type(y) for y in found):
            at = next((k for k, y in enumerate(found) if isinstance(x, type(y))), len(found))
            found.insert(at, x)
    return found


def has_torch_function(relevant_args):
    """Whether one of them has a ``__torch_function__`` to ask."""
    return any(map(_overrides, relevant_args))


def has_torch_function_unary(x):
    """The same for one argument."""
    return _overrides(x)


def has_torch_function_variadic(*args):
    """The same for arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What the first ``__torch_function__`` that does not refuse gives; TypeError when all do."""
    overloaded = _overloaded(relevant_args)
    found = _answer(public_api, overloaded, args, kwargs)
    if found is not NotImplemented:
        return found
    raise _none_found(public_api, overloaded)


def _none_found(func, overloaded):
    name = resolve_name(func) or f"{func.__module__}.{func.__name__}"
    return TypeError(
        f"no implementation found for '{name}' on types that implement "
        f"__torch_function__: {list(map(type, overloaded))}"
    )


def _answer(func, overloaded, args, kwargs):
    kinds = tuple(map(type, overloaded))
    if _thread.modes:
        found = _answer_of_mode(func, kinds, args, kwargs)
        if found is not NotImplemented:
            return found
        if not overloaded:
            raise _refused(func, [f"mode object {_thread.modes[-1]}"])
    for x in overloaded:
        if x.__torch_function__.__self__ is x:
            _warn_of_plain_method(func)
        found = x.__torch_function__(func, kinds, args, kwargs)
        if found is not NotImplemented:
            return found
    return NotImplemented


def _warn_of_plain_method(func):
    quoted = "`__torch_function__" if _is_in_python(func) else "`__torch_function__`"
    warnings.warn(
        f"Defining your {quoted} as a plain method is deprecated and will be an error in future, "
        "please define it as a classmethod.",
        DeprecationWarning if _is_in_python(func) else UserWarning,
        stacklevel=5,
    )


def _is_in_python(func):
    """Whether PyTorch's function, that overloads are looked for, is written in Python."""
    return (resolve_name(func) or "").startswith("torch.nn.functional.")


def _answer_of_mode(func, kinds, args, kwargs):
    """What the innermost mode gives; while it is asked only those around it are entered."""
    modes = _thread.modes
    if not kinds and args and _tells_type(func):
        kinds = (type(args[0]),)
    _thread.modes = modes[:-1]
    try:
        return modes[-1].__torch_function__(_again(func), kinds, args, kwargs or {})
    finally:
        _thread.modes = modes


_VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_FIRST_IN_PYTHON = frozenset(
    "__rsub__ __rtruediv__ __rpow__ __pow__ register_hook register_post_accumulate_grad_hook "
    "backward norm split".split()
)


def _tells_type(func):
    """Whether PyTorch tells a mode the type of the first argument, though that overrides nothing:
    it does for functions that are written in Python, and where there is no other argument.
    """
    if isinstance(getattr(func, "__self__", None), property):
        return True
    if id(func) not in _NAMES:
        return resolve_name(func) is None or "functional" in resolve_name(func)
    code = inspect.unwrap(func).__code__
    alone = code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & _VARIABLE
    return alone or _NAMES[id(func)] in _FIRST_IN_PYTHON


def _again(func):
    """The method or property ``func``, that asks whoever is left."""
    owner = getattr(func, "__self__", None)
    if isinstance(owner, property):
        return getattr(_ASKING[_NAMES[id(owner)]], func.__name__)
    return _ASKING.get(_NAMES.get(id(func)), func)


def _ask(func, overloaded, args, kwargs):
    found = _answer(func, overloaded, args, kwargs)
    if found is not NotImplemented:
        return found
    if _is_in_python(func):
        raise _none_found(func, overloaded)
    raise _refused(func, [f"tensor subclass {type(x)}" for x in overloaded])


def _refused(func, asked):
    lines = "".join(f"  - {one}\n" for one in asked)
    return TypeError(
        f"Multiple dispatch failed for '{_name_of(func)}'; all __torch_function__ handlers "
        f"returned NotImplemented:\n\n{lines}\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )


def _name_of(func):
    return resolve_name(func) or getattr(func, "__name__", func)


def is_tensor_like(inp):
    """Whether it is a tensor or has a ``__torch_function__``."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def wrap_torch_function(dispatcher):
    """A decorator for functions that ask the arguments that ``dispatcher`` names."""

    def inner(func):
        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return inner


# ---------------------------------------------------------------- methods of subclasses
_OPERATORS = {
    "__matmul__": "matmul",
    "__mod__": "remainder",
    "__pos__": "positive",
    "__rand__": "bitwise_and",
    "__ror__": "bitwise_or",
    "__rxor__": "bitwise_xor",
    "__truediv__": "div",
    "__itruediv__": "div_",
    **{f"__{n}__": n for n in ("add", "sub", "mul", "pow", "lt", "le", "gt", "ge", "ne")},
    **{f"__{n}__": n for n in ("neg", "abs")},
    **{f"__r{n}__": n for n in ("add", "mul")},
    **{f"__i{n}__": f"{n}_" for n in ("add", "sub", "mul")},
}
_REFLECTED = {
    f"__r{n}__": f"__{n}__"
    for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
    + ("and", "or", "xor", "lshift", "rshift")
}
_BINARY = frozenset(
    ("__eq__", "__and__", "__or__", "__xor__", "__floordiv__", "__lshift__", "__rshift__")
)
_UNDER_THEIR_NAME = _BINARY | frozenset(
    ("__invert__", "__len__", "__bool__", "__float__", "__int__", "__index__", "__contains__")
    + ("__format__", "__reversed__", "__getitem__", "__setitem__", "__repr__", "__complex__")
)
_STATIC = frozenset(("as_subclass", "new_tensor_of", "_make_subclass"))
_PRIVATE = frozenset(("_version", "_base", "_backward_hooks", "_is_view"))


def _intercepted(name, found):
    """``found``, a method or property of ``Tensor``, that asks first; None where it need not."""
    private = name[:1] == "_"
    if (
        name in _STATIC
        or private
        and not (
            name in _OPERATORS
            or name in _REFLECTED
            or name in _UNDER_THEIR_NAME
            or name in _PRIVATE
        )
    ):
        return None
    if isinstance(found, property):
        public = getattr(Tensor, name)
        return property(
            _asking(public.fget, public.__get__),
            found.fset and _asking(public.fset, public.__set__),
            found.fdel and _asking(public.fdel, public.__delete__),
            found.__doc__,
        )
    if not isinstance(found, types.FunctionType):
        return None
    if name in _REFLECTED:
        return _reflected(name, found)
    operator = name in _BINARY or name in _OPERATORS
    return _asking(
        found, getattr(Tensor, _OPERATORS.get(name, name)), _answer if operator else _ask
    )


def _asking(original, public, ask=_ask):
    @functools.wraps(original)
    def method(*args, **kwargs):
        overloaded = _overloaded((*args, *kwargs.values()))
        if not (overloaded or _thread.modes):
            return original(*args, **kwargs)
        return ask(public, overloaded, args, kwargs or None)

    return method


def _reflected(name, original):
    """``tensor + subclass`` arrives as ``subclass.__radd__(tensor)``: it is asked for what was
    written.
    """
    own = getattr(Tensor, _OPERATORS.get(name, name))
    straight = _REFLECTED[name]
    written = getattr(Tensor, _OPERATORS.get(straight, straight))

    @functools.wraps(original)
    def method(self, other):
        overloaded = _overloaded((self, other))
        if not (overloaded or _thread.modes):
            return original(self, other)
        if isinstance(other, Tensor):
            return _answer(written, overloaded, (other, self), None)
        return _answer(own, overloaded, (self, other), None)

    return method


def _under_name(function, name):
    """The same function with a ``__name__`` of its own, for who is asked."""
    made = types.FunctionType(
        function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__, made.__doc__ = function.__kwdefaults__, function.__doc__
    return made


class Overridable(Tensor):
    """What a subclass of ``Tensor`` inherits from instead."""

    __slots__ = ()
    __hash__ = Tensor.__hash__

    def __deepcopy__(self, memo):
        """A copy, where ``new_empty`` gives tensors of the same class; RuntimeError otherwise."""
        with DisableTorchFunctionSubclass():
            if id(self) not in memo and type(self.new_empty(())) is not type(self):
                raise RuntimeError(
                    "The default implementation of __deepcopy__() for non-wrapper subclasses only "
                    "works for subclass types that implement new_empty() and for which that "
                    "function returns another instance of the same subclass. You should either "
                    "properly implement new_empty() for your subclass or override __deepcopy__() "
                    "if it is intended behavior for new_empty() to return an instance of a "
                    "different type."
                )
            return super().__deepcopy__(memo)


for _name in (*_REFLECTED, *_UNDER_THEIR_NAME):
    _found = vars(Tensor).get(_name)
    if isinstance(_found, types.FunctionType) and _name not in _OPERATORS:
        setattr(
            Tensor, _name, _under_name(_found, "__rdiv__" if _name == "__rtruediv__" else _name)
        )
_PLAIN = dict(vars(Tensor))
_ASKING = {name: _intercepted(name, found) for name, found in _PLAIN.items()}
_ASKING = {name: found for name, found in _ASKING.items() if found is not None}
_NAMES: dict[int, str] = {}
for _table in (_PLAIN, _ASKING):
    for _name, _found in _table.items():
        _NAMES.setdefault(id(_found), _name)
for _name, _asks in _ASKING.items():
    setattr(Overridable, _name, _asks)


def intercept(cls):
    """Let a new subclass of ``Tensor`` inherit from ``Overridable``."""
    cls._printed_as = cls.__name__
    if cls.__dict__.get("__torch_function__") is _disabled_torch_function_impl:
        return
    if Tensor in cls.__bases__:
        cls.__bases__ = tuple(Overridable if b is Tensor else b for b in cls.__bases__)
    _watch_functions()


def _make_subclass(cls, data, require_grad=False, **_):
    """``data`` as a leaf of class ``cls``, on the same memory."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    made = data.detach()
    made.__class__ = cls
    return mark(made, require_grad)


Tensor.__torch_function__ = classmethod(_default)  # type: ignore[attr-defined]
Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]


# ---------------------------------------------------------------- functions
def _looking(function, modes_only=False):
    """``function``, which asks first what its arguments, and the lists among them, say."""

    @functools.wraps(function)
    def looking(*args, **kwargs):
        if _thread.modes or not (_thread.off or modes_only):
            given = [
                y
                for x in (*args, *kwargs.values())
                for y in (x if type(x) in (list, tuple) else (x,))
            ]
            overloaded = _overloaded(given)
            if overloaded or _thread.modes:
                native = any(isinstance(x, Tensor) for x in overloaded)
                return _ask(looking, overloaded, args, kwargs or (None if native else {}))
        return function(*args, **kwargs)

    looking.looks = True
    return looking


_looked: dict[int, types.FunctionType] = {}  # by the id of a function, the one that asks
_UNASKED = frozenset(
    "is_tensor is_storage manual_seed seed initial_seed get_rng_state set_rng_state".split()
)
_ASKS_MODES_ONLY = frozenset(("tensor", "as_tensor", "asarray", "from_numpy"))


@functools.cache
def _tables():
    """The namespaces of functions of tensors, by where they are below ``torch``."""
    from . import fft, linalg, special

    functional = importlib.import_module("gradviz.nn.functional")
    return {
        "": FUNCTIONS,
        ".nn.functional": vars(functional),
        ".linalg": vars(linalg),
        ".fft": vars(fft),
        ".special": vars(special),
    }


@functools.cache
def _watch_functions():
    """From now on functions of tensors look at their arguments."""
    import gradviz

    from . import autograd
    from .autograd import forward_ad

    def watched(name, found):
        plain = isinstance(found, types.FunctionType) and name[:1] != "_"
        if not plain or name in _UNASKED or hasattr(found, "looks"):
            return found
        if not found.__module__.startswith("gradviz."):
            return found
        return _looked.setdefault(id(found), _looking(found, name in _ASKS_MODES_ONLY))

    for table in _tables().values():
        for name, found in list(table.items()):
            table[name] = watched(name, found)
    for module, names in (
        (autograd, ("grad", "backward")),
        (forward_ad, ("make_dual", "unpack_dual")),
    ):
        for name in names:
            setattr(module, name, watched(name, getattr(module, name)))
    for name in list(vars(gradviz)):
        if name in FUNCTIONS:
            setattr(gradviz, name, FUNCTIONS[name])
    for module in [m for n, m in sys.modules.items() if n.startswith("gradviz.nn.")]:
        for name, found in list(vars(module).items()):
            if id(found) in _looked:
                setattr(module, name, _looked[id(found)])
            if isinstance(found, type) and found.__module__ == module.__name__:
                _let_look(found)


def _let_look(layer):
    """The functions that a class of modules names look at their arguments, too."""
    for name, found in list(vars(layer).items()):
        if isinstance(found, staticmethod) and id(found.__func__) in _looked:
            setattr(layer, name, staticmethod(_looked[id(found.__func__)]))


class interceptable:
    """Inside the block methods of plain tensors ask their arguments, too."""

    count = 0
    lock = threading.Lock()

    def __enter__(self):
        with interceptable.lock:
            interceptable.count += 1
            if interceptable.count == 1:
                _install(_ASKING)

    def __exit__(self, *_):
        with interceptable.lock:
            interceptable.count -= 1
            if interceptable.count == 0:
                _install(_PLAIN)


def _install(methods):
    for name in _ASKING:
        setattr(Tensor, name, methods[name])


class TorchFunctionMode:
    """Inside ``with Mode():`` every function of tensors that is called by this thread asks
    ``__torch_function__(func, types, args, kwargs)`` of the mode instead.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        interceptable.__enter__(self)
        _thread.modes = (*_thread.modes, self)
        return self

    def __exit__(self, *error):
        _thread.modes = _thread.modes[:-1]
        interceptable.__exit__(self, *error)

    @classmethod
    def push(cls, *args, **kwargs):
        """An older way to write ``cls()``."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every function through."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode():
    """The innermost mode of this thread, or None."""
    return _thread.modes[-1] if _thread.modes else None


def _get_current_function_mode_stack():
    """All modes of this thread, the innermost last."""
    return list(_thread.modes)


def looking(function):
    """``function``, or the one that looks at its arguments where there is one."""
    return _looked.get(id(function), function)


# ---------------------------------------------------------------- names
def is_tensor_method_or_property(func):
    """Whether it is a method, or reads or writes a property, of ``Tensor``."""
    return func.__name__ in ("__get__", "__set__") or any(
        func is found for found in _PLAIN.values()
    )


def resolve_name(f):
    """Where a function is found: ``torch.add``, ``torch.Tensor.add``; None for others."""
    owner = getattr(f, "__self__", None)
    if isinstance(owner, property) and id(owner) in _NAMES:
        return f"torch.Tensor.{_NAMES[id(owner)]}.{f.__name__}"
    if id(f) in _NAMES:
        return f"torch.Tensor.{_NAMES[id(f)]}"
    for place, table in _tables().items():
        for name, found in table.items():
            if found is f:
                return f"torch{place}.{name}"
    return None


_watch_functions()
