"""What PyTorch has no forward derivative of: the class of its node, and PyTorch's name of it in the
refusal. With ``_`` at the end: in place only.
"""

NO_TANGENTS = {
    "AcoshBackward0": "acosh_",
    "AsinhBackward0": "asinh_",
    "AtanhBackward0": "atanh_",
    "CdistBackward0": "_cdist_forward",
    "CholeskyBackward0": "cholesky",
    "CtcLossBackward0": "_ctc_loss",
    "EmbeddingBagBackward0": "_embedding_bag",
    "GridSampler2DBackward0": "grid_sampler_2d",
    "GridSampler3DBackward0": "grid_sampler_3d",
    "IgammaBackward0": "igamma",
    "IgammacBackward0": "igammac",
    "IndexReduceBackward0": "index_reduce",
    "MultiMarginLossBackward0": "multi_margin_loss",
    "MultilabelMarginLossBackward0": "multilabel_margin_loss_forward",
    "PdistBackward0": "_pdist_forward",
    "SpecialZetaBackward0": "special_zeta",
    "SpecialZetaBackward1": "special_zeta",
    "SpecialZetaBackward2": "special_zeta",
    "Unique2Backward0": "_unique2",
    "UniqueConsecutiveBackward0": "unique_consecutive",
    "UniqueDimBackward0": "unique_dim",
}
