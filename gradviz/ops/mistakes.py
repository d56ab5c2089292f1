"""What was wrong with the arguments of a call that failed, in PyTorch's words.

Arguments are not checked before a call: that would cost as much as a small operation. They are
looked at when something has gone wrong inside, by the kind that a parameter of that name has.
"""

from __future__ import annotations

import contextlib
import re
from types import FunctionType

from ..backend import xp
from ..engine import arguments, dtypes
from ..engine.dispatch import Tensor
from ..engine.modes import is_recording
from ..engine.operands import not_a_tensor, type_name
from .out import called_with_out, signature


def _whole(x):
    return isinstance(x, (int, xp.integer)) and not isinstance(x, bool) or _single(x, "iu")


def _single(x, kinds):
    return isinstance(x, Tensor) and x._a.ndim == 0 and x._a.dtype.kind in kinds


def _real(x):
    return isinstance(x, (int, float, xp.number)) or _single(x, "biufV")


_FITS = {
    "Tensor": lambda x: isinstance(x, Tensor),
    "int": _whole,
    "float": _real,
    "Number": lambda x: isinstance(x, complex) or _real(x) or _single(x, "c"),
    "bool": lambda x: isinstance(x, (bool, xp.bool_)),
    "str": lambda x: isinstance(x, str),
    "torch.dtype": lambda x: isinstance(x, dtypes.dtype) or x in (float, int, bool, complex),
    "tuple of ints": lambda x: (
        _whole(x) or isinstance(x, (tuple, list)) and all(_whole(n) for n in x)
    ),
    "tuple of Tensors": lambda x: (
        isinstance(x, (tuple, list)) and all(isinstance(t, Tensor) for t in x)
    ),
}
_NAMES = {
    "Tensor": "input self tensor other weight bias target mat mat1 mat2 vec vec1 vec2 batch1 "
    "batch2 tensor1 tensor2 index mask source src x1 x2 boundaries sorted_sequence anchor positive "
    "negative input1 input2 query key attn_mask condition running_mean running_var pos_weight "
    "out",
    "int": "dim dim0 dim1 dim2 groups num_classes k diagonal offset start_dim end_dim n axis "
    "upscale_factor downscale_factor chunks length n_fft num_groups step source_dim",
    "float": "p eps momentum lower upper delta margin label_smoothing dropout_p",
    "Number": "alpha beta negative_slope lambd threshold min_val max_val fill_value",
    "bool": "keepdim training unbiased descending largest sorted stable inplace ceil_mode "
    "count_include_pad align_corners is_causal log_target full log_input right return_indices "
    "return_inverse return_counts accumulate include_self with_replacement transpose left",
    "str": "approximate indexing norm UPLO rounding_mode reduce",
    "torch.dtype": "dtype",
    "tuple of ints": "size kernel_size stride padding dilation output_size shape repeats dims "
    "shifts normalized_shape s output_padding",
    "tuple of Tensors": "tensors",
}
_KIND = {name: kind for kind, names in _NAMES.items() for name in names.split()}
# Of these, ``dim`` takes several dimensions.
_MANY = frozenset(
    "sum mean std var std_mean var_mean amax amin logsumexp flip squeeze nansum nanmean norm "
    "count_nonzero all any permute movedim vector_norm matrix_norm unflatten rot90 frobenius_norm "
    "tensordot nuclear_norm prod_dims fftshift ifftshift fftn ifftn rfftn irfftn fft2 ifft2 rfft2 "
    "irfft2 hfft2 ihfft2 hfftn ihfftn gradient normalize renorm tensorsolve".split()
)


# The smallest and most frequent: a call in between would cost more than it helps.
_HOT_FUNCTIONS = frozenset("mul sum relu exp log sigmoid tanh".split())
_HOT_METHODS = _HOT_FUNCTIONS | frozenset(
    "abs neg sqrt square sin cos mm matmul bmm view reshape item size dim numel add_ mul_ sub_ "
    "addcmul_ addcdiv_ lerp_".split()
)


