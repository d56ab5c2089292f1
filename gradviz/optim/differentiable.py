"""Steps of ``differentiable=True``: the same rules in operations that are recorded.

Gradients flow through an update to the gradient, the state, the parameter before it and a learning
rate that is a tensor. Parameters must not be leaves that require a gradient, as in PyTorch.
"""

from __future__ import annotations

import math

from ..ops.declare import FUNCTIONS

# Each rule takes parameter, gradient, state and group, after weight decay and ``maximize``. It
# changes the parameter in place and puts new tensors into the state.


def _moment(state, name, value, beta):
    """The running mean ``name`` after ``value``."""
    state[name] = found = state[name] * beta + value * (1 - beta)
    return found


def _start(state, p, *names, step=True):
    if not state:
        if step:
            state["step"] = FUNCTIONS["zeros"](())
        for name in names:
            state[name] = FUNCTIONS["zeros_like"](p.detach())
    if step:
        state["step"] = state["step"] + 1
        return state["step"].item()
    return None


def _sgd(p, g, state, group):
    momentum = group["momentum"]
    if momentum:
        buffer = state.get("momentum_buffer")
        if buffer is None:
            buffer = g.detach().clone()  # PyTorch cuts the first one off too
        else:
            buffer = buffer * momentum + g * (1 - group["dampening"])
        state["momentum_buffer"] = buffer
        g = g + buffer * momentum if group["nesterov"] else buffer
    p.sub_(g * group["lr"])


def _adam(p, g, state, group):
    wide = ("max_exp_avg_sq",) if group["amsgrad"] else ()
    step = _start(state, p, "exp_avg", "exp_avg_sq", *wide)
    beta1, beta2 = group["betas"]
    mean = _moment(state, "exp_avg", g, beta1)
    square = _moment(state, "exp_avg_sq", g * g, beta2)
    if wide:
        square = state["max_exp_avg_sq"] = FUNCTIONS["maximum"](state["max_exp_avg_sq"], square)
    root = square.sqrt() / math.sqrt(1 - beta2**step) + group["eps"]
    p.sub_(mean / root * (group["lr"] / (1 - beta1**step)))


def _adamax(p, g, state, group):
    step = _start(state, p, "exp_avg", "exp_inf")
    beta1, beta2 = group["betas"]
    mean = _moment(state, "exp_avg", g, beta1)
    largest = FUNCTIONS["maximum"](state["exp_inf"] * beta2, g.abs() + group["eps"])
    state["exp_inf"] = largest
    p.sub_(mean / largest * (group["lr"] / (1 - beta1**step)))


def _nadam(p, g, state, group):
    if not state:
        state["mu_product"] = FUNCTIONS["ones"](())
        state["step"] = FUNCTIONS["zeros"](())
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = FUNCTIONS["zeros_like"](p.detach())
    state["step"] = state["step"] + 1
    step, (beta1, beta2), decay = state["step"].item(), group["betas"], group["momentum_decay"]
    mu, following = (beta1 * (1.0 - 0.5 * 0.96 ** (s * decay)) for s in (step, step + 1))
    state["mu_product"] = state["mu_product"] * mu
    product = state["mu_product"].item()
    mean = _moment(state, "exp_avg", g, beta1)
    square = _moment(state, "exp_avg_sq", g * g, beta2)
    root = (square / (1 - beta2**step)).sqrt() + group["eps"]
    p.sub_(g / root * (group["lr"] * (1.0 - mu) / (1.0 - product)))
    p.sub_(mean / root * (group["lr"] * following / (1.0 - product * following)))


def _radam(p, g, state, group):
    step, (beta1, beta2) = _start(state, p, "exp_avg", "exp_avg_sq"), group["betas"]
    mean = _moment(state, "exp_avg", g, beta1)
    square = _moment(state, "exp_avg_sq", g * g, beta2)
    size, rest, limit = mean / (1 - beta1**step) * group["lr"], 1 - beta2**step, 2 / (1 - beta2) - 1
    rho = limit - 2 * step * beta2**step / rest
    if rho > 5.0:
        factor = math.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
        size = size * (math.sqrt(rest) / (square.sqrt() + group["eps"])) * factor
    p.sub_(size)


