"""How a tensor is shown when a cell ends with it: text, and a heat map where the text leaves
elements out.
"""

from __future__ import annotations

from gradviz.backend import host
from gradviz.engine.printing import options
from gradviz.export.tensor import tensor_html
from gradviz.sources.values import stats


def html(tensor) -> str | None:
    """The heat map of a tensor with more elements than are printed; None for others, for complex
    numbers and for those too large to summarise: they are shown as text.
    """
    array = tensor._a
    if array.size <= options.threshold:
        return None
    found = stats(host(array), tensor.dtype.name)
    return None if found.heat is None else tensor_html(found, repr(tensor))
