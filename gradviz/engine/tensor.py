"""The tensor: an array, an edge into the graph, a version, and PyTorch's properties. No mathematics
here.

Slots: ``_a`` array; ``_edge``: None, LEAF, a node or an Output, *unset* on a view whose base was
modified (reading ``_g`` then makes the view's new node, see views.py); ``_v`` version cell [count,
weak views] or None until needed. The other slots stay unset until somebody needs them, and are read
as None under their name without the last underscore. The class has no ``__getattr__``: with one,
every attribute would take six times as long to read.
"""

from __future__ import annotations

import warnings

from . import device, dtypes, hooks
from .accumulator import accumulator, before_change
from .assigned import check_gradient
from .device import CPU
from .events import door
from .given import given
from .memory_format import has_format
from .modes import local, look_closely, state
from .node import INFERENCE, LEAF, Detached, Nowhere, new, nowhere, serial


class Size(tuple):
    """A shape: a tuple that prints as ``torch.Size([2, 3])`` and has ``numel()``."""

    __module__ = "gradviz"
    __slots__ = ()

    def numel(self):
        """The product of the sizes."""
        out = 1
        for n in self:
            out *= n
        return out

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other):
        if not isinstance(other, tuple):
            kind = type(other).__name__
            raise TypeError(f"can only concatenate tuple (not {kind}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times):
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__


class InputMetadata:
    """Shape (a list), dtype and device of one output of a node."""

    __slots__ = ("_np_dtype", "_shape")
    is_nested_tensor = is_cpp_nested_tensor = False
    shape = property(lambda self: list(self._shape))
    dtype = property(lambda self: dtypes.from_np(self._np_dtype))
    device = property(lambda self: CPU)

    def __new__(cls):
        raise TypeError("torch._C._autograd._InputMetadata: No constructor defined!")

    def __dir__(self):
        return [n for n in super().__dir__() if n not in self.__slots__]


def input_metadata(shape, np_dtype):
    """What ``_input_metadata`` shows of one output."""
    made = new(InputMetadata)
    made._shape, made._np_dtype = shape, np_dtype
    return made


InputMetadata.__name__ = InputMetadata.__qualname__ = "_InputMetadata"
InputMetadata.__module__ = "torch._C._autograd"


class Tensor:
    """A multi-dimensional array of one dtype that can be part of a computational graph."""

    __module__ = "gradviz"
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_a",
        "_acc_",
        "_count_",
        "_edge",
        "_grad_",
        "_hooks_",
        "_id_",
        "_name_",
        "_stale_",
        "_tangent_",
        "_v",
        "_view_",
    )

    _kind = 2
    _printed_as = "tensor"
    _is_parameter = False
    __hash__ = object.__hash__
    __array_priority__ = 1000

    def __new__(cls, *args, **kwargs):
        from .construct import legacy_tensor

        return legacy_tensor(cls, *args, **kwargs)

    def __init__(self, *args, **kwargs):
        pass

    # -- slots that may be unset -----------------------------------------
    @property
    def _g(self):
        try:
            return self._edge
        except AttributeError:
            from .views import regenerate

            return regenerate(self)

    @_g.setter
    def _g(self, edge):
        self._edge = edge

    @_g.deleter
    def _g(self):
        del self._edge

    @property
    def _grad(self):
        try:
            return self._grad_
        except AttributeError:
            return None

    @_grad.setter
    def _grad(self, found):
        self._grad_ = found

    @property
    def _view(self):
        try:
            return self._view_
        except AttributeError:
            return None

    @_view.setter
    def _view(self, found):
        self._view_ = found

    # -- the graph -------------------------------------------------------
    @property
    def requires_grad(self):
        """Whether operations on this tensor are recorded."""
        try:
            return _read_g(self) is not None
        except AttributeError:
            return self._stale is not None or self._view[0].requires_grad

    @requires_grad.deleter
    def requires_grad(self):
        raise RuntimeError("requires_grad must be a bool")

    @requires_grad.setter
    def requires_grad(self, value):
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if is_result(edge_now(self)):
            raise RuntimeError(_LEAVES_ONLY + ("" if value else _USE_DETACH))
        if value and dtypes.of(self._a).category < 2:
            raise RuntimeError(
                "only Tensors of floating point and complex dtype can require gradients"
            )
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        """Set whether this leaf is tracked; returns self. RuntimeError for a result, or a dtype
        that has no gradient.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if local.transforms:
            raise RuntimeError(_TRANSFORMED)
        g = edge_now(self)
        if is_result(g):
            if requires_grad:
                return self
            raise RuntimeError(_LEAVES_ONLY + _USE_DETACH)
        if requires_grad:
            if self._v is INFERENCE and not (state.special and local.inference):
                raise RuntimeError(INFERENCE_GRAD_MESSAGE)
            if dtypes.of(self._a).category < 2:
                raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if not requires_grad and g.__class__ is Nowhere:
            return self
        if _is_stale(self):
            self._stale = LEAF if requires_grad else None
            return self
        self._g = LEAF if requires_grad else None
        ready_leaf(self)
        if self._v is INFERENCE:
            look_closely()
        if self._v is not None and self._v[1] and self._view is None:
            _tell_views(self, requires_grad)
        return self

    @property
    def is_leaf(self):
        """True for tensors that no recorded operation made."""
        g = self._g
        if g is None or g is LEAF or g.__class__ is Nowhere:
            return True
        return g._kind == 1 and g.node._kind == 2  # a saved leaf behind an unpack hook

    @property
    def grad_fn(self):
        """The node that made this tensor, None for a leaf."""
        g = self._g
        if g is None or g is LEAF:
            return None
        if g._kind == 1:
            return g.node if g.node._kind == 0 else None
        return None if g.__class__ is Nowhere else g

    @property
    def output_nr(self):
        """Which output of ``grad_fn`` this tensor is."""
        g = edge_now(self)
        return g.nr if g is not None and g is not LEAF and g._kind == 1 else 0

    @property
    def grad(self):
        """The accumulated gradient, None until a backward reaches this tensor."""
        found = self._grad
        if found is None and is_result(edge_now(self)) and not hooks.is_retained(self):
            warnings.warn(_NONLEAF_GRAD, UserWarning, stacklevel=2)
        return found

    @grad.setter
    def grad(self, value):
        if value is None:
            self._grad = None
            return
        if not isinstance(value, Tensor):
            raise TypeError(
                "assigned grad expected to be a Tensor or None but got grad of type "
                f"{type(value).__name__}"
            )
        check_gradient(self, value)
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    @property
    def grad_dtype(self):
        """The dtype that ``.grad`` of this leaf takes: its own until another is set, None where any
        is allowed. RuntimeError for a result, or while there is a gradient of another dtype.
        """
        if is_result(edge_now(self)):
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        found = hooks.gradient_dtype(self)
        return None if found is None else dtypes.from_np(found)

    @grad_dtype.setter
    def grad_dtype(self, value):
        if is_result(edge_now(self)):
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        if value is not None and not isinstance(value, dtypes.dtype):
            raise RuntimeError(
                f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}"
            )
        if value is not None and self._grad is not None and self._grad.dtype is not value:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{dtypes.scalar_name(value)}' because there is already "
                f"a gradient with dtype '{dtypes.c_name(self._grad.dtype)}'. Please clear the "
                "gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
                "matches the existing gradient's dtype."
            )
        hooks.set_gradient_dtype(self, None if value is None else value.np)

    @property
    def retains_grad(self):
        """True for a result whose gradient is kept."""
        return hooks.is_retained(self)

    def retain_grad(self):
        """Keep the gradient of this result in ``.grad``. RuntimeError for an untracked tensor;
        nothing for a leaf.
        """
        if local.transforms:
            raise RuntimeError(_TRANSFORMED_RETAIN)
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not is_result(edge_now(self)) or hooks.is_retained(self):
            return
        hooks.set_retain(self)
        if door.observer is not None:
            door.observer.retain_grad(self)

    def register_hook(self, hook):
        """Call ``hook(grad)`` when the gradient of this tensor is computed; what it returns
        replaces it.
        """
        return hooks.add_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook):
        """Call ``hook(self)`` after ``.grad`` of this leaf was updated."""
        return hooks.add_post_accumulate_hook(self, hook)

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        """Compute the gradients of this tensor with respect to the leaves; see
        ``autograd.backward``.
        """
        from .backward import backward

        __tracebackhide__ = True
        backward((self,), gradient, retain_graph, create_graph, inputs=inputs)

    def detach(self):
        """The same storage and version, outside the graph."""
        t = new(Tensor)
        t._a = self._a
        t._g = t._view = None
        v = self._v
        if v is None:
            v = self._v = [0, None]
        t._v = v
        if v is INFERENCE:
            _start_count(t)
        if door.observer is not None:
            door.observer.cut(self, t, "detach")
        return t

    def detach_(self):
        """Leave the graph in place; RuntimeError for a view. Its hooks stay."""
        if state.special and local.inference:
            return self
        if state.special and local.dual is not None:
            self._tangent = None
        if self._view is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, "
                "gradients are views of DDP buckets, and hence detach_() cannot be called on these "
                "gradients. To fix this error, please refer to the Optimizer.zero_grad() function "
                "in "
                "torch/optim/optimizer.py as the solution."
            )
        if is_result(self._g):
            hooks.keep_tensor_hooks(self)
            if self._v is not None and self._v is not INFERENCE:
                self._v[0] = Detached(self._v[0])
            else:
                self._v = [Detached(0), None]
        self._g = None
        if self._v is not None and self._v[1]:
            _tell_views(self, False)
        return self

    @property
    def data(self):
        """The same storage, outside the graph and without version checks."""
        t = new(Tensor)
        t._a = self._a
        t._g = None
        t._v = None
        if self._v is INFERENCE:
            t._v = INFERENCE
            _start_count(t)
        if door.observer is not None:
            door.observer.cut(self, t, "data")
        return t

    @data.setter
    def data(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if edge_now(self) is LEAF and dtypes.of(value._a).category < 2:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex "
                "dtype"
            )
        if value.is_meta is not self.is_meta:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
                "incompatible tensor type."
            )
        before_change(self, value._a)
        self._a = value._a

    @data.deleter
    def data(self):
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    @property
    def _version(self):
        """How often this storage was modified in place."""
        if self._v is INFERENCE and self._count is None:
            raise RuntimeError("Inference tensors do not track version counter.")
        v = self._v if self._v is not INFERENCE else (self._count,)
        return 0 if v is None else int(v[0])

    def _is_view(self):
        return self._view is not None

    @property
    def _base(self):
        view = self._view
        return None if view is None else view[0]

    @property
    def _backward_hooks(self):
        return hooks.tensor_table(self)

    @_backward_hooks.setter
    def _backward_hooks(self, value):
        if value is not None:
            hooks.set_tensor_table(self, value)
        elif self._hooks is not None:
            self._hooks.tensor = None

    @property
    def _cdata(self):
        """A number of its own while the tensor lives."""
        return id(self)

    @property
    def _post_accumulate_grad_hooks(self):
        found = self._hooks
        return None if found is None else found.post_accumulate

    def is_inference(self):
        """Whether this tensor was made under ``inference_mode``."""
        return self._v is INFERENCE

    def _accumulator(self):
        return accumulator(self)

    # -- the array -------------------------------------------------------
    @property
    def shape(self):
        """The sizes, a ``torch.Size``."""
        return Size(self._a.shape)

    def size(self, dim=None):
        """The shape, or the size of one dimension."""
        if dim is None:
            return Size(self._a.shape)
        try:
            return self._a.shape[wrap_dim(dim, self._a.ndim)]
        except TypeError as error:
            from .arguments import refusal

            raise refusal("size", (dim,), {}, method=True) or error from None
        except IndexError:
            if self._a.ndim:
                raise
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions") from None

    @property
    def dtype(self):
        """The dtype, such as ``gradviz.float32``."""
        return dtypes.of(self._a)

    @property
    def device(self):
        """Where the array lies."""
        return device.of(self._a)

    @property
    def ndim(self):
        """The number of dimensions."""
        return self._a.ndim

    def dim(self):
        """The number of dimensions."""
        return self._a.ndim

    ndimension = dim

    def numel(self):
        """The number of elements."""
        return self._a.size

    nelement = numel

    @property
    def itemsize(self):
        """Bytes an element."""
        return self._a.itemsize

    def element_size(self):
        """Bytes an element."""
        return self._a.itemsize

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self._a.nbytes

    def stride(self, dim=None):
        """Strides in elements."""
        strides = element_strides(self._a)
        return strides if dim is None else strides[wrap_dim(dim, self._a.ndim)]

    def is_contiguous(self, *, memory_format=None):
        """Whether the elements lie as ``memory_format`` says (row-major by default), no gaps."""
        return has_format(self._a, memory_format)

    def is_floating_point(self):
        return dtypes.of(self._a).is_floating_point

    def is_complex(self):
        return dtypes.of(self._a).is_complex

    def is_signed(self):
        return dtypes.of(self._a).is_signed

    def is_conj(self):
        return False

    def is_neg(self):
        return False

    is_cpu = property(lambda self: self.device.type == "cpu")
    is_cuda = property(lambda self: self.device.type == "cuda")
    is_meta = property(lambda self: self.device.type == "meta")
    is_mps = is_xpu = is_xla = is_ipu = is_maia = is_mtia = is_vulkan = is_mkldnn = property(
        lambda self: False
    )
    is_sparse = is_sparse_csr = is_quantized = is_nested = property(lambda self: False)

    @property
    def layout(self):
        from .device import strided

        return strided

    @property
    def name(self):
        """The name given by the user, None otherwise."""
        return self._name

    def __len__(self):
        if self._a.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._a.shape[0]

    def __dir__(self):
        return sorted(set(dir(type(self))) | set(self.__dict__))


INFERENCE_GRAD_MESSAGE = (
    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
)
_LEAVES_ONLY = "you can only change requires_grad flags of leaf variables."
_USE_DETACH = (
    " If you want to use a computed variable in a subgraph that doesn't require differentiation "
    "use var_no_grad = var.detach()."
)
_NONLEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated "
    "during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
    "Tensor, use "
    ".retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
    "sure you access the leaf "
    "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)

_TRANSFORMED_RETAIN = (
    "You are attempting to call Tensor.retain_grad() inside of a function being transformed by a "
    "functorch transform. This is unsupported, please attempt to use the functorch transforms "
    "(e.g. grad, vjp, jacrev, jacfwd, hessian) or call retain_grad() outside of a function being "
    "transformed instead."
)
_TRANSFORMED = (
    "You are attempting to call Tensor.requires_grad_() (or perhaps using "
    "torch.autograd.functional.* APIs) inside of a function being transformed by a functorch "
    "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, "
    "vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
    "transformed instead."
)

_read_g = Tensor.__dict__["_edge"].__get__


def _optional(slot):
    """A property that reads an unset slot as None."""
    read = slot.__get__

    def get(self):
        try:
            return read(self)
        except AttributeError:
            return None

    return property(get, slot.__set__, slot.__delete__)


for _slot in ("_acc", "_count", "_hooks", "_id", "_name", "_stale", "_tangent"):
    setattr(Tensor, _slot, _optional(Tensor.__dict__[f"{_slot}_"]))


def _start_count(tensor):
    """``tensor`` is what an inference tensor gave by ``detach()`` or ``.data``: made outside
    inference mode it counts its own writes there.
    """
    if not (state.special and local.inference):
        tensor._count = 0


def edge_now(tensor):
    """The edge of a tensor as it is; for a view whose base was modified, the one from before."""
    try:
        return _read_g(tensor)
    except AttributeError:
        return tensor._stale


def _is_stale(tensor):
    try:
        _read_g(tensor)
    except AttributeError:
        return True
    return False


def _cuda_interface(self):
    """How other libraries find the memory of a tensor on a GPU."""
    if not self.is_cuda:
        raise AttributeError(
            "Can't get __cuda_array_interface__ on non-CUDA tensor type: "
            f"torch.{self.dtype.type_name} If CUDA data is required use tensor.cuda() to copy "
            "tensor to device memory."
        )
    if self.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients "
            "aren't required, use var.detach() to get Variable that doesn't require grad."
        )
    return self._a.raw.__cuda_array_interface__


def is_result(g):
    """Whether an edge says that a recorded operation made the tensor."""
    return g is not None and g is not LEAF and g.__class__ is not Nowhere


WRITTEN = object()  # what an untracked view of an untracked base notes when it was modified


def _tell_views(base, requires_grad):
    """Views of a leaf require grad as it does, without a node of their own unless their storage was
    modified meanwhile.
    """
    for ref in base._v[1]:
        view = ref()
        g = None if view is None else edge_now(view)
        if view is None or view._base is not base or is_result(g) or g is LEAF:
            continue
        if requires_grad and view._stale is WRITTEN:
            view._stale = None
            del view._g
        else:
            view._g = nowhere(view._a) if requires_grad else None


def _base_of(tensor):
    """The tensor at the root of a chain of views."""
    view = tensor._view
    return tensor if view is None else view[0]


def wrap_dim(dim, ndim):
    """A dimension counted from the front; IndexError with PyTorch's text when out of range."""
    span = ndim or 1
    if -span <= dim < span:
        return given(dim + span, dim) if dim < 0 else dim
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})"
    )


