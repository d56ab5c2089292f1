"""Flat pieces of large arrays: what one pass writes is still in cache when the next one reads it.
It pays from about ten passes on; with fewer, larger pieces only keep intermediate results small.
"""

from __future__ import annotations


def blocks(size, *arrays):
    """Arrays of one shape in flat pieces of ``size`` elements; as they are where one is not
    contiguous.
    """
    first = arrays[0]
    if first.size <= size or not all(a.flags.c_contiguous for a in arrays):
        yield arrays
        return
    flat = [a.reshape(-1) for a in arrays]
    for k in range(0, first.size, size):
        yield tuple(a[k : k + size] for a in flat)
