"""Attention."""

from __future__ import annotations

import math
from typing import NamedTuple

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.dtypes import scalar_name
from ...engine.modes import local, state
from ...engine.operation import TENSOR
from ...ops import attention as table
from ...ops.declare import FUNCTIONS
from ...ops.lower import lowered
from .activation import softmax
from .basic import dropout, linear
from .pad import pad


class Kernels(NamedTuple):
    """What attention may be computed by: in one node, or from products and a softmax. The others
    are PyTorch's on a GPU: remembered.
    """

    fused: bool
    math: bool
    efficient: bool = True
    cudnn: bool = True


allowed = Kernels(True, True)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """``softmax(query · keyᵀ · scale + mask) · value``: (…, L, E), (…, S, E), (…, S, Ev) to (…, L,
    Ev)."""
    if state.special and local.autocast is not None:
        query, key, value = lowered(query, key, value)
    _check_sdpa(query, key, value, attn_mask, is_causal)
    factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    if enable_gqa:
        times = query.size(-3) // key.size(-3)
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    bias = _bias(attn_mask, query, key, is_causal)
    fused = (
        allowed.fused
        and query.dim() == 4
        and dropout_p == 0.0
        and query.size(-1) == value.size(-1)
        and (bias is None or bias._g is None)
    )
    if fused:
        return table.attention(query, key, value, None if bias is None else bias._a, factor)
    if not allowed.math:
        raise RuntimeError(
            "No available kernel.  Aborting execution."
            if allowed.fused
            else "No viable backend for scaled_dot_product_attention was found. This is likely due "
            "to turning off both the math kernel and the fused kernels."
        )
    root = math.sqrt(factor) if factor > 0 else factor
    scores = TENSOR.mul_number(query, root).matmul(
        TENSOR.mul_number(key.transpose(-2, -1), root if factor > 0 else 1.0)
    )
    weights = table.safe_softmax(scores if bias is None else scores + bias, scores.dim() - 1)
    if dropout_p > 0.0:
        weights = dropout(weights, dropout_p)
    return weights.matmul(value)


def _check_sdpa(query, key, value, attn_mask, is_causal):
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.dim() < 2:
            raise RuntimeError(
                f"Expected query, key, and value to all be at least 2 dimensional, but got {name} "
                f"with {x.dim()} dimensions"
            )
    if len({x._a.dtype for x in (query, key, value)}) > 1:
        kinds = [scalar_name(x.dtype).lower() for x in (query, key, value)]
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: {} "
            "key.dtype: {} and value.dtype: {} "
            "instead.".format(*kinds)
        )
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )


def _bias(attn_mask, query, key, is_causal):
    if is_causal:
        rows, columns = query.size(-2), key.size(-2)
        seen = xp.tri(rows, columns, dtype=bool, like=query._a)
        return wrap(xp.where(seen, 0, -xp.inf).astype(query._a.dtype))
    if attn_mask is not None and attn_mask._a.dtype == bool:
        return wrap(xp.where(attn_mask._a, 0, -xp.inf).astype(query._a.dtype))
    return attn_mask


# ---------------------------------------------------------------- several heads
def _canonical(mask, name, dtype):
    """A mask as numbers to add."""
    if mask is None:
        return None
    if mask._a.dtype != bool and mask._a.dtype.kind not in "fV":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if mask._a.dtype == bool:
        return wrap(xp.where(mask._a, -xp.inf, 0).astype(dtype.np))
    return mask


def _check_shapes(query, key, value, key_padding_mask, attn_mask):
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D "
            "query tensor"
        )
    kind = "batched (3-D)" if query.dim() == 3 else "unbatched (2-D)"
    n = query.dim()
    if key.dim() != n or value.dim() != n:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {n}-D but found {key.dim()}-D "
            f"and {value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != n - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {n - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor "
            "instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{attn_mask.dim()}-D tensor instead"
        )
    return n == 3


