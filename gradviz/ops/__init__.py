"""The operations: tables of declarations. Importing this package fills Tensor, RAW and TENSOR."""

from . import (  # noqa: F401
    activation,
    arithmetic,
    arrange,
    choose,
    complex,
    create,
    draw,
    elementwise,
    fft,
    index,
    info,
    linalg,
    loss,
    matmul,
    random,
    reduce,
    scatter,
    shape,
    sort,
    special,
    statistics,
)
from .declare import FUNCTIONS

__all__ = ["FUNCTIONS"]