def _rmsprop(p, g, state, group):
    wide = (("momentum_buffer",) if group["momentum"] > 0 else ()) + (
        ("grad_avg",) if group["centered"] else ()
    )
    _start(state, p, "square_avg", *wide)
    square = _moment(state, "square_avg", g * g, group["alpha"])
    if group["centered"]:
        mean = _moment(state, "grad_avg", g, group["alpha"])
        square = square - mean * mean
    size = g / (square.sqrt() + group["eps"])
    if group["momentum"] > 0:
        size = state["momentum_buffer"] = state["momentum_buffer"] * group["momentum"] + size
    p.sub_(size * group["lr"])


def _adagrad(p, g, state, group):
    state["step"] = state["step"] + 1
    total = state["sum"] = state["sum"] + g * g
    rate = group["lr"] / (1 + (state["step"].item() - 1) * group["lr_decay"])
    p.sub_(g / (total.sqrt() + group["eps"]) * rate)


def _adadelta(p, g, state, group):
    _start(state, p, "square_avg", "acc_delta")
    rho, eps = group["rho"], group["eps"]
    square = _moment(state, "square_avg", g * g, rho)
    delta = (state["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
    _moment(state, "acc_delta", delta * delta, rho)
    p.sub_(delta * group["lr"])


def _asgd(p, g, state, group):
    lr, lambd = group["lr"], group["lambd"]
    if not state:
        state["eta"], state["mu"] = FUNCTIONS["ones"](()) * lr, FUNCTIONS["ones"](())
        state["step"] = FUNCTIONS["zeros"](())
        state["ax"] = FUNCTIONS["zeros_like"](p.detach())
    state["step"] = state["step"] + 1
    eta, mu, step = state["eta"], state["mu"].item(), state["step"].item()
    p.mul_(1 - lambd * eta)
    p.sub_(g * eta)
    state["ax"] = p.clone() if mu == 1 else state["ax"] + (p - state["ax"]) * mu
    state["eta"] = FUNCTIONS["ones"](()) * (lr / (1 + lambd * lr * step) ** group["alpha"])
    state["mu"] = FUNCTIONS["full"]((), 1 / max(1, step - group["t0"]))


def _rprop(p, g, state, group):
    if not state:
        state["step_size"] = FUNCTIONS["full_like"](p.detach(), float(group["lr"]))
        state["prev"], state["step"] = FUNCTIONS["zeros_like"](p.detach()), FUNCTIONS["zeros"](())
    state["step"] = state["step"] + 1
    shrink, grow = group["etas"]
    turned = (g * state["prev"]).sign()
    factor = FUNCTIONS["where"](turned > 0, grow, FUNCTIONS["where"](turned < 0, shrink, 1.0))
    size = state["step_size"] = (state["step_size"] * factor).clamp(*group["step_sizes"])
    g = state["prev"] = FUNCTIONS["where"](turned < 0, 0.0, g)
    p.sub_(g.sign() * size)


RULES = {
    "SGD": _sgd,
    "Adam": _adam,
    "AdamW": _adam,
    "Adamax": _adamax,
    "NAdam": _nadam,
    "RAdam": _radam,
    "RMSprop": _rmsprop,
    "Adagrad": _adagrad,
    "Adadelta": _adadelta,
    "ASGD": _asgd,
    "Rprop": _rprop,
}


def recorded_step(optimizer, group, p):
    """One parameter's step by the rule of the optimizer's class, recorded."""
    rule = next(RULES[c.__name__] for c in type(optimizer).__mro__ if c.__name__ in RULES)
    g, decay = p.grad, group.get("weight_decay", 0)
    if group.get("maximize"):
        g = -g
    if decay and (group.get("decoupled_weight_decay")):
        p.mul_(1 - group["lr"] * decay)
    elif decay:
        g = g + p * decay
    rule(p, g, optimizer.state[p] if optimizer.keeps_state(group) else {}, group)
