"""Bytes on a GPU: in use, held by the pool, the most so far."""

from __future__ import annotations

from collections import OrderedDict

from ..backend import accelerator
from ..engine.device import Device, library, resolve


def _statistics(device):
    """(in use, most in use, held) of a GPU; zeros where none was used."""
    found = accelerator.gpu()
    if found is None:
        return 0, 0, 0
    return found.statistics(_index(found, device))


def _index(found, device):
    return found.current if device is None else resolve(Device(device)).index


def memory_allocated(device=None):
    """Bytes in use on a GPU."""
    return _statistics(device)[0]


def max_memory_allocated(device=None):
    """The most bytes in use on a GPU since the start or the last reset."""
    return _statistics(device)[1]


def memory_reserved(device=None):
    """Bytes that the pool holds on a GPU."""
    return _statistics(device)[2]


def max_memory_reserved(device=None):
    """The most bytes that the pool held, as far as is known: what it holds, or what was in use."""
    return max(_statistics(device)[1:])


def reset_peak_memory_stats(device=None):
    """Count the most bytes in use from now on."""
    found = library()
    found.reset_peak(_index(found, device))


reset_max_memory_allocated = reset_peak_memory_stats


def empty_cache():
    """Give what the pool holds unused back to the driver; nothing without a GPU."""
    found = accelerator.in_use()
    if found is not None:
        found.empty_cache()


def mem_get_info(device=None):
    """(free, total) bytes of a GPU."""
    found = library()
    index = _index(found, device)
    total = found.properties(index)["total_memory"]
    return total - max(found.statistics(index)[::2]), total


def memory_stats(device=None):
    """The figures under PyTorch's names; empty without a GPU."""
    if accelerator.gpu() is None:
        return OrderedDict()
    used, peak, held = _statistics(device)
    return OrderedDict(
        {
            "allocated_bytes.all.current": used,
            "allocated_bytes.all.peak": peak,
            "reserved_bytes.all.current": held,
            "reserved_bytes.all.peak": max(held, peak),
        }
    )


def memory_summary(device=None, abbreviated=False):
    """The figures as a table."""
    found = library()
    index = _index(found, device)
    used, peak, held = found.statistics(index)
    words = accelerator.in_words
    rows = [
        "|" + "=" * 59 + "|",
        f"| {f'PyTorch CUDA memory summary, device ID {index}':<57} |",
        "|" + "-" * 59 + "|",
        f"| {'Metric':<21} | {'Cur Usage':>15} | {'Peak Usage':>15} |",
        "|" + "-" * 59 + "|",
        f"| {'Allocated memory':<21} | {words(used):>15} | {words(peak):>15} |",
        f"| {'GPU reserved memory':<21} | {words(held):>15} | {words(max(held, peak)):>15} |",
        "|" + "=" * 59 + "|",
    ]
    return "\n".join(rows) + "\n"