def explained(name, function, method=False, native=True, prefix=""):
    """``function``; when a call of it fails because an argument is of the wrong kind, the error is
    PyTorch's TypeError that names the argument. ``native``: PyTorch's own has no Python signature;
    ``prefix``: what its messages put before the name. ``out=`` is filled in here, for all of them.
    """
    hot = name in (_HOT_METHODS if method else _HOT_FUNCTIONS)
    if not isinstance(function, FunctionType):
        return function
    if hot:
        if "<" in function.__qualname__ or function.__name__[0] == "_":
            function.__name__ = function.__qualname__ = name
        return function
    code = function.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    shown, typed = prefix + name, "dtype" in own

    def call(*args, **kwargs):
        try:
            if kwargs and "out" in kwargs and not method:
                return called_with_out(shown, function, args, kwargs, typed)
            return function(*args, **kwargs)
        except Exception as error:
            if isinstance(error, (RuntimeError, IndexError)) and name[-1] != "_":
                _ask_views(args)
            wanted = kwargs.get("dtype")
            if wanted.__class__ is type and wanted in dtypes.PYTHON:
                return call(*args, **{**kwargs, "dtype": dtypes.PYTHON[wanted]})
            if kwargs and native and isinstance(error, TypeError):
                renamed = _pytorch_names(kwargs, own)
                fits = renamed != kwargs and not (method and "out" in kwargs)
                if fits and arguments.known(shown, method):
                    with contextlib.suppress(TypeError):
                        return call(*args, **renamed)
            found = mistake(shown, name, function, args, kwargs, error, method, native)
            found = found or _renamed(shown, function, error)
            if found is None:
                raise
            for note in getattr(error, "__notes__", ()):
                found.add_note(note)
            raise found from error.__cause__

    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__ = function.__doc__, function.__module__
    call.__wrapped__ = function
    if hasattr(function, "op"):
        call.op = function.op
    return call


# The names that NumPy has for them.
_NUMPY = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input"}
_NUMPY.update(x1="input", x2="other")


def _pytorch_names(kwargs, own):
    """``kwargs`` with NumPy's names, which PyTorch understands, replaced by those in ``own``."""
    return {
        _NUMPY[key] if _NUMPY.get(key) in own and key not in own else key: value
        for key, value in kwargs.items()
    }


def told(error):
    """``error`` as one that says already what was wrong."""
    error.told = True
    return error


def _ask_views(args):
    """A view that may not be read says so before the call is found to be wrong."""
    for x in args:
        if isinstance(x, (list, tuple)):
            _ask_views(x)
        elif isinstance(x, Tensor) and is_recording():
            x._g  # noqa: B018


def _renamed(name, function, error):
    """Python's own TypeError about a call, with the public name; None for another error."""
    own = f"{function.__qualname__}()"
    text = str(error)
    if type(error) is TypeError and text.startswith(own) and own != f"{name}()":
        return TypeError(f"{name}(){text.removeprefix(own)}")
    return None


def mistake(shown, name, function, args, kwargs, error, method=False, native=True):
    """The TypeError for a call whose arguments do not fit, None where they do."""
    if hasattr(error, "told"):
        return None
    args = args[1:] if method else args
    if native and arguments.known(shown, method):
        return arguments.refusal(shown, args, kwargs, method) or _no_dimension(error)
    if not native:
        return _refused_below(name, function, args, kwargs) or _no_dimension(error)
    parameters = list(signature(function).parameters.values())
    parameters = parameters[1:] if method else parameters
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if not open_ended:
        found = _miscounted(shown, parameters, plain, args, kwargs)
        if found is not None:
            return found
    given = [(p, value, k + 1) for k, (p, value) in enumerate(zip(plain, args, strict=False))]
    known = {p.name: p for p in parameters}
    given += [(known[n], value, 0) for n, value in kwargs.items() if n in known]
    for parameter, value, position in given:
        kind = _kind(name, parameter.name)
        if not kind or value is None and parameter.default is None:
            continue
        if not _FITS[kind](value):
            place = f" (position {position})" if position else ""
            return TypeError(
                f"{shown}(): argument '{parameter.name}'{place} must be {kind}, not "
                f"{type_name(value)}"
            )
    return _told_by(error, shown, [(p.name, value, k) for p, value, k in given])


# What functions of PyTorch that are written in Python call, where that has another name.
_BELOW = {
    "fold": "col2im",
    "unfold": "im2col",
    "logsigmoid": "log_sigmoid",
    "grid_sample": "grid_sampler",
    "cross_entropy": "cross_entropy_loss",
}
_SIZE = "target.size input.size"
# What they ask of their tensors first.
_ASKED = {
    **dict.fromkeys("mse_loss l1_loss smooth_l1_loss huber_loss".split(), _SIZE),
    "binary_cross_entropy": f"{_SIZE} weight.size",
    "binary_cross_entropy_with_logits": _SIZE,
    **dict.fromkeys(
        "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d "
        "instance_norm".split(),
        "input.size",
    ),
    "glu": "input.dim",
    "group_norm": "input.dim",
    "affine_grid": "theta.is_floating_point",
    "embedding": "weight.size",
    "embedding_bag": "weight.dtype",
    "triplet_margin_with_distance_loss": "anchor.ndim positive.ndim negative.ndim",
    "margin_ranking_loss": "input1.dim input2.dim target.dim",
}


