"""``torch.utils._pytree``, the nested containers of func/pytree.py under PyTorch's name."""

from ..func import pytree

globals().update({name: found for name, found in vars(pytree).items() if name[:2] != "__"})
