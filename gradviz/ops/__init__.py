"""The operations: tables of declarations. Importing this package fills Tensor, RAW and TENSOR."""

from . import create, elementwise, index, loss, matmul, random, reduce, shape  # noqa: F401
from .declare import FUNCTIONS

__all__ = ["FUNCTIONS"]
