"""Modules as functions: ``functional_call`` and ``stack_module_state``."""

from __future__ import annotations

import contextlib

from ..engine.tensor import Tensor
from ..ops.join import stack


def _owner(module, path):
    *parents, name = path.split(".")
    for part in parents:
        module = getattr(module, part)
    return module, name


def _slot(owner, name):
    """The table of ``owner`` that holds ``name``; KeyError when there is none."""
    for table in (owner._parameters, owner._buffers):
        if name in table:
            return table
    raise KeyError(name)


@contextlib.contextmanager
def _swapped(module, tensors, given):
    """The module with other tensors in place of parameters and buffers, for the length of a block;
    those that it replaced meanwhile are in ``given`` afterwards.
    """
    undo = []
    try:
        for path, tensor in tensors.items():
            owner, name = _owner(module, path)
            table = _slot(owner, name)
            if not (tensor is None or isinstance(tensor, Tensor)):
                raise TypeError(f"{tensor} is not an instance of torch.Tensor")
            undo.append((path, table, name, table[name]))
            table[name] = tensor
        yield
    finally:
        for path, table, name, old in reversed(undo):
            if path in given:
                given[path] = table[name]
            table[name] = old


def _merged(given):
    if isinstance(given, dict):
        return given
    if not isinstance(given, (list, tuple)):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given)}"
        )
    if not all(isinstance(part, dict) for part in given):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [n for part in given for n in part]
    twice = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    if twice:
        raise ValueError(
            f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {n: t for part in given for n, t in part.items()}


def _with_tied(module, tensors):
    """A tensor given for one name of a shared parameter stands for its other names too; ValueError
    for different ones.
    """
    by_object = {}
    for name, value in [
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ]:
        by_object.setdefault(id(value), []).append(name)
    out = dict(tensors)
    for names in by_object.values():
        given = [n for n in names if n in tensors]
        if len({id(tensors[n]) for n in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. "
                "Consider using tie_weights=False"
            )
        if given:
            out.update(dict.fromkeys(names, tensors[given[0]]))
    return out


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """``module(*args, **kwargs)`` with the given tensors in place of its parameters and buffers."""
    given = tensors = _merged(parameter_and_buffer_dicts)
    names = {n for n, _ in module.named_parameters(remove_duplicate=False)} | {
        n for n, _ in module.named_buffers(remove_duplicate=False)
    }
    if strict:
        missing, unexpected = sorted(names - tensors.keys()), sorted(tensors.keys() - names)
        if missing or unexpected:
            lines = [f"Error(s) in reparametrizing for {type(module).__name__}:"]
            for what, found in (("Unexpected", unexpected), ("Missing", missing)):
                if found:
                    lines.append(f"{what} key(s): {', '.join(map(repr, found))}.")
            raise RuntimeError("\n\t".join(lines))
    tensors = {k: v for k, v in tensors.items() if k in names}
    if tie_weights:
        tensors = _with_tied(module, tensors)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(module, tensors, given):
        return module(*args, **(kwargs or {}))


def stack_module_state(models):
    """(parameters, buffers) of models of one architecture, each stacked along a new first
    dimension.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    parameters = _stacked([dict(m.named_parameters()) for m in models])
    return parameters, _stacked([dict(m.named_buffers()) for m in models])


def _stacked(tables):
    out = {}
    for name, first in tables[0].items():
        if any(t[name].requires_grad != first.requires_grad for t in tables):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        made = stack([t[name] for t in tables]).detach()
        out[name] = made.requires_grad_(first.requires_grad)
    return out


def replace_all_batch_norm_modules_(root):
    """Let every batch norm of ``root`` go without running statistics; returns ``root``."""
    from ..nn.modules.normalization import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def debug_unwrap(tensor, *, recurse=True):
    """The tensor under what a transform wraps; here nothing is wrapped."""
    return tensor
