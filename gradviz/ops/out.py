"""``out=``: a result put into a tensor of the caller, and what is said where that does not fit."""

from __future__ import annotations

import inspect
import warnings
from functools import cache

from ..engine import arguments, dispatch, dtypes, views
from ..engine.dispatch import Tensor
from ..engine.operands import type_name
from ..engine.operation import TENSOR

_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match "
    "the required output shape {}. This behavior is deprecated, and in a future PyTorch release "
    "outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
    "tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
)

_RECOUNTED = (
    "The number of elements in the out tensor of shape {0} is {1} which does not match the "
    "computed number of elements {2}. Note that this may occur as a result of rounding error. The "
    "out tensor will be resized to a tensor of shape ({2},)."
)

# ---------------------------------------------------------------- dtypes
_SAME = "Expected out tensor to have dtype {result_c}, but got {out_c} instead"
_FOUND = "Found dtype {out} but expected {result}"
_SCALAR = "Expected object of scalar type {result} but got scalar type {out} for argument 'out'"
_COMPLEX = "{name} expects a complex output tensor, but got {out}"
_REAL = "{name} expects a floating point output tensor, but got {out}"
# What is said where ``out`` has not the dtype of the result, by name; of all others the result is
# converted where that loses nothing.
_REFUSALS = {
    **dict.fromkeys(
        "softmax log_softmax special_softmax special_log_softmax norm linalg_vector_norm argmax "
        "argmin triu tril scatter scatter_add scatter_reduce gather mm bmm matmul linalg_matmul "
        "addmm addbmm baddbmm cross linalg_cross linalg_inv inverse renorm".split(),
        _SAME,
    ),
    **dict.fromkeys(
        "ceil floor round trunc fix sgn sign neg negative clamp clip abs fft_ifft "
        "fft_ihfft".split(),
        _FOUND,
    ),
    **dict.fromkeys(("polar", "complex"), _SCALAR),
    **dict.fromkeys(
        ("masked_select", "index_select"),
        "{name}(): self and result must have the same scalar type",
    ),
    "dot": "result dtype {out} does not match input dtype {result}",
    "nan_to_num": "nan_to_num: dtype of out: {out} should be same as input: {result}",
    "take": "take(): self and out expected to have the same dtype, but got self.dtype = {result} "
    "and out.dtype = {out}",
    "tensordot": "tensordot: Expected the output tensor to have dtype {result}, but got an output "
    "tensor with dtype {out}",
    "where": "Expected out type to be {result} but got {out}",
    **dict.fromkeys(
        ("amax", "amin"),
        "Expected the dtype for input and out to match, but got {result} for input's dtype and "
        "{out} for out's dtype.",
    ),
}
# Of these ``out`` is asked for the kind of its dtype alone.
_KINDS = {
    **dict.fromkeys(
        ("all", "any"), ("bu", "{name} only supports bool tensor for result, got: {out}")
    ),
    **dict.fromkeys(
        ("isposinf", "isneginf"), ("b", "{name} does not support non-boolean outputs.")
    ),
    **dict.fromkeys(("fft", "ifft", "rfft", "ihfft", "fftn", "rfftn", "ihfftn"), ("c", _COMPLEX)),
    **dict.fromkeys(("irfft", "hfft", "irfftn", "hfftn"), ("fV", _REAL)),
    "logsumexp": (
        "fcV",
        "logsumexp(): Expected floating point type for result tensor, but got: {out}",
    ),
}
_FFT = {"ifft": "ifft", "ifftn": "fftn", "fft2": "fftn", "ifft2": "fftn", "rfft2": "rfftn"}
_FFT.update({"irfft2": "irfftn", "hfft2": "hfftn", "ihfft2": "ihfftn"})
_JOINED = frozenset("cat stack column_stack hstack vstack dstack row_stack".split())
_CREATED = frozenset(
    "zeros ones full eye linspace logspace arange range empty fft_fftfreq fft_rfftfreq".split()
)
# Of these ``out`` says the dtype where ``dtype`` does not.
_DRAWN = frozenset("rand randn randint randperm".split())
_ADOPT = frozenset("sum nansum prod cumsum cumprod nanmean".split()) | _CREATED


def _bare(name):
    bare = name.removeprefix("fft_")
    return _FFT.get(bare, bare)


def _check_kind(name, out):
    """RuntimeError for an ``out`` of a kind of dtype that a result never has."""
    bare, given = _bare(name), dtypes.of(out._a)
    words = {"name": bare, "out": dtypes.scalar_name(given)}
    if bare in _KINDS:
        kinds, text = _KINDS[bare]
        unsigned = given.np.kind == "u" and given.np.itemsize > 1
        if given.np.kind not in kinds or unsigned:
            raise RuntimeError(text.format(**words))


def check_dtype(name, made, out):
    """RuntimeError where PyTorch does not write a result of dtype ``made`` into ``out``."""
    _check_kind(name, out)
    bare, given = _bare(name), dtypes.of(out._a)
    words = {"name": bare, "out": dtypes.scalar_name(given)}
    if name in _REFUSALS and made is not given:
        raise RuntimeError(
            _REFUSALS[name].format(
                **words,
                result=dtypes.scalar_name(made),
                result_c=dtypes.c_name(made),
                out_c=dtypes.c_name(given),
            )
        )
    if name in _JOINED and not dtypes.can_cast(made, given):
        raise TypeError(
            f"torch.cat(): input types can't be cast to the desired output type {words['out']}"
        )
    if bare not in _KINDS:
        views.check_cast(made.np, given.np)


