"""Averages of the weights along training, and the schedule that goes with them."""

from __future__ import annotations

import math
from copy import deepcopy

from ..backend import xp
from ..engine.dispatch import wrap
from ..engine.modes import no_grad
from ..nn.modules.module import Module
from .lr_scheduler import LRScheduler, _each


def get_ema_avg_fn(decay=0.999):
    """``averaged ← decay · averaged + (1 − decay) · current``, one tensor at a time."""
    _check_decay(decay)

    def ema(averaged, current, num_averaged):
        with no_grad():
            return averaged * decay + current * (1 - decay)

    return ema


def get_swa_avg_fn():
    """The running mean, one tensor at a time."""

    def mean(averaged, current, num_averaged):
        with no_grad():
            return averaged + (current - averaged) / (num_averaged + 1)

    return mean


def get_ema_multi_avg_fn(decay=0.999):
    """The exponential average of lists of tensors, in place."""
    return _in_place(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn():
    """The running mean of lists of tensors, in place."""
    return _in_place(get_swa_avg_fn())


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def _in_place(one):
    def update(averaged, current, num_averaged):
        with no_grad():
            for a, c in zip(averaged, current, strict=True):
                a.copy_(one(a, c, num_averaged) if a.is_floating_point() or a.is_complex() else c)

    return update


class AveragedModel(Module):
    """A copy of ``model`` whose parameters are averages: ``update_parameters(model)`` after each
    step."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        self.register_buffer("n_averaged", wrap(xp.zeros((), xp.int64)))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def _averaged(self, model):
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]

    def update_parameters(self, model):
        """Take the parameters of ``model`` into the average."""
        own, new = self._averaged(self.module), self._averaged(model)
        count = self.n_averaged.item()
        with no_grad():
            if count == 0:
                for a, b in zip(own, new, strict=True):
                    a.copy_(b)
            elif self.multi_avg_fn is not None:
                self.multi_avg_fn([a.detach() for a in own], [b.detach() for b in new], count)
            else:
                average = self.avg_fn or get_swa_avg_fn()
                for a, b in zip(own, new, strict=True):
                    a.copy_(average(a.detach(), b.detach(), count))
            if not self.use_buffers:
                for a, b in zip(self.module.buffers(), model.buffers(), strict=True):
                    a.copy_(b.detach())
            self.n_averaged.add_(1)


def update_bn(loader, model, device=None):
    """Compute the running statistics of all batch norms from one pass over ``loader``."""
    norms = [
        m
        for m in model.modules()
        if hasattr(m, "running_mean") and hasattr(m, "momentum") and m.running_mean is not None
    ]
    if not norms:
        return
    momenta = {}
    for m in norms:
        m.reset_running_stats()
        momenta[m], m.momentum = m.momentum, None
    training = model.training
    model.train()
    with no_grad():
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for m, momentum in momenta.items():
        m.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Anneals to ``swa_lr`` within ``anneal_epochs`` and stays there."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        for group, lr in zip(
            optimizer.param_groups, _each("swa_lr", optimizer, swa_lr), strict=True
        ):
            group["swa_lr"] = lr
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, t):
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self):
        now = self._current()
        step, span = self._step_count - 1, max(1, self.anneal_epochs)
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, after = (
            self._part(max(0, min(1, (step - 1) / span))),
            self._part(max(0, min(1, step / span))),
        )
        out = []
        for group, lr in zip(self.optimizer.param_groups, now, strict=True):
            target = group["swa_lr"]
            start = target if before == 1 else (lr - before * target) / (1 - before)
            out.append(target * after + start * (1 - after))
        return out
