"""Schedulers of schedulers, and the one that watches a measure."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right

from ..optimizer import Optimizer
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, _copied, _set


class SequentialLR(LRScheduler):
    """One scheduler after the other, changing at the milestones."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no scheduler."
            )
        for k, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{type(self).__name__} at index {k} should have `optimizer` as its attribute."
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{type(self).__name__} does not support `ReduceLROnPlateau` scheduler as it "
                    "requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {k} in the given "
                    "schedulers sequence."
                )
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same "
                    "optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {k} has {scheduler.optimizer}, which is "
                    f"different from {type(optimizer).__name__}."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                "the number of milestone points, but "
                f"got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            _set(group, "lr", group["initial_lr"])
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched=None):
        """Take back the first step of every scheduler."""
        for scheduler in (sched or self)._schedulers:
            scheduler.last_epoch -= 1

    def step(self):
        """Step the scheduler whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler.last_epoch = 0
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self):
        """The state of every scheduler."""
        return _chain_state(self, ("optimizer", "_schedulers"))

    def load_state_dict(self, state_dict):
        """Go on from what ``state_dict`` gave."""
        _load_chain(self, state_dict)


class ChainedScheduler(LRScheduler):
    """Several schedulers at once, each multiplying what the others set."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                f"scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        for k, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(
                    f"{type(self).__name__} at index {k} should have `optimizer` as its attribute."
                )
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{type(self).__name__} does not support `ReduceLROnPlateau` scheduler as it "
                    "requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {k} in the given "
                    "schedulers sequence."
                )
            if optimizer != scheduler.optimizer:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same "
                    "optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {k} has {scheduler.optimizer}, which is "
                    f"different from {type(optimizer).__name__}."
                )
        self._schedulers, self.optimizer = list(schedulers), optimizer
        self._last_lr = [_copied(g["lr"]) for g in optimizer.param_groups]

    def step(self):
        """Step every scheduler."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [_copied(g["lr"]) for g in self.optimizer.param_groups]

    def state_dict(self):
        """The state of every scheduler."""
        return _chain_state(self, ("optimizer", "_schedulers"))

    def load_state_dict(self, state_dict):
        """Go on from what ``state_dict`` gave."""
        _load_chain(self, state_dict)


def _chain_state(chain, without):
    out = {k: v for k, v in chain.__dict__.items() if k not in without}
    out["_schedulers"] = [s.state_dict() for s in chain._schedulers]
    return out


def _load_chain(chain, state_dict):
    chain.__dict__.update({k: v for k, v in state_dict.items() if k != "_schedulers"})
    for scheduler, state in zip(chain._schedulers, state_dict["_schedulers"], strict=True):
        scheduler.load_state_dict(state)


class ReduceLROnPlateau(LRScheduler):
    """Times ``factor`` when a measure has not improved for ``patience`` epochs:
    ``step(measure)``."""

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.factor, self.optimizer = factor, optimizer
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != len(optimizer.param_groups):
                raise ValueError(
                    f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}"
                )
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * len(optimizer.param_groups)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.last_epoch = 0
        self._last_lr = [_copied(g["lr"]) for g in optimizer.param_groups]
        self._reset()

    def _reset(self):
        self.best = self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def step(self, metrics, epoch=None):
        """Tell the measure of this epoch."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = [_copied(g["lr"]) for g in self.optimizer.param_groups]

    def _reduce_lr(self, epoch):
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                _set(group, "lr", new)

    @property
    def in_cooldown(self):
        """Whether the measure is ignored after a reduction."""
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        """Whether ``a`` improves on ``best`` by more than the threshold."""
        margin = self.threshold * best if self.threshold_mode == "rel" else self.threshold
        if self.mode == "min":
            return a < (
                best * (1.0 - self.threshold) if self.threshold_mode == "rel" else best - margin
            )
        return a > (
            best * (self.threshold + 1.0) if self.threshold_mode == "rel" else best + margin
        )
