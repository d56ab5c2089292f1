"""Batch statistics over all processes of a group, for ``SyncBatchNorm``."""

from __future__ import annotations

from ...autograd.function import Function
from ...engine.modes import no_grad
from ...ops.declare import FUNCTIONS


def group_of(process_group):
    """The group of several processes that statistics are shared in, None where there is none."""
    from ...distributed import is_initialized
    from ...distributed.group import member

    own = member(process_group) if is_initialized() else None
    return own if own is not None and own.size() > 1 else None


class _Total(Function):
    """The sum of a tensor over all processes; so is its gradient."""

    @staticmethod
    def forward(ctx, x, group):
        from ...distributed import all_reduce

        ctx.group = group
        total = x.clone()
        all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx, g):
        return _Total.apply(g, ctx.group), None


def normalise(module, input, momentum, group):
    """``input`` normalised by mean and variance over the batches of all processes."""
    dims = [d for d in range(input.dim()) if d != 1]
    shape = [1, -1] + [1] * (input.dim() - 2)
    rows = input.numel() // input.shape[1]
    count = _Total.apply(FUNCTIONS["tensor"](float(rows), dtype=input.dtype), group).item()
    mean = _Total.apply(input.sum(dims), group) / count
    centred = input - mean.view(shape)
    variance = _Total.apply((centred * centred).sum(dims), group) / count
    if module.track_running_stats and module.running_mean is not None:
        with no_grad():
            module.running_mean.lerp_(mean, momentum)
            module.running_var.lerp_(variance * (count / (count - 1)), momentum)
    out = centred * (variance + module.eps).rsqrt().view(shape)
    out = out if module.weight is None else out * module.weight.view(shape)
    return out if module.bias is None else out + module.bias.view(shape)
