"""Relatives of Adam and of plain descent: Adamax, NAdam, RAdam, ASGD, Rprop."""

from __future__ import annotations

import math

from ..backend import xp
from ..engine.dispatch import wrap
from .averages import average_square, directed
from .optimizer import (
    Rule,
    check_at_least_zero,
    check_betas,
    check_lr,
    count_step,
    new_step,
    number,
    zeros_like,
)


def _check_adam(lr, betas, eps, weight_decay):
    check_lr(lr)
    check_at_least_zero(eps, "epsilon value")
    check_betas(betas)
    check_at_least_zero(weight_decay, "weight_decay value")


def _decayed(p, g, group):
    """``maximize`` and both kinds of weight decay; the gradient to go on with."""
    if group["maximize"]:
        g = -g
    decay = group["weight_decay"]
    if decay and group["decoupled_weight_decay"]:
        p *= 1 - number(group["lr"]) * decay
        return g
    return g + p * decay if decay else g


def _first_moment(state, g, beta1):
    mean = state["exp_avg"]._a
    mean += (g - mean) * (1 - beta1)
    return mean


class Adamax(Rule):
    """Adam with the largest past gradient in place of the mean square."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        _check_adam(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"], state["exp_avg"], state["exp_inf"] = (
                new_step(),
                zeros_like(p),
                zeros_like(p),
            )
        step = count_step(state)
        beta1, beta2 = group["betas"]
        g = directed(p, g, group)
        mean, largest = _first_moment(state, g, beta1), state["exp_inf"]._a
        largest *= beta2
        xp.maximum(largest, xp.abs(g) + group["eps"], out=largest)
        p -= mean / largest * (number(group["lr"]) / (1 - beta1**step))


class NAdam(Rule):
    """Adam with Nesterov's momentum."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        _check_adam(lr, betas, eps, weight_decay)
        check_at_least_zero(momentum_decay, "momentum_decay value")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"], state["mu_product"] = new_step(), new_step(1.0)
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(p), zeros_like(p)
        step = count_step(state)
        beta1, beta2 = group["betas"]
        lr, decay = number(group["lr"]), group["momentum_decay"]
        g = _decayed(p, g, group)
        mu, mu_next = (beta1 * (1.0 - 0.5 * 0.96 ** (s * decay)) for s in (step, step + 1))
        product = state["mu_product"]._a
        product *= mu
        mean = _first_moment(state, g, beta1)
        square = state["exp_avg_sq"]._a
        average_square(square, g, beta2)
        root = xp.sqrt(square / (1 - beta2**step)) + group["eps"]
        p -= g / root * (lr * (1.0 - mu) / (1.0 - float(product)))
        p -= mean / root * (lr * mu_next / (1.0 - float(product) * mu_next))


class RAdam(Rule):
    """Adam that waits until the variance of its second moment is small enough."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        _check_adam(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"], state["exp_avg"], state["exp_avg_sq"] = (
                new_step(),
                zeros_like(p),
                zeros_like(p),
            )
        step = count_step(state)
        beta1, beta2 = group["betas"]
        g = _decayed(p, g, group)
        mean, square = _first_moment(state, g, beta1), state["exp_avg_sq"]._a
        average_square(square, g, beta2)
        size = mean / (1 - beta1**step) * number(group["lr"])
        rest = 1 - beta2**step
        limit = 2 / (1 - beta2) - 1
        rho = limit - 2 * step * beta2**step / rest
        if rho > 5.0:
            rectified = math.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
            size = size * (math.sqrt(rest) / (xp.sqrt(square) + group["eps"])) * rectified
        p -= size


class ASGD(Rule):
    """Descent with a running average ``ax`` of the parameters."""

    def __init__(
        self,
        params,
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check_lr(lr)
        check_at_least_zero(weight_decay, "weight_decay value")
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _update(self, group, p, g, state):
        lr, lambd = number(group["lr"]), group["lambd"]
        if not state:
            state["step"], state["eta"], state["mu"], state["ax"] = (
                new_step(),
                new_step(lr),
                new_step(1.0),
                zeros_like(p),
            )
        step = count_step(state)
        g = directed(p, g, group)
        eta, mu, average = state["eta"]._a, state["mu"]._a, state["ax"]._a
        p *= 1 - lambd * float(eta)
        p -= g * float(eta)
        if float(mu) == 1:
            average[...] = p
        else:
            average += (p - average) * float(mu)
        eta[...] = lr / (1 + lambd * lr * step) ** group["alpha"]
        mu[...] = 1 / max(1, step - group["t0"])


class Rprop(Rule):
    """Steps that grow while the sign of the gradient stays and shrink when it turns."""

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"], state["prev"] = new_step(), zeros_like(p)
            state["step_size"] = wrap(xp.full_like(p, number(group["lr"])))
        count_step(state)
        g = -g if group["maximize"] else g
        shrink, grow = group["etas"]
        previous, size = state["prev"]._a, state["step_size"]._a
        turned = xp.sign(g * previous)
        factor = xp.where(turned > 0, grow, xp.where(turned < 0, shrink, 1)).astype(p.dtype)
        size *= factor
        xp.clip(size, *(p.dtype.type(s) for s in group["step_sizes"]), out=size)
        g = xp.where(turned < 0, p.dtype.type(0), g)
        p -= xp.sign(g) * size
        previous[...] = g
