"""Rules that treat a matrix as a matrix: Adafactor and Muon."""

from __future__ import annotations

import math

from ..backend import as_array, xp
from ..engine import dtypes
from ..engine.dispatch import wrap
from ..engine.dtypes import of
from ..ops.info import finfo
from .optimizer import Rule, count_step, new_step, number, zeros_like


class Adafactor(Rule):
    """Adam with the second moment of a matrix kept as one row and one column."""

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        if hasattr(lr, "numel") and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= number(lr):
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _update(self, group, p, g, state):
        if not state:
            state["step"] = new_step()
            if g.ndim > 1:
                state["row_var"] = wrap(xp.zeros((*g.shape[:-1], 1), g.dtype, like=g))
                state["col_var"] = wrap(xp.zeros((*g.shape[:-2], 1, g.shape[-1]), g.dtype, like=g))
            else:
                state["variance"] = zeros_like(g)
        step, lr = count_step(state), number(group["lr"])
        g = -g if group["maximize"] else g
        eps1, eps2 = group["eps"]
        eps1 = float(finfo(of(p)).eps) if eps1 is None else eps1
        rest = step ** group["beta2_decay"]
        rho = min(lr, 1 / step**0.5)
        alpha = max(eps2, float(xp.linalg.norm(p.ravel())) / p.size**0.5) * rho
        if group["weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        update = self._normalised(state, g, rest, eps1)
        size = max(1.0, float(xp.linalg.norm(update.ravel())) / (update.size**0.5 * group["d"]))
        p -= update * (alpha / size)

    @staticmethod
    def _normalised(state, g, rest, eps1):
        if g.ndim > 1:
            row, column = state["row_var"]._a, state["col_var"]._a
            row += ((g * g).mean(-1, keepdims=True) - row) * rest
            column += ((g * g).mean(-2, keepdims=True) - column) * rest
            variance = row @ column / xp.maximum(row.mean(-2, keepdims=True), g.dtype.type(eps1))
        else:
            variance = state["variance"]._a
            variance += (g * g - variance) * rest
        return g / xp.sqrt(xp.maximum(variance, g.dtype.type(eps1 * eps1)))


class Muon(Rule):
    """Momentum whose matrix is made nearly orthogonal before each step; matrices only."""

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        if hasattr(lr, "numel") and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= number(lr):
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {p.size()}"
                    )

    def _update(self, group, p, g, state):
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_like(g)
        buffer, momentum, lr = state["momentum_buffer"]._a, group["momentum"], number(group["lr"])
        buffer += (g - buffer) * (1 - momentum)
        direction = g + (buffer - g) * momentum if group["nesterov"] else buffer
        update = orthogonalised(
            direction, group["ns_coefficients"], group["ns_steps"], group["eps"]
        ).astype(p.dtype)
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        else:
            ratio = math.sqrt(max(1, rows / columns))
        p *= 1 - lr * group["weight_decay"]
        p -= update * (lr * ratio)


def orthogonalised(matrix, coefficients, steps, eps):
    """A matrix with the same singular vectors and singular values near 1, by a quintic iteration in
    bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    short = dtypes.bfloat16.np

    def rounded(x):
        return x.astype(short).astype(xp.float32)

    x = rounded(matrix)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = rounded(x / max(float(rounded(as_array(xp.linalg.norm(x)))), eps))
    for _ in range(steps):
        gram = rounded(x @ x.T)
        update = rounded(b * gram + c * (gram @ gram))
        x = rounded(a * x + update @ x)
    return x.T if tall else x
