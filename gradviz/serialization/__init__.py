"""``save`` and ``load``: tensors in nested containers, in files that hold data and no code.

A file is a safetensors file (8 bytes of header length, a JSON header, the arrays). What surrounds
the tensors, dicts, lists, tuples and plain values, stands as JSON in the header's metadata.
``load`` also reads any other safetensors file, as a dict, and the tensors of a PyTorch checkpoint,
old or new. Nothing is ever unpickled.
"""

from .files import load, save

__all__ = ["load", "save"]
