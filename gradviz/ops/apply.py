"""A Python function for each element, in place, as PyTorch offers it on the CPU; and questions
about two tensors.
"""

from __future__ import annotations

from .declare import only_function, only_method, tensor_argument


def _elementwise(name, self, others, function):
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. "
            f"Use var.detach().{name}() instead."
        )
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    for other in others:
        if other.dtype != self.dtype:
            raise TypeError(
                f"{name}: expected torch.{self.dtype.type_name} for 'other' "
                f"(got torch.{other.dtype.type_name})"
            )
    arrays = [self._a, *(other.expand(self.shape)._a for other in others)]
    convert = {"b": bool, "i": int, "u": int, "c": complex}.get(self._a.dtype.kind, float)
    for place in range(self._a.size):
        found = function(*(array.flat[place].item() for array in arrays))
        if not hasattr(found, "__float__") and not isinstance(found, complex):
            raise TypeError(f"must be real number, not {type(found).__name__}")
        self._a.flat[place] = convert(found)
    return self


def apply_(self, callable):
    """Replace each element by ``callable(element)``. RuntimeError for a tensor that requires grad;
    the version stays, as in PyTorch.
    """
    return _elementwise("apply_", self, (), callable)


def map_(self, other, callable):
    """Replace each element by ``callable(element, element of other)``; ``other`` is broadcast."""
    tensor_argument("map_", other, "other")
    return _elementwise("map_", self, (other,), callable)


def map2_(self, x, y, callable):
    """Replace each element by ``callable(element, element of x, element of y)``."""
    for k, (name, other) in enumerate((("x", x), ("y", y)), 1):
        tensor_argument("map2_", other, name, k)
    return _elementwise("map2_", self, (x, y), callable)


def is_same_size(self, other):
    """Whether both shapes are equal."""
    return self.shape == tensor_argument("is_same_size", other, "other").shape


def is_set_to(self, tensor):
    """Whether both have the same storage, offset, sizes and strides."""
    tensor_argument("is_set_to", tensor, "tensor")
    return (
        self.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
        and self.storage_offset() == tensor.storage_offset()
        and self.shape == tensor.shape
        and self.stride() == tensor.stride()
    )


def dim_order(self):
    """The dimensions, the one that lies farthest apart in memory first."""
    strides = self.stride()
    return tuple(sorted(range(self.dim()), key=lambda d: -strides[d]))


def module_load(self, other, assign=False):
    """What ``Module.load_state_dict`` puts in the place of this tensor when it swaps tensors."""
    return other.detach() if assign else self.copy_(other).detach()


def _is_same_size(input, other):
    """Whether both shapes are equal."""
    tensor_argument("is_same_size", input)
    return is_same_size(input, tensor_argument("is_same_size", other, "other", 2))


for _f in (apply_, map_, map2_, is_same_size, is_set_to, dim_order, module_load):
    only_method(_f)
only_function(_is_same_size, "is_same_size")
only_method(lambda self: self.data_ptr(), "const_data_ptr")
only_method(lambda self: False, "is_distributed")
