"""Which kinds of dtypes an operation takes, and what PyTorch says to the others.

Kinds: b bool, i integer, f floating, c complex. ``KERNELS`` is by the operation's declared name.
"""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes

_LETTER = "bifc"
_SINGLE = xp.dtype(xp.float32)


def _named(label):
    return f"\"{label}\" not implemented for '{{}}'"


_NO_COMPLEX = "{} is not supported for complex inputs"
_SPECIAL = "erfcx i0e i1 i1e ndtri log_ndtr entr zeta xlog1py bessel_j0 bessel_j1".split()
_ORDERED = ("lt", "le", "gt", "ge")
NO_COMPLEX_CLAMP = "clamp is not supported for complex types"
KERNELS = {
    **{
        name: ((f"{label}", "f"),)
        for name, label in {
            "hypot": "hypot_cpu",
            "nextafter": "nextafter_cpu",
            "igamma": "igamma_cpu",
            "igammac": "igammac_cpu",
            "elu_op": "elu_cpu",
            "celu_op": "elu_cpu",
            "hardshrink_op": "hardshrink_cpu",
            "softshrink": "softshrink_check",
            "prelu_op": "prelu_cpu",
            "frac": "frac_cpu",
            "leaky_relu": "leaky_relu_cpu",
            "mish": "mish_cpu",
            "gelu": "GeluKernelImpl",
            "hardsigmoid": "hardsigmoid_cpu",
            "hardswish": "hardswish_cpu",
            "softplus": "softplus_cpu",
            "logaddexp2": "logaddexp2_cpu",
            "log_sigmoid": "log_sigmoid_cpu",
            "glu": "glu_cpu",
            "mse_loss": "mse_cpu",
            "smooth_l1_loss": "smooth_l1_cpu",
            "huber_loss": "huber_cpu",
            "binary_cross_entropy": "binary_cross_entropy",
            "nll_loss": "nll_loss_out_frame",
            "native_batch_norm": "batch_norm",
            "native_layer_norm": "LayerNormKernelImpl",
            "native_group_norm": "GroupNormKernelImpl",
            "adaptive_max2": "adaptive_max_pool2d",
            "adaptive_max3": "adaptive_max_pool3d_cpu",
            "adaptive_avg_pool2d_op": "adaptive_avg_pool2d",
            "adaptive_avg_pool3d_op": "adaptive_avg_pool3d_cpu",
            "grid_sampler_2d_op": "grid_sampler_2d_cpu_kernel_impl",
            "grid_sampler_3d_op": "grid_sampler3d_cpu",
            "softmax": "softmax_lastdim_kernel_impl",
            "log_softmax": "log_softmax_lastdim_kernel_impl",
        }.items()
    },
    **{
        name: ((label, "fc"),)
        for name, label in {
            "lerp_number": "lerp_kernel_scalar",
            "lerp": "lerp_kernel_tensor",
            "logaddexp": "logaddexp_cpu",
            "logcumsumexp": "logcumsumexp_out_cpu",
            "silu": "silu_cpu",
            "im2col": "im2col_out_cpu",
            "col2im": "col2im_out_cpu",
        }.items()
    },
    **{
        name: ((label, "fi"),)
        for name, label in {
            "floor_divide_tensor": "div_floor_cpu",
            "floor_divide_": "div_floor_cpu",
            "div_floor": "div_floor_cpu",
            "div_trunc": "div_trunc_cpu",
            "remainder_tensor": "remainder_cpu",
            "fmod_tensor": "fmod_cpu",
            "threshold_op": "threshold_cpu",
            "median": "median_cpu",
            "kthvalue_dim": "kthvalue_cpu",
            "nanmedian": "median_cpu",
            "median_dim": "median_out",
            "nanmedian_dim": "median_out",
        }.items()
    },
    **{
        name: ((label, "fic"),)
        for name, label in {
            "abs": "abs_cpu",
            "addcmul": "addcmul_cpu_out",
            "baddbmm": "baddbmm",
            "convolution": "slow_conv2d_cpu",
            "trace_op": "trace",
        }.items()
    },
    **{
        name: ((label, "bif"),)
        for name, label in {
            **{f"{n}{kind}": f"{n}_cpu" for n in _ORDERED for kind in ("", "_tensor", "_number")},
            "atan2": "atan2_cpu",
            "xlogy": "xlogy_cpu",
            "copysign": "copysign_cpu",
            "erf": "erf_vml_cpu",
            "erfc": "erfc_vml_cpu",
            "max_all": "max_all",
            "min_all": "min_all",
            "logit": "logit_cpu",
            "floor_divide_number": "div_floor_cpu",
            "remainder_number": "remainder_cpu",
            "fmod_number": "fmod_cpu",
            "floor_divide_left": "div_floor_cpu",
            "remainder_left": "remainder_cpu",
            "fmod_left": "fmod_cpu",
            "amax": "max_values_cpu",
            "amin": "min_values_cpu",
            "digamma": "digamma",
            "lgamma": "lgamma_vml_cpu",
            "erfinv": "erfinv_vml_cpu",
            "i0": "i0_vml_cpu",
            "cummax_op": "cummax_cpu",
            "cummin_op": "cummin_cpu",
            "mode_dim": "mode_cpu",
            **{n: f"{n}_cpu" for n in _SPECIAL},
            "avg_pool2d_op": "avg_pool2d",
            "avg_pool3d_op": "avg_pool3d_out_frame",
        }.items()
    },
    **{
        name: ((_NO_COMPLEX.format(name), "bif"), (f"{name}_vml_cpu", "if"))
        for name in ("ceil", "floor", "trunc")
    },
    **dict.fromkeys(("round", "round_decimals"), (("round_vml_cpu", "if"),)),
    **{f"bitwise_{n}": ((f"bitwise_{n}_cpu", "bi"),) for n in ("and", "or", "xor", "not")},
    "gcd": (("gcd_cpu", "i"),),
    "lcm": (("lcm_cpu", "i"),),
    "bitwise_left_shift": (("lshift_cpu", "i"),),
    "bitwise_right_shift": (("rshift_cpu", "i"),),
    "sign": (
        (
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
            "torch.sgn instead.",
            "bif",
        ),
    ),
    "signbit": (("signbit is not implemented for complex tensors.", "bif"),),
    **dict.fromkeys(
        ("clamp", "clamp_min", "clamp_max"),
        ((NO_COMPLEX_CLAMP, "bif"),),
    ),
    "clamp_min_tensor": (("maximum_cpu", "bif"),),
    "clamp_max_tensor": (("minimum_cpu", "bif"),),
    "clamp_tensors": ((NO_COMPLEX_CLAMP, "bif"), ("clamp_cpu", "if")),
}
_RUNTIME = {
    "maximum": (("maximum not implemented for complex tensors.", "bif"),),
    "minimum": (("minimum not implemented for complex tensors.", "bif"),),
    "fmax": (("fmax not implemented for complex tensors.", "bif"),),
    "fmin": (("fmin not implemented for complex tensors.", "bif"),),
    "heaviside": (("heaviside is not yet implemented for complex tensors.", "bif"),),
    "isposinf": (("isposinf does not support complex inputs.", "bif"),),
    "isneginf": (("isneginf does not support complex inputs.", "bif"),),
    "deg2rad": (("deg2rad is not supported for complex tensors.", "bif"),),
    "rad2deg": (("rad2deg is not supported for complex tensors.", "bif"),),
    "frexp_op": (("torch.frexp() only supports floating-point dtypes", "f"),),
    "var": (("std and var only support floating point and complex dtypes", "fc"),),
    "std": (("std and var only support floating point and complex dtypes", "fc"),),
    **dict.fromkeys(
        ("vector_norm", "renorm"),
        (
            (
                "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
                "fc",
            ),
        ),
    ),
    "dist": (
        ("norm(): input dtype should be either floating point or complex. Got {} instead.", "fc"),
    ),
    "var_mean": (("var_mean only support floating point and complex dtypes", "fc"),),
    "std_mean": (("std_mean only support floating point and complex dtypes", "fc"),),
    "topk": (
        ("topk does not support complex dtypes on CPU", "bif"),
        ("topk does not support bool dtypes on CPU", "if"),
    ),
    "sort": (("Sort does not support complex dtypes on CPU", "bif"),),
    "max_dim": (("max(): does not support complex input", "bif"),),
    "min_dim": (("min(): does not support complex input", "bif"),),
    "nansum_op": (("nansum on CPU does not support complex inputs", "bif"),),
    "cdist_op": (("cdist only supports floating-point dtypes, X1 got: {}", "f"),),
    "polar_op": (
        ("Expected both inputs to be Half, Float or Double tensors but got {0} and {0}", "f"),
    ),
}

