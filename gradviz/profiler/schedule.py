"""Which steps of a training loop are recorded."""

from __future__ import annotations

import enum


class ProfilerActivity(enum.Enum):
    """What is watched."""

    CPU = 0
    CUDA = 2


class ProfilerAction(enum.Enum):
    """What is done in one step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities():
    """What can be watched: the processor."""
    return {ProfilerActivity.CPU}


def always(step):
    """The plan of a profile without one."""
    return ProfilerAction.RECORD


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A plan: after ``skip_first`` steps, again and again (``repeat`` times, 0: for ever) ``wait``
    steps of nothing, ``warmup`` steps, ``active`` recorded ones. AssertionError for negative
    numbers.
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )

    def plan(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait  # the first round does not wait
        length = wait + warmup + active
        at = step % length
        if (repeat and step >= repeat * length) or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        last = at == length - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return plan
