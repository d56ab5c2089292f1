"""Linear maps, dropout, embedding."""

from __future__ import annotations

from ...backend import readable, xp
from ...engine.arguments import refusal
from ...engine.dispatch import wrap
from ...engine.dtypes import tensor_name
from ...engine.kept import keep
from ...engine.modes import no_grad
from ...ops.casting import refuse_complex
from ...ops.declare import public
from ...ops.embedding import embedding_op
from ...ops.lower import outside_autocast
from ...ops.matmul import linear as _linear
from ...ops.matmul import trilinear_op
from ...ops.random import by_slice


def linear(input, weight, bias=None):
    """``input @ weightᵀ + bias``: input (…, in), weight (out, in), bias (out)."""
    try:
        return _linear(input, weight, bias)
    except AttributeError as error:
        raise refusal("linear", (input, weight, bias), {}) or error from None


def _check_bilinear(input1, input2, weight):
    said = None
    if input1.dim() != input2.dim():
        said = f"input dimensions do not match: got {input1.dim()} and {input2.dim()}"
    else:
        for d, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
            if a != b:
                said = f"input batch dimensions do not match at dim {d}: got {a} and {b}"
                break
    if said is None:
        for k, x in enumerate((input1, input2), 1):
            if x.shape[-1] != weight.shape[k]:
                got, wanted = x.shape[-1], weight.shape[k]
                said = f"input{k} size does not match weight size: got {got} but expected {wanted}"
                break
    if said is not None:
        raise RuntimeError(f"bilinear(): {said}")


@outside_autocast
def bilinear(input1, input2, weight, bias=None):
    """``input1 · weight · input2 + bias``: weight (out, in1, in2)."""
    _check_bilinear(input1, input2, weight)
    if bias is not None and bias.numel() != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.numel()} but expected "
            f"{weight.shape[0]}"
        )
    rows = [x.reshape(-1, x.shape[-1]) for x in (input1, input2)]
    refuse_complex("_trilinear", *rows, weight)
    out = trilinear_op(rows[0], weight, rows[1]).reshape(*input1.shape[:-1], weight.shape[0])
    return out if bias is None else out + bias


# ---------------------------------------------------------------- dropout
def _check_p(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _noise(shape, array, p):
    """0 with probability ``p``, else 1; in the dtype of ``array``, where it lies."""
    whole = shape == array.shape
    noise = xp.empty_like(array) if whole else xp.empty(shape, array.dtype, like=array)
    noise = wrap(noise)
    noise.bernoulli_(1 - p)
    return noise._a


def _wide(dtype):
    """The dtype in which PyTorch divides numbers of another by a Python number."""
    return xp.dtype(xp.float32) if dtype.itemsize == 2 else dtype


@by_slice
def _drop(input, p, training, inplace, shape):
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        zero = wrap(xp.zeros((), input._a.dtype, like=input._a))
        return input.mul_(zero) if inplace else input * zero
    noise = _noise(shape, input._a, p)
    noise = (noise / _wide(noise.dtype).type(1 - p)).astype(noise.dtype, copy=False)
    return input.mul_(wrap(noise)) if inplace else input * wrap(noise)


def dropout(input, p=0.5, training=True, inplace=False):
    """Elements set to 0 with probability ``p``, the rest scaled by 1 / (1 − p)."""
    _check_p(p)
    return _drop(input, p, training, inplace, input._a.shape)


def _channels(input):
    return (*input._a.shape[:2], *(1,) * (input._a.ndim - 2))


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Whole channels dropped: input (N, C, L) or (C, L)."""
    return _dropout_channels(input, p, training, inplace, "dropout1d", 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Whole channels dropped: input (N, C, H, W)."""
    _check_p(p)
    return _drop(input, p, training, inplace, _channels(input))


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Whole channels dropped: input (N, C, D, H, W)."""
    return _dropout_channels(input, p, training, inplace, "dropout3d", 5)


def _dropout_channels(input, p, training, inplace, name, ndim):
    _check_p(p)
    if input.dim() not in (ndim - 1, ndim):
        raise RuntimeError(
            f"{name}: Expected {ndim - 1}D or {ndim}D input, but received a {input.dim()}D input. "
        )
    if input.dim() == ndim:
        return _drop(input, p, training, inplace, _channels(input))
    batched = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    out = _drop(batched, p, training, inplace, _channels(batched))
    return out.squeeze_(0) if inplace else out.squeeze(0)


_ALPHA = 1.7580993408473766


def _alpha(input, p, training, inplace, shape):
    _check_p(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        zero = wrap(xp.zeros((), input._a.dtype, like=input._a))
        return input.mul_(zero) if inplace else input * zero
    kind = input._a.dtype.type
    scale = ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** -0.5
    noise = _noise(shape, input._a, p)
    shift = wrap((noise - kind(1)) * kind(_ALPHA * scale) + kind(_ALPHA * scale * p))
    factor = wrap(noise * kind(scale))
    return input.mul_(factor).add_(shift) if inplace else input * factor + shift


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of what a SELU gives."""
    return _alpha(input, p, training, inplace, input._a.shape)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """``alpha_dropout`` of whole channels."""
    return _alpha(input, p, training, inplace, _channels(input))


# ---------------------------------------------------------------- embedding
def embedding(
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    """Rows of ``weight`` chosen by the integers of ``input``; with ``scale_grad_by_freq`` the
    gradient of a row is divided by how often it was chosen.
    """
    rows = weight.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if weight.dim() != 2:
        raise RuntimeError("'weight' must be 2-D")
    if input._a.dtype not in (xp.int64, xp.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            "Long, Int; but got "
            f"{tensor_name(input._a)} instead (while checking arguments for embedding)"
        )
    if readable(input._a) and (int(input._a.min()) < 0 or int(input._a.max()) >= rows):
        raise IndexError("index out of range in self")
    if max_norm is not None:
        with no_grad():
            _renorm_rows(weight, input, max_norm, norm_type)
    return keep(embedding_op(weight, input._a, padding_idx, bool(scale_grad_by_freq)), input)


def _renorm_rows(weight, input, max_norm, norm_type):
    from ...engine.views import bump

    chosen = xp.unique(input._a)
    norms = (xp.abs(weight._a[chosen]) ** norm_type).sum(1) ** (1.0 / norm_type)
    scale = xp.where(norms > max_norm, max_norm / (norms + 1e-7), 1).astype(weight._a.dtype)
    weight._a[chosen] *= scale[:, None]
    bump(weight)


def one_hot(tensor, num_classes=-1):
    """Integers as vectors with a single 1."""
    a = tensor._a
    if a.dtype != xp.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if a.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if readable(a) and a.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(a.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    elif readable(a) and a.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    out = xp.zeros((*a.shape, num_classes), xp.int64, like=a)
    xp.put_along_axis(out, a[..., None], 1, -1)
    return wrap(out)


def _by_position(function, inplace):
    """``gradviz.dropout(input, p, train)`` and its in-place twin."""

    def positional(input, p, train):
        return function(input, p, train, inplace)

    positional.__doc__ = function.__doc__
    return positional


for _name, _f in (
    ("dropout", dropout),
    ("alpha_dropout", alpha_dropout),
    ("feature_dropout", dropout2d),
    ("feature_alpha_dropout", feature_alpha_dropout),
):
    public(_name, _by_position(_f, False))
    public(f"{_name}_", _by_position(_f, True))


def _embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    padding_idx = None if padding_idx == -1 else padding_idx
    return embedding(indices, weight, padding_idx, scale_grad_by_freq=scale_grad_by_freq)


public("embedding", _embedding)
public("bilinear", bilinear)
