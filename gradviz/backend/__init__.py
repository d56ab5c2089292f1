"""Array namespaces, one a device. The only place that imports numpy or cupy for tensor data.

``xp`` is NumPy; its functions hand over to CuPy arrays through ``__array_ufunc__`` and
``__array_function__``, so an operation written with ``xp`` runs on both.
"""

import warnings

import numpy as xp

from .memory import keep_freed, scratch

# PyTorch says nothing about overflow or division by zero; the person's own NumPy code keeps its
# warnings
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradviz\.")

keep_freed()

__all__ = ["scratch", "xp"]
