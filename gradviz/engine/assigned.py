"""What a person may assign to ``.grad``."""

from __future__ import annotations

from . import dtypes, hooks


def check_gradient(tensor, value):
    """RuntimeError unless the tensor ``value`` may be the ``.grad`` of ``tensor``."""
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    wanted = hooks.gradient_dtype(tensor)
    if wanted is not None and value._a.dtype != wanted:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{dtypes.c_name(value.dtype)}' to a "
            f"tensor with grad_dtype '{dtypes.scalar_name(dtypes.from_np(wanted))}'. The gradient "
            "must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
            "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
            "downstream systems that assume they match."
        )
    if value.is_meta is not tensor.is_meta:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device.type}' to a tensor "
            f"with device type '{tensor.device.type}'. Please ensure that the gradient and the "
            "tensor are on the same device"
        )
    if value.device != tensor.device:
        raise RuntimeError(
            f"attempting to assign a gradient located on device with index {value.device.index} of "
            "type "
            f"'{value.device.type}' to a tensor located on device with index {tensor.device.index} "
            "of type "
            f"'{tensor.device.type}'. Please ensure that the gradient and the tensor are on the "
            "same device"
        )
    if value._a.shape != tensor._a.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