def _lacks(value, attribute):
    """Python's AttributeError for something that is no tensor."""
    kind = (
        f"type object '{value.__name__}'"
        if isinstance(value, type)
        else f"'{type_name(value)}' object"
    )
    return AttributeError(f"{kind} has no attribute '{attribute}'")


def _refused_below(name, function, args, kwargs):
    """What the function below says to the arguments that one written in Python hands on."""
    try:
        given = signature(function).bind(*args, **kwargs)
    except TypeError:
        return None
    given.apply_defaults()
    given = given.arguments
    for asked in _ASKED.get(name, "").split():
        parameter, _, attribute = asked.partition(".")
        value = given[parameter]
        optional = value is None and parameter == "weight" and name != "embedding"
        if not (isinstance(value, Tensor) or optional or hasattr(value, attribute)):
            return _lacks(value, attribute)
    below = _BELOW.get(name, name) + ("_" if given.get("inplace") is True else "")
    handed = []
    for parameter in arguments.parameters(below):
        own = "input" if (name, parameter.name) == ("embedding", "indices") else parameter.name
        if own not in given or own == "padding_idx":
            break
        value = given[own]
        handed.append(1 if parameter.name == "reduction" else value)
    return arguments.refusal(below, handed, {}, unfinished=True) if handed else None


_NO_TENSOR = re.compile(r"'(\w+)' object has no attribute '_a'")
_INSIDE = re.compile(r"ufunc|Cannot cast|not supported between|unsupported operand type|_a'")


def _told_by(error, name, given):
    """PyTorch's error for one of Python or NumPy that comes from the kind of an argument."""
    text = str(error)
    lacking = _NO_TENSOR.search(text)
    for parameter, value, position in given if lacking else ():
        if type(value).__name__ == lacking[1]:
            return not_a_tensor(name, parameter, position, value)
        if isinstance(value, (tuple, list)):
            for k, part in enumerate(value):
                if type(part).__name__ == lacking[1]:
                    return TypeError(
                        f"expected Tensor as element {k} in argument {position - 1}, but got "
                        f"{type_name(part)}"
                    )
    found = _no_dimension(error)
    if found is not None:
        return found
    odd = [v for _, v, _ in given if not isinstance(v, (Tensor, int, float, complex, xp.generic))]
    if isinstance(error, (TypeError, AttributeError)) and odd and _INSIDE.search(text):
        kinds = ", ".join(type_name(value) for _, value, _ in given)
        return TypeError(f"{name}() received an invalid combination of arguments - got ({kinds})")
    return None


def _no_dimension(error):
    """PyTorch's error for NumPy's about an axis."""
    if not isinstance(error, xp.exceptions.AxisError):
        return None
    n = error.ndim or 1
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {error.axis})"
    )


# Where a name means something else than in most functions; "" says nothing about it.
_OWN_KIND = {
    ("select", "index"): "int",
    ("select_scatter", "index"): "int",
    ("lerp", "weight"): "",
    ("lerp_", "weight"): "",
    ("norm", "p"): "",
    ("batch_norm", "running_mean"): "",
    ("batch_norm", "running_var"): "",
    ("renorm", "p"): "Number",
    ("mvlgamma", "p"): "int",
    ("multigammaln", "p"): "int",
    ("polygamma", "n"): "int",
    ("scatter", "src"): "",
    ("where", "input"): "",
    ("where", "other"): "",
    ("tensordot", "dims"): "",
    ("movedim", "source"): "tuple of ints",
    ("moveaxis", "source"): "tuple of ints",
}


def _kind(name, parameter):
    if (name, parameter) in _OWN_KIND:
        return _OWN_KIND[name, parameter]
    if parameter in ("dim", "axis") and name in _MANY:
        return "tuple of ints"
    return _KIND.get(parameter)


def _miscounted(name, parameters, plain, args, kwargs):
    """The TypeError for a wrong number of arguments or an unknown keyword."""
    if len(args) > len(plain):
        least = sum(p.default is p.empty for p in plain)
        most = str(len(plain)) if least == len(plain) else f"from {least} to {len(plain)}"
        return TypeError(
            f"{name}() takes {most} positional argument{'s' * (len(plain) != 1)} but {len(args)} "
            f"{'were' if len(args) != 1 else 'was'} given"
        )
    required = plain[len(args) :]
    missing = [p.name for p in required if p.default is p.empty and p.name not in kwargs]
    if missing:
        listed = ", ".join(f'"{n}"' for n in missing)
        return TypeError(f"{name}() missing {len(missing)} required positional arguments: {listed}")
    known = {p.name for p in parameters}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    for key in kwargs:
        if key not in known:
            return TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        if key in [p.name for p in plain[: len(args)]]:
            return TypeError(f"{name}() got multiple values for argument '{key}'")
    return None
