"""Rates as a factor of the epoch."""

from __future__ import annotations

import types
from bisect import bisect_right
from collections import Counter

from .base import LRScheduler


class _Lambdas(LRScheduler):
    """Schedules given by functions of the epoch, one a group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        count = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * count
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """Everything but the optimizer; of the functions, only the state of callable objects."""
        out = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", "lr_lambdas")}
        out["lr_lambdas"] = [
            None if isinstance(f, types.FunctionType) else f.__dict__.copy()
            for f in self.lr_lambdas
        ]
        return out

    def load_state_dict(self, state_dict):
        """Go on from what ``state_dict`` gave."""
        self.__dict__.update({k: v for k, v in state_dict.items() if k != "lr_lambdas"})
        for function, state in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if state is not None:
                function.__dict__.update(state)


class LambdaLR(_Lambdas):
    """The initial rate times a function of the epoch."""

    def get_lr(self):
        self._current()
        return [
            base * f(self.last_epoch)
            for base, f in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(_Lambdas):
    """The current rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        for f in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(f):
                raise TypeError(f"lr_lambda should be a function, but got {type(f).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self):
        now = self._current()
        return (
            now
            if self._is_initial
            else [lr * f(self.last_epoch) for lr, f in zip(now, self.lr_lambdas, strict=True)]
        )


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        now = self._current()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return now
        return [lr * self.gamma for lr in now]

    def _get_closed_form_lr(self):
        return [lr * self.gamma ** (self.last_epoch // self.step_size) for lr in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return (
            [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self._current()]
            if (self.last_epoch in self.milestones)
            else self._current()
        )

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [lr * self.gamma**passed for lr in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times ``factor`` for the first ``total_iters`` epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        now = self._current()
        if self.last_epoch == 0:
            return [lr * self.factor for lr in now]
        return (
            now if self.last_epoch != self.total_iters else [lr * (1.0 / self.factor) for lr in now]
        )

    def _get_closed_form_lr(self):
        return [
            lr * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor))
            for lr in self.base_lrs
        ]


class LinearLR(LRScheduler):
    """From ``start_factor`` to ``end_factor`` in equal steps over ``total_iters`` epochs."""

    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        now = self._current()
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in now]
        if self._is_initial or self.last_epoch > self.total_iters:
            return now
        rise = self.end_factor - self.start_factor
        return [
            lr
            * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))
            for lr in now
        ]

    def _get_closed_form_lr(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [
            lr * (self.start_factor + (self.end_factor - self.start_factor) * part)
            for lr in self.base_lrs
        ]


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        now = self._current()
        return now if self._is_initial else [lr * self.gamma for lr in now]

    def _get_closed_form_lr(self):
        return [lr * self.gamma**self.last_epoch for lr in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times ``(1 − epoch / total_iters) ** power``."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        now = self._current()
        if self._is_initial or self.last_epoch > self.total_iters:
            return now
        n = self.total_iters
        factor = ((1.0 - self.last_epoch / n) / (1.0 - (self.last_epoch - 1) / n)) ** self.power
        return [lr * factor for lr in now]

    def _get_closed_form_lr(self):
        part = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [lr * part**self.power for lr in self.base_lrs]
