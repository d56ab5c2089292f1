"""Array namespaces, one a device. The only place that imports numpy or cupy for tensor data.

``xp`` is NumPy; its functions hand over to CuPy arrays through ``__array_ufunc__`` and
``__array_function__``, so an operation written with ``xp`` runs on both.
"""

import numpy as xp

__all__ = ["xp"]
