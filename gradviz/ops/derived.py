"""Derivatives of derivatives that are found rather than written: by a backward through the same
formula on tensors.
"""

from __future__ import annotations

from ..backend import xp
from ..engine.backward import grad
from ..engine.dispatch import wrap
from ..engine.modes import inference_mode, persons_code
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import as_leaf


def filled(results, like):
    """Results of an operation with several; one that nobody wants is an array of no element."""
    return tuple(xp.zeros(0, like.dtype, like=like) if x is None else x for x in results)


def pulled_back(F, formula, inputs, given):
    """The gradients for ``inputs`` from those ``given`` for the results of ``formula``, a function
    of tensors; None for an input or a result that is None.
    """
    with inference_mode(False), persons_code():
        aliases = [None if x is None else _alias(F, x) for x in inputs]
        pairs = [
            (y, h if F is TENSOR else wrap(h))
            for y, h in zip(formula(*aliases), given, strict=True)
            if y is not None and h is not None and y.requires_grad
        ]
        tracked = [x for x in aliases if x is not None and x.requires_grad]
        results, gradients = zip(*pairs, strict=True)
        found = grad(results, tracked, gradients, create_graph=F is TENSOR, allow_unused=True)
    by_alias = dict(zip(map(id, tracked), found, strict=True))
    out = [None if x is None else by_alias.get(id(x)) for x in aliases]
    return out if F is TENSOR else [None if x is None else x._a for x in out]


def _alias(F, x):
    """``x`` as an input of its own: joined to what it came from, on arrays a leaf."""
    if F is RAW:
        return as_leaf(wrap(x))
    return TENSOR.alias(x) if x.requires_grad else x
