"""The base of the optimizers: parameter groups, state, hooks, ``state_dict``."""

from __future__ import annotations

import copy
import functools
import itertools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Iterable

from ..backend import xp
from ..engine import views
from ..engine.dispatch import Tensor, wrap
from ..engine.events import block, door
from ..engine.hooks import is_retained, register
from ..engine.modes import enable_grad
from ..nn.modules.module import typename

_global_pre_hooks, _global_post_hooks = OrderedDict(), OrderedDict()


class _Required:
    """Stands for an option that every group must give."""

    def __repr__(self):
        return "<required parameter>"


required = _Required()
_HOOK_TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def clear_gradient(p, set_to_none):
    """What ``zero_grad`` does to one tensor."""
    grad = p._grad
    if grad is None:
        return
    if set_to_none:
        p._grad = None
        return
    if grad._g is not None:
        if grad.grad_fn is not None:
            grad.detach_()
        else:
            grad.requires_grad_(False)
    grad.zero_()


def _hooked(step):
    """``step`` with the pre- and post-hooks around it."""

    @functools.wraps(step)
    def wrapper(self, *args, **kwargs):
        for hook in [*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
            told = hook(self, args, kwargs)
            if told is not None:
                if not isinstance(told, tuple) or len(told) != 2:
                    raise RuntimeError(
                        f"{wrapper} must return None or a tuple of (new_args, new_kwargs), but "
                        f"got {told}."
                    )
                args, kwargs = told
        if door.observer is None:
            out = step(self, *args, **kwargs)
        else:
            name = type(self).__name__
            with block(f"Optimizer.step#{name}.step"):
                out = step(self, *args, **kwargs)
        for hook in [*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()]:
            hook(self, args, kwargs)
        return out

    wrapper.hooked = True
    return wrapper


class Optimizer:
    """Base class. ``params``: tensors, named tensors, or groups ``{"params": …, option:
    value}``."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        step = cls.__dict__.get("step")
        if step is not None and not getattr(step, "hooked", False):
            cls.step = _hooked(step)

    def __init__(self, params, defaults):
        self.defaults = defaults
        for name in _HOOK_TABLES:
            setattr(self, name, OrderedDict())
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                "dicts, but got " + typename(params)
            )
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOK_TABLES:
            self.__dict__.setdefault(name, OrderedDict())

    def __repr__(self):
        text = f"{type(self).__name__} ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(
                f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"
            )
        return text + ")"

    # ------------------------------------------------------------ groups
    def add_param_group(self, param_group):
        """Add a group of parameters with options of its own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        self._collect(param_group)
        for param in param_group["params"]:
            self._check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization parameter "
                    f"{name}"
                )
            param_group.setdefault(name, default)
        self._check_group(param_group)
        self.param_groups.append(param_group)

    @staticmethod
    def _collect(group):
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change "
                "between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        group["params"] = [p[1] if isinstance(p, tuple) else p for p in params]
        if names:
            if len(names) != len(params):
                raise ValueError(
                    "all optimizer params should be with/without names. Some param names are "
                    "missing"
                )
            group["param_names"] = names

    def _check_param(self, param):
        if not isinstance(param, Tensor):
            raise TypeError(
                "optimizer can only optimize Tensors, but one of the params is " + typename(param)
            )
        if not self.defaults.get("differentiable") and not (param.is_leaf or is_retained(param)):
            raise ValueError("can't optimize a non-leaf Tensor")

    def _check_group(self, group):
        own = {id(p) for p in group["params"]}
        if len(own) != len(group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=5,
            )
        named = "param_names" in group
        if any(("param_names" in g) != named for g in self.param_groups):
            which = "with names" if named else "without names"
            raise ValueError(
                "all optimizer param groups should be with/without names. "
                f"cannot add param group {which} to the optimizer"
            )
        if any(id(p) in own for g in self.param_groups for p in g["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none=True):
        """Drop the gradients of all parameters, or fill them with zeros."""
        with block(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            for group in self.param_groups:
                for p in group["params"]:
                    clear_gradient(p, set_to_none)

    def step(self, closure=None):
        """Update the parameters once; ``closure`` computes the loss again and returns it."""
        raise NotImplementedError

    # ------------------------------------------------------------ state
    def state_dict(self):
        """State and groups, with parameters replaced by their numbers; the state's tensors are
        shared."""
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        for p in itertools.chain.from_iterable(g["params"] for g in self.param_groups):
            numbers.setdefault(id(p), len(numbers))
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        out = {"state": state, "param_groups": groups}
        for hook in self._optimizer_state_dict_post_hooks.values():
            told = hook(self, out)
            out = out if told is None else told
        return out

    def load_state_dict(self, state_dict):
        """Take state and options from ``state_dict``; ValueError when the groups do not match."""
        state_dict = dict(state_dict)
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            told = hook(self, state_dict)
            state_dict = state_dict if told is None else told
        saved = copy.deepcopy(state_dict["param_groups"])
        self._check_saved(saved)
        by_number = dict(
            zip(
                itertools.chain.from_iterable(g["params"] for g in saved),
                itertools.chain.from_iterable(g["params"] for g in self.param_groups),
                strict=True,
            )
        )
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = _for_param(by_number[key], value)
            else:
                state[key] = value
        groups = []
        for own, new in zip(self.param_groups, saved, strict=True):
            new["params"] = own["params"]
            if "param_names" in own and "param_names" not in new:
                new["param_names"] = own["param_names"]
            groups.append(new)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def _check_saved(self, saved):
        if len(self.param_groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(a["params"]) != len(b["params"])
            for a, b in zip(self.param_groups, saved, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )

    # ------------------------------------------------------------ hooks
    def _register(self, table, hook, prepend=False):
        return register(None, table, "optimizer", hook, prepend=prepend)

    def register_step_pre_hook(self, hook):
        """``hook(optimizer, args, kwargs)`` before every step."""
        return self._register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """``hook(optimizer, args, kwargs)`` after every step."""
        return self._register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """``hook(optimizer)`` before ``state_dict``."""
        return self._register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """``hook(optimizer, state_dict)`` after ``state_dict``; what it returns replaces the
        result."""
        return self._register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """``hook(optimizer, state_dict)`` before loading; what it returns is loaded instead."""
        return self._register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """``hook(optimizer)`` after loading."""
        return self._register(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def _for_param(param, value, key=None):
    """Saved state in the dtype of its parameter; ``step`` keeps its own."""
    if isinstance(value, Tensor):
        if key == "step" or param._a.dtype.kind not in "fV" or value._a.dtype == param._a.dtype:
            return value
        return value.to(param.dtype)
    if isinstance(value, dict):
        return {k: _for_param(param, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_for_param(param, v) for v in value)
    return value


def register_optimizer_step_pre_hook(hook):
    """A step pre-hook for every optimizer."""
    return register(None, _global_pre_hooks, "optimizer", hook)


def register_optimizer_step_post_hook(hook):
    """A step post-hook for every optimizer."""
    return register(None, _global_post_hooks, "optimizer", hook)


# ---------------------------------------------------------------- what the rules share
class Rule(Optimizer):
    """An optimizer whose ``_update(group, p, g, state)`` changes raw arrays in place."""

    foreach_records = False  # whether PyTorch lets foreach=True and differentiable=True together

    def step(self, closure=None):
        """Update the parameters once; ``closure`` computes the loss again and returns it."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            if group.get("differentiable"):
                self._recorded(group)
                continue
            options = self._options(group)
            for param in group["params"]:
                grad = param._grad
                if grad is not None:
                    state = self.state[param] if self.keeps_state(group) else None
                    for _ in range(self._update(options, param._a, grad._a, state) or 1):
                        views.bump(param)
        return loss

    def _recorded(self, group):
        from .differentiable import recorded_step

        changed = [p for p in group["params"] if p.grad is not None]
        if changed and group.get("foreach") and not self.foreach_records:
            raise AssertionError("_foreach ops don't support autograd")
        with enable_grad():
            for p in changed:
                recorded_step(self, group, p)

    def keeps_state(self, group):
        """Whether the rule keeps anything between steps."""
        return True

    def _options(self, group):
        """The group's options as numbers, once a step."""
        return group

    def _update(self, options, p, g, state):
        """Change ``p`` in place; the number of writes that PyTorch would count, None for one."""
        raise NotImplementedError


def number(x):
    """A hyperparameter given as number or one-element tensor."""
    return float(x._a.item()) if isinstance(x, Tensor) else x


def check_lr(lr):
    """ValueError for a negative learning rate or a tensor of several elements."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if number(lr) < 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_fused(fused, foreach, differentiable):
    """RuntimeError where PyTorch's fused kernels do not go together with the other options."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_at_least_zero(value, what):
    """ValueError ``Invalid <what>: <value>`` for a negative number."""
    if not 0.0 <= number(value):
        raise ValueError(f"Invalid {what}: {value}")


def check_betas(betas):
    """ValueError unless both are in [0, 1)."""
    for k, beta in enumerate(betas):
        if not 0.0 <= number(beta) < 1.0:
            raise ValueError(f"Invalid beta parameter at index {k}: {beta}")


def zeros_like(p):
    """State of zeros for an array, as a tensor."""
    return wrap(xp.zeros_like(p))


def new_step(value=0.0):
    """The step counter, as PyTorch keeps it."""
    from ..engine import dtypes

    kind = xp.float64 if dtypes.default.float is dtypes.float64 else xp.float32
    return wrap(xp.asarray(value, kind))


def count_step(state):
    """One step more; the new count."""
    step = state["step"]
    if isinstance(step, Tensor):
        step._a += 1
        return float(step._a)
    state["step"] = step + 1
    return step + 1
