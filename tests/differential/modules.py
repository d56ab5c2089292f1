"""Modules with all their options, as tables: class -> options (lists of values), inputs (text)."""

# ruff: noqa: E501 (the tables are lists of text)

REDUCED = ["mean", "sum", "none"]
TABLES = []


def add(names, options, inputs, **more):
    """The same options and inputs for each of the classes ``names``."""
    for name in names.split():
        TABLES.append((name, options, inputs, more))


def _spatial(n):
    image = f"R(2, 4, *{(9,) * n})"
    return (
        (
            f"Conv{n}d",
            {
                "in_channels": [4],
                "out_channels": [6],
                "kernel_size": [3, 1],
                "stride": [1, 2],
                "padding": [0, 1, "same", "valid"],
                "dilation": [1, 2],
                "groups": [1, 2],
                "bias": [True, False],
                "padding_mode": ["zeros", "reflect", "circular", "replicate"],
            },
            image,
        ),
        (
            f"ConvTranspose{n}d",
            {
                "in_channels": [4],
                "out_channels": [6],
                "kernel_size": [3],
                "stride": [1, 2],
                "padding": [0, 1],
                "output_padding": [0, 1],
                "dilation": [1, 2],
                "groups": [1, 2],
            },
            f"R(2, 4, *{(5,) * n})",
            {"nodes": False},
        ),
        (
            f"MaxPool{n}d",
            {
                "kernel_size": [2, 3],
                "stride": [None, 1],
                "padding": [0, 1],
                "dilation": [1, 2],
                "ceil_mode": [False, True],
                "return_indices": [False, True],
            },
            image,
        ),
        (
            f"AvgPool{n}d",
            {
                "kernel_size": [2, 3],
                "stride": [None, 1],
                "padding": [0, 1],
                "ceil_mode": [False, True],
                "count_include_pad": [True, False],
            },
            image,
        ),
        (
            f"LPPool{n}d",
            {"norm_type": [1, 2, 3.5], "kernel_size": [2], "ceil_mode": [False, True]},
            f"{image}.abs()",
        ),
        (f"AdaptiveAvgPool{n}d", {"output_size": [1, 4, (None,) * n]}, image),
        (f"AdaptiveMaxPool{n}d", {"output_size": [1, 4], "return_indices": [False, True]}, image),
        (
            f"BatchNorm{n}d",
            {
                "num_features": [4, 3],
                "momentum": [0.1, None],
                "affine": [True, False],
                "track_running_stats": [True, False],
            },
            image,
        ),
        (
            f"InstanceNorm{n}d",
            {"num_features": [4], "affine": [True, False], "track_running_stats": [True, False]},
            image,
        ),
        *(
            (f"{kind}Pad{n}d", {"padding": [1, tuple(range(2 * n)), 20]}, image)
            for kind in ("Reflection", "Replication", "Zero")
        ),
        (f"ConstantPad{n}d", {"padding": [1, -1], "value": [2.5]}, image),
    )


for _n in (1, 2, 3):
    for _name, _options, _inputs, *_more in _spatial(_n):
        add(_name, _options, _inputs, **dict(*_more))
add(
    "ReLU ReLU6 SELU SiLU Mish Hardswish Hardsigmoid Tanhshrink Softsign Sigmoid LogSigmoid Tanh Identity",
    {},
    "R(2, 3, 4)",
)
for _name, _options in {
    "ELU": {"alpha": [1, 0.5], "inplace": [False, True]},
    "CELU": {"alpha": [1.0, 0.5]},
    "GELU": {"approximate": ["none", "tanh", "x"]},
    "Hardtanh": {"min_val": [-1, -0.2], "max_val": [0.3]},
    "Hardshrink": {"lambd": [0.5, 0.1]},
    "Softshrink": {"lambd": [0.5, 0.1, -1]},
    "Softplus": {"beta": [1, 2.0], "threshold": [20, 0.5]},
    "Threshold": {"threshold": [0.1], "value": [7.0]},
    "LeakyReLU": {"negative_slope": [0.01, 0.3]},
    "PReLU": {"num_parameters": [1, 3, 2]},
    "GLU": {"dim": [-1, 1, 0]},
    "Softmax": {"dim": [0, 1, -1, None]},
    "LogSoftmax": {"dim": [0, 1, -1, None]},
    "Softmin": {"dim": [1, None]},
}.items():
    add(_name, _options, "R(2, 3, 4)")
