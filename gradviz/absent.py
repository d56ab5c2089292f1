"""What PyTorch has and gradviz has not: each name stands where it would be, and says so when it is
used.

The kinds, and why: tensors that are not a dense array (sparse, nested, quantised), dtypes that
NumPy has not, programs turned into other programs (TorchScript, graph capture, export), the entry
points of one vendor's kernels, distributions and special functions that are seldom met, and tools
around programs.
``docs/absent.md`` is made from this file.
"""

from __future__ import annotations

from .engine.errors import advised

NAMES = {
    "sparse": {
        "torch": "sparse sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor "
        "sparse_bsc_tensor sparse_compressed_tensor sparse_coo sparse_csr sparse_csc sparse_bsr "
        "sparse_bsc sspaddmm smm hspmm saddmm hsmm nested masked resize_as_sparse_",
        "torch.Tensor": "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr "
        "to_sparse_bsc coalesce is_coalesced indices values crow_indices col_indices ccol_indices "
        "row_indices sparse_dim dense_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ "
        "resize_as_sparse_ smm sspaddmm to_padded_tensor",
        "torch.optim": "SparseAdam",
    },
    "quantized": {
        "torch": "ao quantization quantize_per_tensor quantize_per_channel "
        "quantize_per_tensor_dynamic fake_quantize_per_tensor_affine "
        "fake_quantize_per_channel_affine empty_quantized dequantize qint8 quint8 qint32 quint4x2 "
        "quint2x4 int_repr q_scale q_zero_point q_per_channel_scales q_per_channel_zero_points "
        "q_per_channel_axis quantized_lstm_cell quantized_gru_cell quantized_rnn_relu_cell "
        "quantized_rnn_tanh_cell quantized_batch_norm quantized_max_pool1d quantized_max_pool2d "
        "quantized_max_pool3d",
        "torch.Tensor": "dequantize int_repr q_scale q_zero_point q_per_channel_scales "
        "q_per_channel_zero_points q_per_channel_axis qscheme",
        "torch.nn.functional": "scaled_mm scaled_grouped_mm grouped_mm",
    },
    "dtype": {
        "torch": "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu "
        "float4_e2m1fn_x2 complex32 chalf bits8 bits16 bits1x8 bits2x4 bits4x2 int1 int2 int3 int4 "
        "int5 int6 int7 uint1 uint2 uint3 uint4 uint5 uint6 uint7",
        "torch.Tensor": "chalf",
    },
    "program": {
        "torch": "jit fx onnx package compiler cond while_loop SymInt SymFloat SymBool "
        "sym_int sym_float sym_max sym_min sym_not sym_ite sym_sqrt sym_sum",
    },
    "vendor": {
        "torch": "mps xpu mtia xla hub cudnn_convolution cudnn_convolution_transpose "
        "cudnn_batch_norm cudnn_grid_sampler cudnn_affine_grid_generator miopen_batch_norm "
        "miopen_convolution miopen_rnn mkldnn_convolution mkldnn_max_pool2d mkldnn_max_pool3d "
        "mkldnn_rnn_layer batch_norm_stats batch_norm_elemt batch_norm_gather_stats",
        "torch.Tensor": "to_mkldnn xpu mtia ipu record_stream",
    },
    "rare": {
        "torch.distributions": "AbsTransform AffineTransform Binomial CatTransform Cauchy Chi2 "
        "ComposeTransform "
        "ContinuousBernoulli CorrCholeskyTransform CumulativeDistributionTransform "
        "ExpTransform ExponentialFamily FisherSnedecor GeneralizedPareto Geometric Gumbel "
        "HalfCauchy HalfNormal IndependentTransform InverseGamma Kumaraswamy LKJCholesky "
        "LogisticNormal LowRankMultivariateNormal LowerCholeskyTransform "
        "MixtureSameFamily Multinomial NegativeBinomial OneHotCategorical "
        "OneHotCategoricalStraightThrough Pareto PositiveDefiniteTransform PowerTransform "
        "RelaxedBernoulli RelaxedOneHotCategorical ReshapeTransform SigmoidTransform "
        "SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform "
        "StudentT TanhTransform Transform TransformedDistribution VonMises Weibull "
        "Wishart biject_to identity_transform transform_to",
        "torch.special": "airy_ai bessel_y0 bessel_y1 chebyshev_polynomial_t "
        "chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h "
        "hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
        "modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 "
        "scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
        "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u "
        "shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w "
        "spherical_bessel_j0",
    },
    "tool": {
        "torch": "multiprocessing monitor library",
        "torch.nn.attention": "bias flex_attention varlen",
        "torch.nn.utils": "prune stateless fuse_conv_bn_eval fuse_conv_bn_weights "
        "fuse_linear_bn_eval fuse_linear_bn_weights",
        "torch.utils": "benchmark bottleneck bundled_inputs collect_env cpp_extension "
        "mobile_optimizer model_zoo tensorboard",
    },
}


_NONE = {
    "is_available": False,
    "device_count": 0,
}  # of hardware


class Absent:
    """Stands for a name that gradviz has not: using it raises NotImplementedError."""

    def __init__(self, name, kind):
        self.__name__, self._kind = name, kind

    def __repr__(self):
        return f"<{self.__name__}: not in gradviz>"

    def __call__(self, *args, **kwargs):
        raise self._refusal()

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"'{self.__name__}' has no attribute '{name}'")
        if name in _NONE:
            return lambda: _NONE[name]
        raise self._refusal(f".{name}")

    def __get__(self, tensor, kind=None):
        """As an attribute of a tensor it is a method: it refuses when it is called."""
        return self

    def __mro_entries__(self, bases):
        """As the base of a class."""
        raise self._refusal()

    def __instancecheck__(self, value):
        return False

    def _refusal(self, more=""):
        error = NotImplementedError(f"{self.__name__}{more} is not implemented in gradviz")
        return advised(error, f"absent.{self._kind}")


def absent(place):
    """``{name: what stands for it}`` of a namespace such as ``"torch.Tensor"``."""
    return {
        name: Absent(f"{place}.{name}", kind)
        for kind, places in NAMES.items()
        for name in places.get(place, "").split()
    }
