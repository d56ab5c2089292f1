"""The average as it is, and the average of numbers sent with half the bits."""

from __future__ import annotations

from ....engine.dtypes import bfloat16, float16
from ... import ReduceOp, all_reduce


def allreduce_hook(process_group, bucket):
    """The average, as without a hook."""
    return _averaged(process_group, bucket.buffer())


def fp16_compress_hook(process_group, bucket):
    """The average of the gradients as float16."""
    return _compressed(process_group, bucket, float16)


def bf16_compress_hook(process_group, bucket):
    """The average of the gradients as bfloat16."""
    return _compressed(process_group, bucket, bfloat16)


def _averaged(group, buffer):
    work = all_reduce(buffer, ReduceOp.AVG, group, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def _compressed(group, bucket, dtype):
    wide = bucket.buffer().dtype
    return _averaged(group, bucket.buffer().to(dtype)).then(lambda f: f.value().to(wide))
