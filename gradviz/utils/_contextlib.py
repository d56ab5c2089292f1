"""Context managers that are decorators too, under PyTorch's names."""

from ..engine.modes import Block as _DecoratorContextManager
from ..engine.modes import _NoParamDecoratorContextManager

__all__ = ["_DecoratorContextManager", "_NoParamDecoratorContextManager"]
