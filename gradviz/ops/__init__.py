"""The operations: tables of declarations. Importing this package fills Tensor, RAW and TENSOR."""

from . import (  # noqa: F401
    activation,
    activation_backward,
    apply,
    arithmetic,
    arrange,
    calculus,
    casting,
    choose,
    clone,
    complex,
    copying,
    create,
    distinct,
    draw,
    elementwise,
    embedding,
    exchange,
    expand,
    extremes,
    factor,
    fft,
    index,
    info,
    join,
    linalg,
    loss,
    masked,
    matmul,
    matrix,
    older,
    permute,
    place,
    quantile,
    random,
    reduce,
    relabel,
    scatter,
    settings,
    shape,
    softmax,
    sort,
    special,
    statistics,
    storage,
    windows,
)
from .declare import FUNCTIONS, explain_own_methods
from .precise import keep_precise

keep_precise()
explain_own_methods()


def __getattr__(name):
    if name == "aten":
        import importlib

        return importlib.import_module("gradviz.ops.aten")
    raise AttributeError(f"module 'gradviz.ops' has no attribute '{name}'")


__all__ = ["FUNCTIONS"]
