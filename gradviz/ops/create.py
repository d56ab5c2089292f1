"""Factories, conversions to and from Python and NumPy, filling in place."""

from __future__ import annotations

import math
import warnings

from ..backend import beside, xp
from ..engine import dtypes, views
from ..engine.construct import array_of, mark
from ..engine.device import Device, place, resolve
from ..engine.device import like as like_of
from ..engine.dispatch import Tensor, wrap
from ..engine.events import door
from ..engine.memory_format import contiguous_format, in_format, preserve_format
