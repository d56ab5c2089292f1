"""``gradviz.utils.data.distributed``: the sampler under its other name."""

from .sampler import DistributedSampler

__all__ = ["DistributedSampler"]
