"""Parameters and buffers: tensors that a module finds when they are assigned to it."""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.construct import mark
from ..engine.device import like
from ..engine.dispatch import Tensor, wrap
from ..engine.node import new


def _same_storage(cls, data, requires_grad):
    """A leaf of class ``cls`` on the storage and version of ``data``."""
    t = new(cls)
    t._a = data._a
    if data._v is None:
        data._v = [0, None]
    t._v = data._v
    t._g = None
    return mark(t, requires_grad)


def _custom(data, requires_grad):
    """An instance of a subclass stays one, and passes for a parameter."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that "
            "detach() returns an instance of the same type, but return type "
            f"{type(made).__name__} was found instead. To use the type as a Parameter, please "
            "correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    made._is_param = True
    return made


class _ParameterMeta(type(Tensor)):
    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is Parameter
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_param", False)
        )


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that ``Module`` registers when it is assigned as an attribute."""

    __slots__ = ()
    _is_parameter = True

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _empty()
        if not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
        if cls is Parameter and type(data) not in (Tensor, Parameter):
            return _custom(data, requires_grad)
        return _same_storage(cls, data, requires_grad)

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = type(self)(self.data.clone(), self.requires_grad)
        memo[id(self)] = made
        return made


class _BufferMeta(type(Tensor)):
    def __instancecheck__(cls, instance):
        return super().__instancecheck__(instance) or (
            cls is Buffer
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that ``Module`` registers as a buffer when it is assigned. ``persistent``: part of
    ``state_dict``. It stays of the class of ``data``, and passes for a buffer."""

    __slots__ = ()

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = _empty()
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


class _Uninitialized:
    """What lazy modules hold until they have seen an input."""

    __slots__ = ()

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when "
            "trying to load an uninitialized parameter into an initialized one. Call `forward` to "
            "initialize the parameters before "
            "accessing their attributes."
        )

    def materialize(self, shape, device=None, dtype=None):
        """Become an ordinary tensor of ``shape``, its values undefined."""
        there = self._a if device is None else like(device)
        self._a = xp.empty(tuple(shape), self._a.dtype if dtype is None else dtype.np, like=there)
        self.__class__ = self.cls_to_become

    def share_memory_(self):
        """Impossible before there is memory."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self):
        return f"<{type(self).__name__}>"


# What may be asked of a tensor without a shape; all else would compute with nothing.
_ALLOWED = (
    "size copy_ is_complex is_floating_point half float double char short int long bfloat16 cuda "
    "cpu to type get_device detach requires_grad_ materialize share_memory_ register_hook "
    "register_post_accumulate_grad_hook retain_grad element_size"
).split()


def _refusing(name):
    def method(self, *args, **kwargs):
        raise ValueError(
            f"Attempted to use an uninitialized parameter in <method '{name}' of "
            "'torch._C.TensorBase' objects>. This error happens when you are using a `LazyModule` "
            "or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When "
            "using LazyModules Call `forward` with a dummy batch to initialize the parameters "
            "before calling torch functions"
        )

    method.__name__ = name
    return method


for _name in dir(Tensor):
    if not _name.startswith("_") and _name not in _ALLOWED and callable(getattr(Tensor, _name)):
        setattr(_Uninitialized, _name, _refusing(_name))
for _name in ("add", "sub", "mul", "truediv", "matmul", "pow", "neg", "radd", "rsub", "rmul"):
    setattr(_Uninitialized, f"__{_name}__", _refusing(_name.removeprefix("r")))


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet."""

    __slots__ = ()
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _same_storage(cls, _empty(dtype, device), requires_grad)

    def __deepcopy__(self, memo):
        made = memo.get(id(self))
        if made is None:
            made = memo[id(self)] = type(self)(
                self.requires_grad, device=self.device, dtype=self.dtype
            )
        return made


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape is not known yet."""

    __slots__ = ()
    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        t = _same_storage(cls, _empty(dtype, device), requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t


def _empty(dtype=None, device=None):
    return wrap(xp.empty(0, (dtype or dtypes.default.float).np, like=like(device)))


def is_lazy(x):
    """Whether ``x`` is a parameter or buffer without a shape yet."""
    return isinstance(x, _Uninitialized)