# What computes in float32 on half precision and rounds once, as PyTorch's kernels do: all that is
# put together from several steps, and what NumPy or SciPy cannot do on two bytes.
_IN_SINGLE = frozenset(
    """
    addcmul addcdiv lerp lerp_number leaky_relu rsqrt mse_loss smooth_l1_loss huber_loss
    hardtanh hardsigmoid hardswish gelu silu mish softplus elu_op celu_op log_sigmoid sigmoid
    igamma igammac mvlgamma logit erf erfc erfinv digamma lgamma polygamma
    i0 i0e i1 i1e ndtri log_ndtr erfcx entr sinc zeta xlog1py angle atan2 hypot
    affine_grid_generator grid_sampler_2d_op grid_sampler_3d_op vector_norm dist renorm
    bmm baddbmm addbmm_op trilinear addmv_op addr_op linear_addmm addmm cdist_op trace_op
    softmax safe_softmax logaddexp logaddexp2 logcumsumexp cumsum cumprod
    var std var_mean std_mean native_layer_norm native_group_norm native_batch_norm
    adaptive_avg_pool2d_op adaptive_avg_pool2d_back adaptive_avg_pool3d_op adaptive_avg_pool3d_back
    """.split()
)


def _widened(x):
    short = x.dtype.itemsize == 2 and x.dtype.kind in "fV"
    return x.astype(_SINGLE) if short else x


