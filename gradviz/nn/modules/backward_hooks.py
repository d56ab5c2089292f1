"""What carries the backward hooks of a module: identity nodes around its forward for full hooks,
the last node alone for the old kind.
"""

from __future__ import annotations

import functools
import warnings
import weakref

from ...autograd import Function
from ...engine.dispatch import Tensor
from ...engine.modes import is_grad_enabled


class BackwardHookFunction(Function):
    """The identity whose node marks where a module begins and ends."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *grads):
        return grads


_NO_INPUTS = (
    "Full backward hook is firing when gradients are computed with respect to module outputs "
    "since no inputs require gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class BackwardHook:
    """The full backward hooks of one call of ``module``: ``user_hooks`` get the gradients of its
    inputs and outputs, ``user_pre_hooks`` those of the outputs before it runs backward.
    """

    def __init__(self, module, user_hooks, user_pre_hooks):
        self.module, self.user_hooks, self.user_pre_hooks = module, user_hooks, user_pre_hooks
        self.grad_outputs = None
        self.n_inputs = self.n_outputs = -1
        self.input_tensors_index = self.output_tensors_index = None

    def setup_input_hook(self, args):
        """The arguments of the module, its tensors passed through an identity node."""
        made, places = _through_identity(args, lambda node: node.register_hook(self._left))
        self.n_inputs, self.input_tensors_index = len(args), places
        return made

    def setup_output_hook(self, args):
        """The same for what the module returned."""
        single = not isinstance(args, tuple)
        args = (args,) if single else args
        made, places = _through_identity(args, lambda node: node.register_hook(self._entered))
        self.n_outputs, self.output_tensors_index = len(args), places
        return made[0] if single else made

    def _entered(self, _, grads):
        outs = _spread(grads, self.output_tensors_index, self.n_outputs)
        for hook in self.user_pre_hooks:
            told = hook(self.module, outs)
            if told is not None:
                _check_count("pre hook", "grad_output", told, outs)
                outs = told
        self.grad_outputs = outs
        if self.input_tensors_index is None:
            self._call_without_inputs()
        return tuple(outs[k] for k in self.output_tensors_index)

    def _call_without_inputs(self):
        warnings.warn(_NO_INPUTS, stacklevel=5)
        nothing = (None,) * self.n_inputs
        for hook in self.user_hooks:
            told = hook(self.module, nothing, self.grad_outputs)
            if not (told is None or isinstance(told, tuple) and all(x is None for x in told)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _left(self, grad_inputs, _):
        if self.grad_outputs is None:
            return None
        grads = _spread(grad_inputs, self.input_tensors_index, self.n_inputs)
        for hook in self.user_hooks:
            told = hook(self.module, grads, self.grad_outputs)
            if told is not None:
                _check_count("hook", "grad_input", told, grads)
                grads = told
        self.grad_outputs = None
        return tuple(grads[k] for k in self.input_tensors_index)


# PyTorch names both in its messages «hook»
BackwardHook._left.__name__ = BackwardHook._entered.__name__ = "hook"


def _check_count(what, which, told, grads):
    if len(told) != len(grads):
        raise RuntimeError(
            f"Backward {what} returned an invalid number of {which}, got {len(told)}, but expected "
            f"{len(grads)}"
        )


def _through_identity(args, attach):
    """(``args`` with their tensors passed through the identity, places of the tensors); None for
    the places where nothing requires grad.
    """
    places = [k for k, x in enumerate(args) if isinstance(x, Tensor)]
    tensors = [args[k] for k in places]
    if not (is_grad_enabled() and any(x.requires_grad for x in tensors)):
        return args, None
    made = BackwardHookFunction.apply(*tensors)
    attach(next(t.grad_fn for t in made if t.grad_fn is not None))
    out = list(args)
    for k, t in zip(places, made, strict=True):
        out[k] = t
    return (tuple(out) if type(args) is tuple else type(args)(*out)), places


def _spread(grads, places, count):
    out = [None] * count
    for k, g in zip(places, grads, strict=True):
        out[k] = g
    return tuple(out)


# ---------------------------------------------------------------- the old kind
def attach_plain_hooks(module, hooks, args, result):
    """Put hooks of the old kind on the node that made the first tensor of ``result``."""
    node = _first_tensor(result).grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(_with_module(hook, module))
        warn_plain_hook(args, result, node)


def _first_tensor(result):
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next(v for v in result.values() if isinstance(v, Tensor))
        else:
            result = result[0]
    return result


def _with_module(hook, module):
    ref = weakref.ref(module)

    @functools.wraps(hook)
    def called(*args):
        module = ref()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return hook(module, *args)

    return called


def warn_plain_hook(args, result, node):
    """PyTorch's warnings about what a hook of the old kind does not see."""
    text = _complaint(args, result, node)
    if text is not None:
        warnings.warn(text, FutureWarning, stacklevel=5)


_FULL = "Please use register_full_backward_hook to get the documented behavior."
_ODD = (
    "Using non-full backward hooks on a Module that does not {} single Tensor or a tuple of "
    "Tensors is deprecated and will be removed in future versions. This hook will be missing some "
    "of the {}. " + _FULL
)
_MISSING = (
    "Using a non-full backward hook when {} is deprecated and will be removed in future versions. "
    "This hook will be missing some {}."
)


def _complaint(args, result, node):
    result = (result,) if isinstance(result, Tensor) else result
    if not _are_tensors(result):
        return _ODD.format("return a", "grad_output")
    if not _are_tensors(args):
        return _ODD.format("take as input a", "grad_input")
    made_by = {r.grad_fn for r in result if r.grad_fn is not None}
    if node not in made_by:
        return _MISSING.format("outputs are nested in python data structure", "grad_output")
    if len(made_by) > 1:
        what = "outputs are generated by different autograd Nodes"
        return f"{_MISSING.format(what, 'grad_output')} {_FULL}"
    before = {x.grad_fn for x in args if x.grad_fn is not None}
    if before != {found for found, _ in node.next_functions}:
        what = "the forward contains multiple autograd Nodes"
        return f"{_MISSING.format(what, 'grad_input')} {_FULL}"
    return None


def _are_tensors(values):
    return isinstance(values, tuple) and all(isinstance(x, Tensor) for x in values)