add(
    "L1Loss MSELoss SmoothL1Loss HuberLoss PoissonNLLLoss HingeEmbeddingLoss",
    {"reduction": [*REDUCED, "oops"]},
    "R(4, 3), R(4, 3)",
)
add("SmoothL1Loss", {"beta": [0.3, 0.0], "reduction": REDUCED}, "R(4, 3), R(4, 3)")
add("HuberLoss", {"delta": [0.3], "reduction": REDUCED}, "R(4, 3), R(4, 3)")
add(
    "PoissonNLLLoss",
    {"log_input": [True, False], "full": [True], "reduction": REDUCED},
    "R(4, 3), R(4, 3)",
)
add(
    "BCELoss BCEWithLogitsLoss",
    {"reduction": [*REDUCED, "oops"]},
    "torch.rand(4, 3), torch.rand(4, 3)",
)
add(
    "KLDivLoss",
    {"log_target": [False, True], "reduction": [*REDUCED, "batchmean"]},
    "torch.rand(4, 3), torch.rand(4, 3)",
)
add(
    "CrossEntropyLoss",
    {"label_smoothing": [0.0, 0.1], "ignore_index": [-100, 2], "reduction": [*REDUCED, "oops"]},
    "R(4, 3), torch.tensor([0, 2, 1, 2])",
)
add(
    "CrossEntropyLoss",
    {"label_smoothing": [0.0, 0.2], "reduction": REDUCED},
    "R(2, 3, 5, 5), torch.randint(0, 3, (2, 5, 5))",
)
add(
    "NLLLoss",
    {"ignore_index": [-100, 2], "reduction": REDUCED},
    "R(4, 3), torch.tensor([0, 2, 1, 2])",
)
add(
    "TripletMarginLoss",
    {"margin": [1.0, 0.2], "p": [2.0, 1.0], "swap": [False, True], "reduction": REDUCED},
    "R(4, 3), R(4, 3), R(4, 3)",
    nodes=False,
)
add(
    "CosineEmbeddingLoss",
    {"margin": [0.0, 0.3], "reduction": REDUCED},
    "R(4, 3), R(4, 3), torch.tensor([1, -1, 1, -1])",
)
add(
    "GaussianNLLLoss",
    {"full": [False, True], "reduction": REDUCED},
    "R(4, 3), R(4, 3), torch.rand(4, 3) + 0.1",
)
add(
    "LayerNorm RMSNorm",
    {"normalized_shape": [4, (3, 4), 5], "elementwise_affine": [True, False]},
    "R(2, 3, 4)",
)
add(
    "GroupNorm",
    {"num_groups": [1, 2, 3], "num_channels": [4], "affine": [True, False]},
    "R(2, 4, 5)",
)
add("LocalResponseNorm", {"size": [2, 3]}, "R(2, 4, 5)")
for _name, _more in (
    ("RNN", {"nonlinearity": ["tanh", "relu"]}),
    ("LSTM", {"proj_size": [0, 2]}),
    ("GRU", {}),
):
    add(
        _name,
        {
            "input_size": [3],
            "hidden_size": [4],
            "num_layers": [1, 2],
            "bias": [True, False],
            "batch_first": [False, True],
            "bidirectional": [False, True],
            "dropout": [0.0, 0.3],
            **_more,
        },
        "R(2, 5, 3)",
        nodes=_name != "LSTM",
    )
    add(f"{_name}Cell", {"input_size": [3], "hidden_size": [4], "bias": [True, False]}, "R(2, 3)")