def asked_dtype(name, dtype, out):
    """The dtype to compute in: the one asked for, that of ``out`` where it says so; RuntimeError
    where both are given and differ.
    """
    if dtype is None:
        return out.dtype if name in _ADOPT else None
    wanted = dtypes.PYTHON.get(dtype, dtype)
    if wanted is out.dtype:
        return dtype
    ours, theirs = dtypes.scalar_name(wanted), dtypes.scalar_name(out.dtype)
    if name in _CREATED:
        raise RuntimeError(f"dtype {ours} does not match dtype of out parameter ({theirs})")
    if name in ("nansum", "nanmean"):
        raise RuntimeError(
            f"nansum: provided dtype must match dtype of result. Got {theirs} and {ours}."
        )
    raise RuntimeError(_SAME.format(result_c=dtypes.c_name(wanted), out_c=dtypes.c_name(out.dtype)))


# ---------------------------------------------------------------- writing
def _tensors_in(given):
    for t in given:
        if isinstance(t, Tensor):
            yield t
        elif isinstance(t, (tuple, list)):
            yield from (x for x in t if isinstance(x, Tensor))


def check_untracked(name, *tensors):
    """RuntimeError where ``out=`` would lose gradients."""
    if dispatch.state.special and not dispatch.local.grad:
        return
    if any(t.requires_grad for t in _tensors_in(tensors)):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, "
            "but one of the arguments requires grad."
        )


def write_out(name, result, out, args=()):
    """Put ``result`` into ``out=``; RuntimeError where gradients would be lost."""
    created = name in _CREATED or name in _DRAWN
    if name.startswith("fft_"):
        _check_kind(name, out)
    if created and out.is_leaf:
        check_untracked(f"aten::{name}", out)
    if result.dtype.category >= 2 and not created and next(_tensors_in(args), None) is not None:
        check_untracked(_transform(name, args[0]), *args, out)
    if dispatch.state.special and dispatch.local.dual is not None:
        if any(isinstance(a, Tensor) and a._tangent for a in (*args, out)):
            raise NotImplementedError(
                f"Trying to use forward AD with {name}_out that does not support it because it is "
                "an out= function"
            )
    check_dtype(name, result.dtype, out)
    if out._a.shape != result._a.shape:
        if out._a.size and name in ("arange", "fft_rfftfreq", "fft_fftfreq"):
            warnings.warn(
                _RECOUNTED.format(list(out._a.shape), out._a.size, result._a.size), UserWarning, 3
            )
        elif out._a.size and not created:
            warnings.warn(
                _RESIZED.format(list(out._a.shape), list(result._a.shape)), UserWarning, 3
            )
        order = "C" if name.startswith("fft_") else "K"
        out._a = result._a.astype(out._a.dtype, order=order)
    else:
        out._a[...] = result._a
    if created and out.requires_grad:
        return views.write(TENSOR.created.op, (out,), (name,))
    views.bump(out)
    return out


# What PyTorch's own recording calls these.
_RECORDED = {
    "nanmean": "nansum",
    "linalg_inv": "linalg_inv_ex",
    "linalg_eigvalsh": "_linalg_eigh",
    "special_multigammaln": "mvlgamma",
    **dict.fromkeys(("histc", "special_bessel_j0", "special_bessel_j1"), 0),
    **dict.fromkeys(("concat", "concatenate", "column_stack", "hstack", "row_stack"), "cat"),
    **dict.fromkeys(("vstack", "dstack"), "cat"),
}
_TO_REAL = frozenset("irfft irfft2 irfftn hfft hfft2 hfftn".split())
_FROM_REAL = frozenset("fft ifft rfft rfft2 rfftn ihfft".split())


def _transform(name, input):
    """What the step that writes the result of a Fourier transform is recorded as; ``name`` for
    another function.
    """
    if not name.startswith("fft_"):
        return name
    bare = name.removeprefix("fft_")
    if bare in _TO_REAL:
        return "_fft_c2r"
    return "_fft_r2c" if bare in _FROM_REAL and not input.is_complex() else "_fft_c2c"


# These, and what is in ``fft``, look at their arguments first.
_LATE = frozenset(("matrix_power", "linalg_matrix_power"))


def called_with_out(name, function, args, kwargs, typed):
    """The results of a call without ``out=``, put into it; ``typed``: it takes a ``dtype``."""
    kwargs = dict(kwargs)
    out = kwargs.pop("out")
    if out is None:
        return function(*args, **kwargs)
    if arguments.known(name, False):
        refused = arguments.refusal(name, args, {**kwargs, "out": out})
        if refused is not None:
            raise refused
    elif "out" not in signature(function).parameters:
        return function(*args, **kwargs, out=out)
    if isinstance(out, Tensor):
        recorded = _recorded(name, function)
        early = (
            recorded and name not in _CREATED and not name.startswith("fft_") and name not in _LATE
        )
        if recorded == "cat":
            args = (tuple(args[0]), *args[1:])
            check_untracked(recorded, *args[0], out)
        elif early and out.dtype.category >= 2:
            check_untracked(recorded, *args, *kwargs.values(), out)
        if typed:
            kwargs["dtype"] = asked_dtype(name, kwargs.get("dtype"), out)
    result = function(*args, **kwargs)
    if not isinstance(result, tuple):
        if not isinstance(out, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type_name(out)}")
        return write_out(name, result, out, args)
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type_name(out)}")
    return type(result)(*[write_out(name, r, o, args) for r, o in zip(result, out, strict=True)])


def _recorded(name, function):
    """What a call is recorded as; 0 where no gradient could be lost."""
    own = getattr(function, "__wrapped__", function)
    plain = name if hasattr(own, "op") else name.removeprefix("special_")
    return getattr(own, "recorded", _RECORDED.get(name, plain))


@cache
def signature(function):
    """Its signature, found once."""
    return inspect.signature(function)
