"""Rules with running averages of the squared gradient: RMSprop, Adagrad, Adadelta."""

from __future__ import annotations

from ..backend import xp
from ..engine.dispatch import wrap
from .optimizer import (
    Rule,
    check_at_least_zero,
    check_fused,
    check_lr,
    count_step,
    new_step,
    number,
    zeros_like,
)


def directed(p, g, group):
    """The gradient with ``maximize`` and ``weight_decay`` applied; out of place where it
    changes."""
    if group["maximize"]:
        g = -g
    return g + p * number(group["weight_decay"]) if group["weight_decay"] else g


def average_square(square, g, keep):
    """``square ← keep · square + (1 − keep) · g²`` in place."""
    square *= keep
    square += (1 - keep) * (g * g)


class RMSprop(Rule):
    """The gradient over the root of the running mean of its square."""

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        check_at_least_zero(eps, "epsilon value")
        check_at_least_zero(momentum, "momentum value")
        check_at_least_zero(weight_decay, "weight_decay value")
        check_at_least_zero(alpha, "alpha value")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"], state["square_avg"] = new_step(), zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = zeros_like(p)
        count_step(state)
        g = directed(p, g, group)
        alpha, square = group["alpha"], state["square_avg"]._a
        average_square(square, g, alpha)
        root = square
        if group["centered"]:
            mean = state["grad_avg"]._a
            mean += (g - mean) * (1 - alpha)
            root = square - mean * mean
        step = g / (xp.sqrt(root) + group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]._a
            buffer *= group["momentum"]
            buffer += step
            step = buffer
        p -= step * number(group["lr"])


class Adagrad(Rule):
    """The gradient over the root of the sum of its squares."""

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        check_lr(lr)
        check_at_least_zero(lr_decay, "lr_decay value")
        check_at_least_zero(weight_decay, "weight_decay value")
        check_at_least_zero(initial_accumulator_value, "initial_accumulator_value value")
        check_at_least_zero(eps, "epsilon value")
        check_fused(fused, foreach, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                start = group["initial_accumulator_value"]
                self.state[p] = {"step": new_step(), "sum": wrap(xp.full_like(p._a, start))}

    def share_memory(self):
        """Nothing: memory is never shared between processes here."""

    def _update(self, group, p, g, state):
        step = count_step(state)
        g = directed(p, g, group)
        total = state["sum"]._a
        total += g * g
        p -= (
            g
            / (xp.sqrt(total) + group["eps"])
            * (number(group["lr"]) / (1 + (step - 1) * group["lr_decay"]))
        )


class Adadelta(Rule):
    """The gradient times the ratio of the running means of past steps and past gradients."""

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_at_least_zero(eps, "epsilon value")
        check_at_least_zero(weight_decay, "weight_decay value")
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"], state["square_avg"], state["acc_delta"] = (
                new_step(),
                zeros_like(p),
                zeros_like(p),
            )
        count_step(state)
        g = directed(p, g, group)
        rho, eps = group["rho"], group["eps"]
        square, past = state["square_avg"]._a, state["acc_delta"]._a
        average_square(square, g, rho)
        delta = xp.sqrt(past + eps) / xp.sqrt(square + eps) * g
        average_square(past, delta, rho)
        p -= delta * number(group["lr"])