def _in_single(forward):
    """``forward`` on half precision by way of float32."""

    def run(x, *rest):
        kind = x.dtype
        if kind.itemsize != 2 or kind.kind not in "fV":
            return forward(x, *rest)
        out = forward(_widened(x), *[_widened(y) if hasattr(y, "astype") else y for y in rest])
        if isinstance(out, tuple):
            return tuple(y.astype(kind) if y.dtype == _SINGLE else y for y in out)
        return out.astype(kind) if out.dtype == _SINGLE else out

    return run


def checked(name, forward):
    """``forward`` that refuses what PyTorch's kernel of that name refuses; unchanged for a name
    that is not listed.
    """
    if name in _IN_SINGLE:
        forward = _in_single(forward)
    rows, error = (
        (KERNELS[name], NotImplementedError)
        if name in KERNELS
        else (_RUNTIME.get(name), RuntimeError)
    )
    if rows is None:
        return forward
    allowed = [(frozenset(kinds), text if " " in text else _named(text)) for text, kinds in rows]
    everywhere = frozenset.intersection(*[kinds for kinds, _ in allowed])

    def run(x, *rest):
        dtype = dtypes.of(x)
        letter = _LETTER[dtype.category]
        other = rest[0] if rest and hasattr(rest[0], "dtype") else None
        if other is not None and letter != "c" and other.dtype.kind == "c":
            dtype, letter = dtypes.of(other), "c"
        if letter not in everywhere:
            text = next(text for kinds, text in allowed if letter not in kinds)
            raise error(text.format(dtypes.scalar_name(dtype)))
        return forward(x, *rest)

    return run
