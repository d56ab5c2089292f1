"""Normalisation as modules."""

from __future__ import annotations

import numbers

from ...ops.declare import FUNCTIONS
from .. import functional as F
from .. import init
from ..parameter import Parameter, UninitializedBuffer, UninitializedParameter
from .lazy import LazyMixin
from .module import Module
from .synchronised import group_of, normalise

empty = FUNCTIONS["empty"]


class _NormBase(Module):
    """Scale, shift and running statistics, one a channel."""

    _version = 2

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter(
            "weight", Parameter(empty(num_features, device=device, dtype=dtype)) if affine else None
        )
        self.register_parameter(
            "bias",
            Parameter(empty(num_features, device=device, dtype=dtype)) if affine and bias else None,
        )
        tracked = track_running_stats
        self.register_buffer(
            "running_mean",
            FUNCTIONS["zeros"](num_features, device=device, dtype=dtype) if tracked else None,
        )
        self.register_buffer(
            "running_var",
            FUNCTIONS["ones"](num_features, device=device, dtype=dtype) if tracked else None,
        )
        self.register_buffer(
            "num_batches_tracked", FUNCTIONS["tensor"](0, device=device) if tracked else None
        )
        self.reset_parameters()

    def reset_running_stats(self):
        """Forget the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Scale 1, shift 0, no statistics."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = (
                self.num_batches_tracked
                if self.num_batches_tracked is not None
                else FUNCTIONS["tensor"](0)
            )
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input_dim(self, input):
        allowed = self.allowed_dims
        if input.dim() not in allowed:
            raise ValueError(f"expected {self._allowed()} input (got {input.dim()}D input)")

    def _allowed(self):
        return " or ".join(f"{d}D" for d in self.allowed_dims)

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        from_batch = self.training or (self.running_mean is None and self.running_var is None)
        kept = not self.training or self.track_running_stats
        return self._normalised(input, from_batch, kept, momentum)

    def _normalised(self, input, from_batch, kept, momentum):
        return F.batch_norm(
            input,
            self.running_mean if kept else None,
            self.running_var if kept else None,
            self.weight,
            self.bias,
            from_batch,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch norm of (N, C) or (N, C, L)."""

    allowed_dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch norm of (N, C, H, W)."""

    allowed_dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch norm of (N, C, D, H, W)."""

    allowed_dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch norm over the batches of all processes of a group; with one process it is the ordinary
    one."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _normalised(self, input, from_batch, kept, momentum):
        group = group_of(self.process_group) if from_batch and self.training else None
        if group is None:
            return super()._normalised(input, from_batch, kept, momentum)
        return normalise(self, input, momentum, group)

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """Every batch norm below ``module`` as a ``SyncBatchNorm`` with the same parameters."""
        out = module
        if isinstance(module, _BatchNorm) and not isinstance(module, cls):
            out = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for table in ("_parameters", "_buffers"):
                getattr(out, table).update(getattr(module, table))
            out.training = module.training
        for name, child in module.named_children():
            out.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return out


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input):
        self._check_input_dim(input)
        alone = input.dim() == self.allowed_dims[0]
        channels = input.shape[0 if alone else 1]
        if channels != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={0 if alone else 1} to match num_features "
                f"({self.num_features}), but got: "
                f"{channels}."
            )
        out = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return out.squeeze(0) if alone else out


class InstanceNorm1d(_InstanceNorm):
    """Instance norm of (N, C, L) or (C, L)."""

    allowed_dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance norm of (N, C, H, W) or (C, H, W)."""

    allowed_dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance norm of (N, C, D, H, W) or (C, D, H, W)."""

    allowed_dims = (4, 5)


class _LazyNorm(LazyMixin):
    def __init__(
        self,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(0, eps, momentum, False, False, device=device, dtype=dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean, self.running_var = (
                UninitializedBuffer(device=device, dtype=dtype),
                UninitializedBuffer(device=device, dtype=dtype),
            )
            self.num_batches_tracked = FUNCTIONS["tensor"](0, device=device)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Take the number of channels from ``input``."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for x in (self.weight, self.bias, self.running_mean, self.running_var):
            if x is not None:
                x.materialize((self.num_features,))
        self.reset_parameters()


def _lazy(cls):
    return type(
        f"Lazy{cls.__name__}",
        (_LazyNorm, cls),
        {
            "cls_to_become": cls,
            "__module__": __name__,
            "__doc__": f"``{cls.__name__}`` that learns its channels from its first input.",
        },
    )


LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = map(
    _lazy, (BatchNorm1d, BatchNorm2d, BatchNorm3d)
)
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = map(
    _lazy, (InstanceNorm1d, InstanceNorm2d, InstanceNorm3d)
)


class LayerNorm(Module):
    """Normalises over the last dimensions."""

    def __init__(
        self,
        normalized_shape,
        eps=1e-5,
        elementwise_affine=True,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        shape = (
            (normalized_shape,)
            if isinstance(normalized_shape, numbers.Integral)
            else tuple(normalized_shape)
        )
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter(
            "weight",
            Parameter(empty(*shape, device=device, dtype=dtype)) if elementwise_affine else None,
        )
        self.register_parameter(
            "bias",
            Parameter(empty(*shape, device=device, dtype=dtype))
            if elementwise_affine and bias
            else None,
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Scale 1, shift 0."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions."""

    def __init__(
        self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None
    ):
        super().__init__()
        shape = (
            (normalized_shape,)
            if isinstance(normalized_shape, numbers.Integral)
            else tuple(normalized_shape)
        )
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self.register_parameter(
            "weight",
            Parameter(empty(*shape, device=device, dtype=dtype)) if elementwise_affine else None,
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Scale 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x):
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Normalises groups of channels."""

    def __init__(
        self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True
    ):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels, self.eps, self.affine = (
            num_groups,
            num_channels,
            eps,
            affine,
        )
        self.register_parameter(
            "weight", Parameter(empty(num_channels, device=device, dtype=dtype)) if affine else None
        )
        self.register_parameter(
            "bias",
            Parameter(empty(num_channels, device=device, dtype=dtype)) if affine and bias else None,
        )
        self.reset_parameters()

    def reset_parameters(self):
        """Scale 1, shift 0."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Divides by a power of the mean square of neighbouring channels."""

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
