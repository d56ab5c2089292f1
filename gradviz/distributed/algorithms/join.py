"""Uneven inputs: a process that has no more of them stands in for itself, so that the collective
calls of the others still meet all processes.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import NamedTuple

from ...ops.declare import FUNCTIONS
from ..collectives import all_reduce

_MANY = 1000
_ONE_LESS = (
    "Detected uneven input skew of greater than {} where at least one process has completed all "
    "inputs. This could lead to performance degradation."
)


class JoinHook:
    """What a process does that has no more inputs."""

    def main_hook(self):
        """Once for every iteration of the others: their collective calls."""

    def post_hook(self, is_last_joiner):
        """Once when all have finished; ``is_last_joiner``: this process was among the last."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config():
        """As it is outside of any ``Join``."""
        return _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)


class Joinable(ABC):
    """What can take part in ``Join``: it calls ``Join.notify_join_context`` before the collective
    calls of every iteration.
    """

    @abstractmethod
    def __init__(self):
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abstractmethod
    def join_hook(self, **kwargs):
        """The JoinHook of this object; ``kwargs`` are those of ``Join``."""

    @property
    @abstractmethod
    def join_device(self):
        """Where its collective calls take place."""

    @property
    @abstractmethod
    def join_process_group(self):
        """The processes that take part."""


class Join:
    """A block in which processes may have different numbers of inputs. ValueError without joinables
    or when they belong to several process groups or devices. ``throw_on_early_termination``: all
    processes raise RuntimeError as soon as one has no more inputs.
    """

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable, self._throw_on_early_termination = enable, throw_on_early_termination
        for k, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, k == 0)
        groups = {id(joinable.join_process_group) for joinable in joinables}
        if len(groups) > 1:
            raise ValueError("Using join context manager with multiple process groups")
        if len({joinable.join_device for joinable in joinables}) > 1:
            raise ValueError("Using join context manager with multiple devices")
        self._process_group = joinables[0].join_process_group
        self._rank = self._process_group.rank()

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        if not self._enable or kind:
            return
        is_last_joiner, count = True, 0
        while self._count_nonjoined():
            if count == _MANY:
                warnings.warn(_ONE_LESS.format(_MANY), stacklevel=2)
            if self._throw_on_early_termination:
                self._tell_to_end()
            is_last_joiner, count = False, count + 1
            for hook in self._join_hooks:
                hook.main_hook()
        for hook in self._join_hooks:
            hook.post_hook(is_last_joiner)

    def _count_nonjoined(self):
        count = FUNCTIONS["zeros"](1)
        all_reduce(count, group=self._process_group)
        return count.item()

    def _tell_to_end(self):
        all_reduce(FUNCTIONS["ones"](1), group=self._process_group)
        raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")

    @staticmethod
    def notify_join_context(joinable):
        """Tell those that have no more inputs that this process has one; gives the work of doing
        so, None where nobody is told.
        """
        config = getattr(joinable, "_join_config", None)
        if config is None:
            raise AssertionError(
                f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor"
            )
        if not config.is_first_joinable or not config.enable:
            return None
        group = joinable.join_process_group
        work = all_reduce(FUNCTIONS["ones"](1), group=group, async_op=True)
        if config.throw_on_early_termination:
            should_end = FUNCTIONS["zeros"](1)
            all_reduce(should_end, group=group)
            if should_end.item():
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work
