"""Stochastic gradient descent with momentum."""

from __future__ import annotations

from ..backend import blocks, scratch, xp
from ..backend.fast import kernels_for
from ..engine.dispatch import wrap
from .optimizer import (
    Rule,
    check_at_least_zero,
    check_fused,
    check_lr,
    number,
)

FEW = 4096  # below, what is spared by reuse is less than what it takes


class SGD(Rule):
    """``p ← p − lr · v``, where ``v`` is the gradient, or its running sum with ``momentum``."""

    foreach_records = True

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check_lr(lr)
        check_at_least_zero(momentum, "momentum value")
        check_at_least_zero(weight_decay, "weight_decay value")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in (
                ("nesterov", False),
                ("maximize", False),
                ("foreach", None),
                ("differentiable", False),
                ("fused", False),
            ):
                group.setdefault(name, value)

    def keeps_state(self, group):
        return group["momentum"] != 0

    def _options(self, group):
        return (
            number(group["lr"]),
            number(group["momentum"]),
            group["dampening"],
            number(group["weight_decay"]),
            group["nesterov"],
            group["maximize"],
        )

    def _update(self, options, p, g, state):
        lr, momentum, dampening, decay, nesterov, maximize = options
        if momentum or decay:
            g = self._direction(p, g, state, options)
        if maximize and not (momentum or decay):
            lr = -lr
        if p.size <= FEW:
            xp.subtract(p, g * lr, p)
            return
        if (fast := kernels_for(p, g)) is not None:
            fast.sgd(p.reshape(-1), g.reshape(-1), p.dtype.type(lr))
            return
        for pb, gb in blocks(1 << 18, p, g):
            t = scratch.like(gb)
            xp.multiply(gb, lr, out=t)
            xp.subtract(pb, t, out=pb)

    @staticmethod
    def _direction(p, g, state, options):
        _, momentum, dampening, decay, nesterov, maximize = options
        if maximize:
            g = -g
        if decay:
            g = xp.add(g, p * p.dtype.type(decay))
        if not momentum:
            return g
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = state["momentum_buffer"] = wrap(g.copy("K"))
        else:
            b = buffer._a
            xp.multiply(b, momentum, out=b)
            xp.add(b, g if not dampening else g * (1 - dampening), out=b)
        if not nesterov:
            return buffer._a
        return xp.add(g, buffer._a * p.dtype.type(momentum))
