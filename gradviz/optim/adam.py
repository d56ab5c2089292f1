"""Adam, and AdamW with decay apart from the gradient."""

from __future__ import annotations

import math

from ..backend import blocks, scratch, xp
from ..backend.fast import kernels_for
from ..engine.dispatch import Tensor
from ..ops import fused
from .optimizer import (
    Rule,
    check_at_least_zero,
    check_betas,
    check_fused,
    check_lr,
    count_step,
    new_step,
    number,
    zeros_like,
)

_LATER = (
    ("amsgrad", False),
    ("maximize", False),
    ("foreach", None),
    ("capturable", False),
    ("differentiable", False),
    ("fused", None),
    ("decoupled_weight_decay", False),
)


class Adam(Rule):
    """Steps of the running mean of the gradient over the root of its running square, both corrected
    for their start."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        check_lr(lr)
        check_at_least_zero(eps, "epsilon value")
        check_betas(betas)
        check_at_least_zero(weight_decay, "weight_decay value")
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        check_fused(fused, foreach, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": tuple(betas),
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in _LATER:
                group.setdefault(name, value)
            for p in group["params"]:
                own = self.state.get(p)
                if own and not hasattr(own["step"], "_a"):
                    own["step"] = new_step(float(own["step"]))

    def _options(self, group):
        beta1, beta2 = group["betas"]
        return (
            number(group["lr"]),
            number(beta1),
            number(beta2),
            group["eps"],
            group["weight_decay"],
            group["amsgrad"],
            group["maximize"],
            group["decoupled_weight_decay"],
        )

    def _update(self, options, p, g, state):
        lr, beta1, beta2, eps, decay, amsgrad, maximize, decoupled = options
        if not state:
            state["step"] = new_step()
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
            if amsgrad:
                state["max_exp_avg_sq"] = zeros_like(p)
        step = count_step(state)
        if maximize:
            g = -g
        if decay and decoupled:
            xp.multiply(p, 1 - lr * decay, out=p)
        elif decay:
            g = g + p * decay
        root = math.sqrt(1 - beta2**step)
        numbers = (
            1 - beta1,
            beta2,
            math.sqrt(1 - beta2),
            eps * root,
            lr / (1 - beta1**step) * root,
        )
        arrays = [p, g, state["exp_avg"]._a, state["exp_avg_sq"]._a]
        if amsgrad:
            arrays.append(state["max_exp_avg_sq"]._a)
        if p.__class__ is not xp.ndarray:
            rest1, beta2, _, eps, size = numbers
            fused.adam(arrays, (rest1, beta2, 1 - beta2, eps, size))
            return 2 if decay and decoupled else 1
        if not amsgrad and (fast := kernels_for(*arrays)) is not None:
            rest1, beta2, _, eps, size = numbers
            given = map(p.dtype.type, (rest1, beta2, 1 - beta2, eps, size))
            fast.adam(*(a.reshape(-1) for a in arrays), *given)
            return 2 if decay and decoupled else 1
        for block in blocks(1 << 16, *arrays):
            _advance(numbers, *block)
        return 2 if decay and decoupled else 1


def _advance(numbers, p, g, mean, square, largest=None):
    """One block. The correction of the second moment is folded into ``eps`` and the step, to save a
    pass."""
    rest1, beta2, root_rest2, eps, size = numbers
    t = scratch.like(g)
    xp.subtract(g, mean, out=t)
    xp.multiply(t, rest1, out=t)
    xp.add(mean, t, out=mean)
    xp.multiply(square, beta2, out=square)
    xp.multiply(g, root_rest2, out=t)
    xp.multiply(t, t, out=t)
    xp.add(square, t, out=square)
    if largest is not None:
        square = xp.maximum(largest, square, out=largest)
    xp.sqrt(square, out=t)
    xp.add(t, eps, out=t)
    xp.divide(mean, t, out=t)
    xp.multiply(t, size, out=t)
    xp.subtract(p, t, out=p)


class AdamW(Adam):
    """``Adam`` whose weight decay shrinks the parameters directly."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
