"""``gradviz.random``: seeds and states of the default stream, as in ``torch.random``."""

from __future__ import annotations

import contextlib

from .ops.declare import FUNCTIONS
from .ops.random import default_generator

manual_seed, seed, initial_seed = (
    FUNCTIONS["manual_seed"],
    FUNCTIONS["seed"],
    FUNCTIONS["initial_seed"],
)
get_rng_state, set_rng_state = FUNCTIONS["get_rng_state"], FUNCTIONS["set_rng_state"]

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextlib.contextmanager
def fork_rng(
    devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"
):
    """Inside the block the stream goes its own way; afterwards it is where it was before."""
    if not enabled:
        yield
        return
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)