def existing_dim(dim, ndim):
    """As ``wrap_dim``; IndexError also where there are no dimensions."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return int(wrap_dim(dim, ndim))


def element_strides(array):
    """Strides in elements, as PyTorch counts them."""
    size = array.itemsize
    if array.size == 0 or 1 in array.shape:
        return _canonical_strides(array, size)
    return tuple(s // size for s in array.strides)


def _canonical_strides(array, size):
    if array.flags.c_contiguous or array.size == 0:
        out, step = [], 1
        for n in reversed(array.shape):
            out.append(step)
            step *= max(n, 1)
        return tuple(reversed(out))
    return tuple(s // size for s in array.strides)


def ready_leaf(tensor):
    """Set the slots that a sweep reads of every leaf, so that it never meets an unset one."""
    tensor._hooks = tensor._hooks
    tensor._grad = tensor._grad


class Ended:
    """Stands for a transform whose leaves nobody can hold any more."""

    open = False


def as_leaf(tensor, transform=Ended):
    """``tensor``, made by ``transform`` for itself, as a leaf to differentiate for."""
    tensor._transform = transform
    return track(tensor)


def track(tensor):
    """A fresh untracked tensor as a leaf that requires grad."""
    tensor._g = LEAF
    ready_leaf(tensor)
    return tensor


def ensure_id(tensor):
    """A serial number for a leaf, given when first asked."""
    found = tensor._id
    if found is None:
        found = tensor._id = serial()
    return found


def _repr(self, *, tensor_contents=None):
    from .printing import text

    found = text(self, f"{self._printed_as}(")
    if self._printed_as != "tensor" and getattr(self, "_is_param", self._is_parameter):
        return f"Parameter({found})"
    return found


def _format(self, spec):
    from .printing import formatted

    return formatted(self, spec)


Tensor.__repr__ = _repr
Tensor.__format__ = _format


Tensor.__cuda_array_interface__ = property(_cuda_interface)

_MAY_BE_UNSET = frozenset(n for n in Tensor.__slots__ if n[-1] == "_" and n[:2] != "__")


def _names(self):
    """What there is to ask a tensor for."""
    gone = {"volatile"} if self.is_cuda else {"volatile", "__cuda_array_interface__"}
    return [n for n in object.__dir__(self) if n not in _MAY_BE_UNSET and n not in gone]


Tensor.__dir__ = _names


def read_only(name, getter):
    """The property ``name`` of tensors, that cannot be set."""

    def refuse(self, *_):
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return property(getter, refuse, refuse, getter.__doc__)


for _name, _found in list(vars(Tensor).items()):
    if isinstance(_found, property) and _name[:2] != "__" and _found.fset is None:
        setattr(Tensor, _name, read_only(_name, _found.fget))
