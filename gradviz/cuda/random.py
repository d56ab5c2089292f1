"""Seeds and states of the streams of random numbers, one a GPU.

The numbers are drawn on the host, from PyTorch's CPU stream, and copied: they are reproducible, but
not those that PyTorch draws on a GPU.
"""

from __future__ import annotations

from ..backend import accelerator
from ..engine.device import Device, library, resolve
from ..ops.random import device_generator, seed_devices


def _generator(device):
    index = library().current if device is None else resolve(Device(device)).index
    return device_generator(index)


def manual_seed(seed):
    """Seed the stream of the GPU in use; nothing without one."""
    if accelerator.gpu() is not None:
        _generator(None).manual_seed(int(seed))


def manual_seed_all(seed):
    """Seed the streams of all GPUs, also those that are not in use yet."""
    seed_devices(int(seed))


def seed():
    """Seed the stream of the GPU in use from the operating system; nothing without one."""
    if accelerator.gpu() is not None:
        _generator(None).seed()


def seed_all():
    """One seed of the operating system for the streams of all GPUs; nothing without one."""
    if accelerator.gpu() is not None:
        seed_devices(_generator(None).seed())


def initial_seed():
    """The seed of the stream of the GPU in use."""
    return _generator(None).initial_seed()


def get_rng_state(device="cuda"):
    """The state of the stream of a GPU, a uint8 tensor on the CPU."""
    return _generator(device).get_state()


def set_rng_state(new_state, device="cuda"):
    """Let the stream of a GPU go on from a state."""
    _generator(device).set_state(new_state)


def get_rng_state_all():
    """The states of the streams of all GPUs."""
    return [get_rng_state(k) for k in range(library().devices)]


def set_rng_state_all(new_states):
    """Let the streams of all GPUs go on from states."""
    for k, state in enumerate(new_states):
        set_rng_state(state, k)