def _project(query, key, value, weight, bias):
    """Query, key and value through the packed weight; one product where the inputs are the same."""
    size = query.size(-1)
    if key is value and query is key:
        out = linear(query, weight, bias)
        out = out.unflatten(-1, (3, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return out[0], out[1], out[2]
    w = weight.chunk(3)
    b = (None,) * 3 if bias is None else bias.chunk(3)
    return tuple(linear(x, wk, bk) for x, wk, bk in zip((query, key, value), w, b, strict=True))


def multi_head_attention_forward(
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
    is_causal=False,
):
    """Attention of several heads: query (L, N, E), key and value (S, N, E); without N for a single
    sample."""
    batched = _check_shapes(query, key, value, key_padding_mask, attn_mask)
    if not batched:
        same = key is query, value is key
        query = query.unsqueeze(1)
        key = query if same[0] else key.unsqueeze(1)
        value = key if same[1] else value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    key_padding_mask = _canonical(key_padding_mask, "key_padding_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    attn_mask = _canonical(attn_mask, "attn_mask", query.dtype)
    if size != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}"
        )
    head = size // num_heads
    if head * num_heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        b = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        for what, x in (("key", key), ("value", value)):
            weight = weights[1] if what == "key" else weights[2]
            if tuple(weight.shape) != (size, x.size(-1)):
                raise AssertionError(
                    f"expecting {what} weights shape of {(size, x.size(-1))}, but got "
                    f"{weight.shape}"
                )
        q, k, v = (
            linear(x, w, bk) for x, w, bk in zip((query, key, value), weights, b, strict=True)
        )
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _shaped_mask(attn_mask, length, key.shape[0], batch, num_heads)
    if bias_k is not None and bias_v is not None:
        k = FUNCTIONS["cat"]([k, bias_k.repeat(1, batch, 1)])
        v = FUNCTIONS["cat"]([v, bias_v.repeat(1, batch, 1)])
        attn_mask = None if attn_mask is None else pad(attn_mask, (0, 1))
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, (0, 1))
    q = q.view(length, batch * num_heads, head).transpose(0, 1)
    k = (
        k.view(k.shape[0], batch * num_heads, head).transpose(0, 1)
        if static_k is None
        else static_k
    )
    v = (
        v.view(v.shape[0], batch * num_heads, head).transpose(0, 1)
        if static_v is None
        else static_v
    )
    if add_zero_attn:
        zero = k.new_zeros(batch * num_heads, 1, head)
        k, v = FUNCTIONS["cat"]([k, zero], 1), FUNCTIONS["cat"]([v, zero], 1)
        attn_mask = None if attn_mask is None else pad(attn_mask, (0, 1))
        key_padding_mask = None if key_padding_mask is None else pad(key_padding_mask, (0, 1))
    source = k.size(1)
    if key_padding_mask is not None:
        for axis, wanted in enumerate((batch, source)):
            if key_padding_mask.shape[axis] != wanted:
                raise AssertionError(
                    f"Expected key_padded_mask.shape[{axis}] to be {wanted}, but got "
                    f"{key_padding_mask.shape[axis]}"
                )
        spread = (
            key_padding_mask.view(batch, 1, 1, source)
            .expand(-1, num_heads, -1, -1)
            .reshape(batch * num_heads, 1, source)
        )
        attn_mask = spread if attn_mask is None else attn_mask + spread
    p = dropout_p if training else 0.0
    if need_weights:
        out, weights = _weighted(q, k, v, attn_mask, p)
    else:
        out, weights = _unweighted(q, k, v, attn_mask, p, batch, num_heads), None
    out = linear(
        out.transpose(0, 1).contiguous().view(length * batch, size), out_proj_weight, out_proj_bias
    )
    out = out.view(length, batch, out.size(1))
    if weights is not None:
        weights = weights.view(batch, num_heads, length, source)
        weights = weights.mean(1) if average_attn_weights else weights
        weights = weights if batched else weights.squeeze(0)
    return out if batched else out.squeeze(1), weights


def _shaped_mask(mask, length, source, batch, heads):
    if mask is None:
        return None
    if mask.dim() == 2:
        if tuple(mask.shape) != (length, source):
            raise RuntimeError(
                f"The shape of the 2D attn_mask is {mask.shape}, but should be {(length, source)}."
            )
        return mask.unsqueeze(0)
    if tuple(mask.shape) != (batch * heads, length, source):
        raise RuntimeError(
            f"The shape of the 3D attn_mask is {mask.shape}, but should be "
            f"{(batch * heads, length, source)}."
        )
    return mask


def _weighted(q, k, v, mask, p):
    scores = FUNCTIONS["bmm"](q * math.sqrt(1.0 / float(q.shape[-1])), k.transpose(-2, -1))
    weights = softmax(scores if mask is None else scores + mask, -1)
    if p > 0.0:
        weights = dropout(weights, p)
    return FUNCTIONS["bmm"](weights, v), weights


def _unweighted(q, k, v, mask, p, batch, heads):
    if mask is not None:
        mask = mask.unsqueeze(0) if mask.size(0) == 1 else mask.view(batch, heads, -1, k.size(1))
    q, k, v = (x.view(batch, heads, x.size(1), x.size(2)) for x in (q, k, v))
    out = scaled_dot_product_attention(q, k, v, mask, p)
    return out.reshape(batch * heads, out.size(2), out.size(3))
