"""The state of modules: ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ...engine.dispatch import Tensor
from ...engine.hooks import register
from ...engine.modes import no_grad
from ..parameter import Parameter, is_lazy

EXTRA = "_extra_state"
_NO_MEMORY = (
    "for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the "
    "current model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the "
    "state dictionary to their corresponding key in the module instead of copying them in place?)"
)


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


def _kept(tensor, keep_vars):
    """How ``state_dict`` holds a tensor; one that has no shape yet stays what it is."""
    return tensor if keep_vars or is_lazy(tensor) else tensor.detach()


class StateMethods:
    """The ``state_dict`` side of ``Module``."""

    def get_extra_state(self):
        """Overridden by modules that keep more than tensors in their state."""
        raise RuntimeError(_NEVER.format("get"))

    def set_extra_state(self, state):
        """The counterpart of ``get_extra_state``."""
        raise RuntimeError(_NEVER.format("set"))

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, param in self._parameters.items():
            if param is not None:
                destination[prefix + name] = _kept(param, keep_vars)
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = _kept(buffer, keep_vars)
        if type(self).get_extra_state is not StateMethods.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by dotted name, sharing their storage; ``keep_vars``:
        not detached."""
        if args:
            warnings.warn(_POSITIONAL, FutureWarning, stacklevel=2)
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            told = hook(self, destination, prefix, metadata)
            if told is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = told
        return destination

    # ------------------------------------------------------------ loading
    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        buffers = {
            k: b for k, b in self._buffers.items() if k not in self._non_persistent_buffers_set
        }
        own = {k: t for k, t in {**self._parameters, **buffers}.items() if t is not None}
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                self._load_one(name, key, target, state_dict[key], assign, error_msgs)
            elif strict:
                missing_keys.append(key)
        self._load_extra(state_dict, prefix + EXTRA, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._unexpected(state_dict, prefix, own))

    def _load_extra(self, state_dict, key, strict, missing_keys, unexpected_keys):
        if type(self).set_extra_state is not StateMethods.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _unexpected(self, state_dict, prefix, own):
        for key in state_dict:
            if key.startswith(prefix) and key != prefix + EXTRA:
                first, _, rest = key[len(prefix) :].partition(".")
                if first not in (self._modules if rest else own):
                    yield key

    def _load_one(self, name, key, target, source, assign, error_msgs):
        if not isinstance(source, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                "object from checkpoint but "
                f"received {type(source)}"
            )
            return
        lazy = is_lazy(target)
        if not lazy and is_lazy(source):
            source.shape  # noqa: B018 (raises: it has none)
        if not lazy and target.dim() == 0 and source.dim() == 1 and source.shape[0] == 1:
            source = source[0]
        if not lazy and source.shape != target.shape:
            error_msgs.append(
                f"size mismatch for {key}: copying a param with shape {source.shape} from "
                "checkpoint, the shape in current model "
                f"is {target.shape}."
            )
            return
        if not lazy and target.is_meta and not source.is_meta and not assign:
            warnings.warn(_NO_MEMORY.format(key=key), stacklevel=2)
        try:
            with no_grad():
                self._put(name, target, source, assign)
        except Exception as error:
            error_msgs.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are '
                f"{target.size()} and whose "
                f"dimensions in the checkpoint are {source.size()}, an exception occurred : "
                f"{error.args}."
            )

    def _put(self, name, target, source, assign):
        if not assign:
            target.copy_(source)
            return
        if isinstance(target, Parameter):
            if isinstance(source, Parameter):
                source.requires_grad_(target.requires_grad)
            else:
                source = Parameter(source, target.requires_grad)
        setattr(self, name, source)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy values by name, here and below. ``assign``: take the given tensors themselves.

        Raises RuntimeError that lists missing and unexpected keys (``strict``) and sizes that
        differ.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        keys = _IncompatibleKeys([], [])
        errors = []
        _load(self, state_dict, "", metadata, assign, keys, errors)
        if strict:
            errors = [
                f"{what} key(s) in state_dict: {', '.join(map(_quoted, found))}. "
                for what, found in (
                    ("Missing", keys.missing_keys),
                    ("Unexpected", keys.unexpected_keys),
                )
                if found
            ] + errors
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(
                    type(self).__name__, "\n\t".join(errors)
                )
            )
        return keys

    # ------------------------------------------------------------ hooks
    def _register_state_dict_hook(self, hook):
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via "
                "register_state_dict_post_hook"
            )
        return register(None, self._state_dict_hooks, "module", hook)

    def register_state_dict_post_hook(self, hook):
        """``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict`` filled its
        part."""
        hook._from_public_api = True
        return register(None, self._state_dict_hooks, "module", hook)

    def register_state_dict_pre_hook(self, hook):
        """``hook(module, prefix, keep_vars)`` before ``state_dict`` fills its part."""
        return register(None, self._state_dict_pre_hooks, "module", hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        own = (lambda *a: hook(self, *a)) if with_module else hook
        return register(None, self._load_state_dict_pre_hooks, "module", own)

    def register_load_state_dict_pre_hook(self, hook):
        """``hook(module, state_dict, prefix, …)`` before values are loaded."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        """``hook(module, incompatible_keys)`` after values were loaded; it may edit the keys in
        place."""
        return register(None, self._load_state_dict_post_hooks, "module", hook)


def _quoted(key):
    return f'"{key}"'


def _load(module, state_dict, prefix, metadata, assign, keys, errors):
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local["assign_to_params_buffers"] = assign
    module._load_from_state_dict(
        state_dict, prefix, local, True, keys.missing_keys, keys.unexpected_keys, errors
    )
    for name, child in module._modules.items():
        if child is not None:
            start = f"{prefix}{name}."
            _load(
                child,
                {k: v for k, v in state_dict.items() if k.startswith(start)},
                start,
                metadata,
                assign,
                keys,
                errors,
            )
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if "
                "incompatible_keys need to be modified, it should be done inplace."
            )


_NEVER = (
    "Reached a code path in Module.{}_extra_state() that should never be called. Please file an "
    "issue at "
    "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
)
_POSITIONAL = (
    "Positional args are being deprecated, use kwargs instead. Refer to "
    "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
    "details."
)
