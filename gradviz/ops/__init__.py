"""The operations: tables of declarations. Importing this package fills Tensor, RAW and TENSOR."""

from . import (  # noqa: F401
    activation,
    activation_backward,
    apply,
    arithmetic,
    arrange,
    calculus,
    choose,
    complex,
    copying,
    create,
    distinct,
    draw,
    elementwise,
    exchange,
    factor,
    fft,
    index,
    info,
    join,
    linalg,
    loss,
    matmul,
    matrix,
    older,
    place,
    quantile,
    random,
    reduce,
    scatter,
    settings,
    shape,
    sort,
    special,
    statistics,
    storage,
)
from .declare import FUNCTIONS
from .precise import keep_precise

keep_precise()


def __getattr__(name):
    if name == "aten":
        import importlib

        return importlib.import_module("gradviz.ops.aten")
    raise AttributeError(f"module 'gradviz.ops' has no attribute '{name}'")


__all__ = ["FUNCTIONS"]