add(
    "MultiheadAttention",
    {
        "embed_dim": [4],
        "num_heads": [2, 1, 3],
        "bias": [True, False],
        "add_bias_kv": [False, True],
        "add_zero_attn": [False, True],
        "batch_first": [False, True],
        "kdim": [None, 5],
    },
    "R(3, 2, 4), R(3, 2, 4), R(3, 2, 4)",
)
add(
    "TransformerEncoderLayer",
    {
        "d_model": [4],
        "nhead": [2],
        "dim_feedforward": [8],
        "dropout": [0.0, 0.1],
        "activation": ["relu", "gelu"],
        "norm_first": [False, True],
        "batch_first": [False, True],
        "bias": [True, False],
    },
    "R(3, 2, 4)",
)
add(
    "TransformerDecoderLayer",
    {
        "d_model": [4],
        "nhead": [2],
        "dim_feedforward": [8],
        "dropout": [0.0],
        "norm_first": [False, True],
        "batch_first": [False, True],
    },
    "R(3, 2, 4), R(3, 2, 4)",
)
add(
    "Embedding",
    {
        "num_embeddings": [6],
        "embedding_dim": [3],
        "padding_idx": [None, 1, -1],
        "max_norm": [None, 0.5],
        "norm_type": [2.0, 1.0],
        "scale_grad_by_freq": [False, True],
    },
    "torch.tensor([[1, 2, 2], [0, 5, 1]])",
)
add(
    "EmbeddingBag",
    {
        "num_embeddings": [6],
        "embedding_dim": [3],
        "mode": ["sum", "mean", "max"],
        "padding_idx": [None, 1],
        "include_last_offset": [False, True],
    },
    "torch.tensor([1, 2, 2, 0, 5, 1]), torch.tensor([0, 2, 6])",
)
add(
    "Bilinear",
    {"in1_features": [3], "in2_features": [4], "out_features": [2], "bias": [True, False]},
    "R(5, 3), R(5, 4)",
)
add("Linear", {"in_features": [3, 4], "out_features": [2, 0], "bias": [True, False]}, "R(5, 3)")
add(
    "Dropout Dropout2d AlphaDropout FeatureAlphaDropout",
    {"p": [0.5, 0.0, 1.0, 0.3, 2.0]},
    "R(2, 3, 4, 4)",
)
add(
    "Upsample",
    {
        "size": [7, (3, 9)],
        "mode": ["nearest", "nearest-exact", "bilinear", "bicubic"],
        "align_corners": [None, True, False],
    },
    "R(2, 3, 4, 4)",
)
add(
    "Upsample",
    {"scale_factor": [2, 1.5], "mode": ["nearest", "bilinear", "bicubic", "trilinear"]},
    "R(2, 3, 4, 4)",
)
add("PixelShuffle", {"upscale_factor": [2, 3]}, "R(2, 8, 3, 3)")
add("PixelUnshuffle", {"downscale_factor": [2, 3]}, "R(2, 3, 6, 6)")
add("ChannelShuffle", {"groups": [2, 3]}, "R(2, 4, 3, 3)")
add(
    "Unfold",
    {"kernel_size": [2, (2, 3)], "dilation": [1, 2], "padding": [0, 1], "stride": [1, 2]},
    "R(2, 3, 6, 6)",
)
add(
    "Fold",
    {"output_size": [(4, 4)], "kernel_size": [2], "padding": [0, 1], "stride": [2, 1]},
    "R(2, 12, 4)",
)
add("Flatten", {"start_dim": [1, 0], "end_dim": [-1, 1]}, "R(2, 3, 4)")
add("Unflatten", {"dim": [1], "unflattened_size": [(2, 3), (2, -1), (4, 2)]}, "R(2, 6)")
add("CosineSimilarity", {"dim": [0, 1]}, "R(2, 3), R(2, 3)", nodes=False)
add(
    "PairwiseDistance",
    {"p": [1.0, 2.0, 3.0, float("inf")], "keepdim": [False, True]},
    "R(2, 3), R(2, 3)",
    nodes=False,
)
add("LazyLinear", {"out_features": [2]}, "R(2, 3, 4)")
add("LazyConv2d", {"out_channels": [3], "kernel_size": [2]}, "R(2, 3, 4, 4)")
