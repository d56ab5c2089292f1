"""Schedules of the learning rate: call ``scheduler.step()`` after ``optimizer.step()``."""

from __future__ import annotations

import warnings
import weakref
from functools import wraps

from ...engine.dispatch import Tensor
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where "
    "possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used "
    "instead of the new chainable form, where available. Please open an issue if you are unable "
    "to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
_ADVICE = (
    "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


def _copied(x):
    return x.clone() if isinstance(x, Tensor) else x


def _set(group, key, value):
    if isinstance(group[key], Tensor):
        group[key].fill_(float(value))
    else:
        group[key] = float(value) if isinstance(value, Tensor) else value


def _each(name, optimizer, value):
    """One value a parameter group."""
    count = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, "
                f"param_groups has {count}."
            )
        return list(value)
    return [value] * count


class LRScheduler:
    """Base class: subclasses define ``get_lr()`` from ``last_epoch``, ``base_lrs`` and the groups'
    current rates."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming "
                    "scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly "
                    "loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [_copied(g["initial_lr"]) for g in optimizer.param_groups]
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        """Everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict):
        """Go on from what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        """The rates set by the last ``step``, one a group."""
        return self._last_lr

    def get_lr(self):
        """The rates for ``last_epoch``, one a group."""
        raise NotImplementedError

    def _current(self):
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )
        return [_copied(g["lr"]) for g in self.optimizer.param_groups]

    def step(self, epoch=None):
        """Go to the next epoch (or to ``epoch``) and set the rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self):
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure "
                f"to call `optimizer.step()` before `lr_scheduler.step()`. {_ADVICE}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them "
                "in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure "
                "to do this will result in PyTorch "
                f"skipping the first value of the learning rate schedule. {_ADVICE}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                values = closed() if closed is not None else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._assign(values)

    def _assign(self, values):
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            _set(group, "lr", lr)
        self._last_lr = [_copied(g["lr"]) for g in self.optimizer.param_groups]


_LRScheduler = LRScheduler


def _note_steps(optimizer):
    """Let the optimizer remember that its ``step`` was called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function, ref = optimizer.step.__func__, weakref.ref(optimizer)

    @wraps(function)
    def step(*args, **kwargs):
        owner = ref()
        owner._opt_called = True
        return function(owner, *args, **kwargs)

    step._wrapped_by_lr_sched = True
    optimizer.step = step
