"""Rearranging copies: flip, roll, repeat, diagonals, windows, stacks, blocks, padding."""

from __future__ import annotations

from ..backend import as_array, as_strided, contiguous, xp, zeros_by
from ..engine import views
from ..engine.dispatch import wrap
from ..engine.memory_format import contiguous_format
