"""What ``vmap`` cannot do for all slices at once, in PyTorch's words; and what it need not do for
each of them.
"""

from __future__ import annotations

from ..engine.tensor import Tensor

_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)
_CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at "
    "https://github.com/pytorch/pytorch/issues ."
)
_POINTER = "Cannot access data pointer of Tensor that doesn't have storage"
_STORAGE = "Cannot access storage of BatchedTensorImpl"
_DYNAMIC = (
    "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap "
    "over aten::{}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
    "this feature."
)
_IN_PLACE = (
    "vmap: {0}(self, *extra_args) is not possible because there exists a Tensor `other` in "
    "extra_args that has more elements than `self`. This happened due to `other` being vmapped "
    "over but `self` not being vmapped over {1}. Please try to use out-of-place operators instead "
    "of {0}. If said operator is being called inside the PyTorch framework, please file a bug "
    "report instead."
)
_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to "
    "batch over indexing with a boolean mask."
)
_SELECT = (
    "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this "
    "because for each batch this would return a differently shaped Tensor. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature."
)

_NO_RULE = "Batching rule not implemented for aten::{}. We could not generate a fallback."
NO_RULE = {_ITEM: "item", _CONTROL_FLOW: "is_nonzero"}

_INSIDE_GRADIENTS = (
    "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a "
    "Tensor in some data-dependent control flow or (3) encountering this error in PyTorch "
    "internals. For (1): we don't support vmap over calling .item() on a Tensor, please try to "
    "rewrite what you're doing with other operations. For (2): we don't support data-dependent "
    "control flow in vmap yet, please file an issue at https://github.com/pytorch/pytorch/issues . "
    "For (3): please file an issue."
)

_STATISTICS = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
    "updated in place, were not batched.\nIf you are using a module and do not need eval mode, "
    "please set `track_running_stats` to be False.If you are using a prebuilt module and do not "
    "need eval mode, please see the functorch website for resources on how to patch your module to "
    "work with vmap"
)

REFUSED = {
    **dict.fromkeys(
        ("item", "__float__", "__int__", "__complex__", "__index__", "__format__", "__contains__"),
        _ITEM,
    ),
    **dict.fromkeys(("__bool__", "is_nonzero"), _CONTROL_FLOW),
    **dict.fromkeys(("tolist", "numpy", "data_ptr", "__array__"), _POINTER),
    "nonzero": _DYNAMIC.format("nonzero"),
    "argwhere": _DYNAMIC.format("nonzero"),
    "unique": _DYNAMIC.format("_unique2"),
    "unique_consecutive": _DYNAMIC.format("unique_consecutive"),
    "masked_select": _SELECT,
    "get data": "accessing `data` under vmap transform is not allowed",
    "set data": "mutating directly with `.data` under vmap transform is not allowed.",
    "equal": _NO_RULE.format("equal"),
    "allclose": "vmap over torch.allclose isn't supported yet. Please file an issue at "
    "https://github.com/pytorch/pytorch/issues if you need this feature.",
}

# ---------------------------------------------------------------- what slices have in common
OF_THE_BATCH = {
    "get requires_grad": lambda x: x.tracked,
    "get is_leaf": lambda x: not x.tracked,
    "get grad_fn": lambda x: None,
    "get grad": lambda x: None,
    "get _base": lambda x: None,
    "_is_view": lambda x: False,
}
_PROPERTIES = (
    "shape dtype device layout ndim itemsize nbytes is_cpu is_cuda is_meta is_sparse is_quantized "
    "is_mkldnn is_nested _version output_nr retains_grad name names"
)
OF_THE_FORM = frozenset(
    "size dim ndimension numel nelement stride storage_offset element_size is_contiguous "
    "is_floating_point is_complex is_signed is_inference is_conj is_neg __len__ get_device "
    "is_shared is_pinned is_same_size".split()
).union(f"get {name}" for name in _PROPERTIES.split())


OTHER_FORM = frozenset(
    "t_ transpose_ swapaxes_ swapdims_ squeeze_ unsqueeze_ as_strided_ resize_ set_ detach_".split()
)


# ---------------------------------------------------------------- refusals
def refuse(name, args, kwargs, mapped, older):
    """RuntimeError where the slices cannot be computed one by one; ``mapped(x)``: whether x stands
    for slices. ``older``: in the vmap of batched gradients.
    """
    if older and (no_rule := NO_RULE.get(REFUSED.get(name))):
        raise RuntimeError(_NO_RULE.format(no_rule))
    if older and name == "detach":
        raise RuntimeError(
            "Batching rule not implemented for aten::detach; the fallback path doesn't work on "
            "out= or view ops."
        )
    if older and _writes(name) and not mapped(args[0]):
        raise RuntimeError(_IN_PLACE.format(f"aten::{name}", "at level 1"))
    if name in REFUSED:
        text = REFUSED[name]
        inside = text in (_ITEM, _CONTROL_FLOW) and args[0].requires_grad
        raise RuntimeError(_INSIDE_GRADIENTS if inside else text)
    if name in ("storage", "untyped_storage"):
        raise NotImplementedError(_STORAGE)
    if name == "where" and len(args) + len(kwargs) == 1:
        raise RuntimeError(_DYNAMIC.format("where"))
    if kwargs.get("out") is not None:
        raise RuntimeError(
            f"Batching rule not implemented for aten::{name}.out; the fallback path doesn't work "
            "on out= or view ops."
        )
    if name == "grad" and not any(_tracked(x) for x in _as_tuple(args[0])):
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    if name == "batch_norm" and len(args) > 5 and args[5] and _updates(args, mapped):
        raise RuntimeError(_STATISTICS)
    if name in ("__getitem__", "__setitem__"):
        _refuse_masks(args[1], mapped)
    if _writes(name) and not mapped(args[0]):
        _refuse_write(name, args[0], [x for x in args[1:] if isinstance(x, Tensor)])


def _updates(args, mapped):
    return mapped(args[0]) and any(x is not None and not mapped(x) for x in args[1:3])


def _as_tuple(x):
    return (x,) if isinstance(x, Tensor) else x


def _tracked(x):
    return not isinstance(x, Tensor) or x.requires_grad


def _refuse_masks(index, mapped):
    for x in index if isinstance(index, tuple) else (index,):
        if mapped(x) and x.dtype.np.kind == "b":
            raise RuntimeError(_MASK)


def _writes(name):
    return name == "__setitem__" or (name[-1:] == "_" and name[:1] != "_")


_ARITHMETIC = frozenset(("copy_", "sub_", "mul_", "div_", "masked_fill_", "__setitem__"))
_BY_NAME = frozenset(("fill_", "index_add_", "index_copy_", "index_fill_", "index_put_", "zero_"))


def _refuse_write(name, target, others):
    """RuntimeError: what is the same for all slices cannot take something else from each."""
    if name == "add_":
        size = next(x.level.size for x in others if hasattr(x, "level"))
        shape = (
            [size, *others[0].shape] if others[0].dim() >= target.dim() else [size, *target.shape]
        )
        raise RuntimeError(
            f"output with shape {list(target.shape)} doesn't match the broadcast shape {shape}"
        )
    if name in _ARITHMETIC:
        raise RuntimeError(_IN_PLACE.format("inplace arithmetic", "in a vmap"))
    if name in _BY_NAME:
        raise RuntimeError(_IN_PLACE.format(name, "in a vmap"))
    raise RuntimeError(_IN_PLACE.format(f"aten::{name}", "at level 1"))
