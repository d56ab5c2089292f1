"""The losses under ``gradviz`` itself, where the reduction is a number: 0 none, 1 mean, 2 sum; and
what else has another signature there.
"""

from __future__ import annotations

from ...ops.declare import public
from . import loss, pooling
from . import margin as _margin

_REDUCTIONS = ("none", "mean", "sum")


def _word(name, position, reduction):
    if isinstance(reduction, bool) or not isinstance(reduction, int):
        raise TypeError(
            f"{name}(): argument 'reduction' (position {position}) must be int, not "
            f"{type(reduction).__name__}"
        )
    return _REDUCTIONS[reduction]


def kl_div(input, target, reduction=0, *, log_target=False):
    """``nn.functional.kl_div`` with its reduction as a number."""
    word = _word("kl_div", 3, reduction)
    return loss.kl_div(input, target, reduction=word, log_target=log_target)


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """``nn.functional.poisson_nll_loss`` with its reduction as a number."""
    word = _word("poisson_nll_loss", 6, reduction)
    return loss.poisson_nll_loss(
        input, target, log_input=log_input, full=full, eps=eps, reduction=word
    )


def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    """``nn.functional.binary_cross_entropy_with_logits`` with its reduction as a number."""
    word = _word("binary_cross_entropy_with_logits", 5, reduction)
    return loss.binary_cross_entropy_with_logits(
        input, target, weight=weight, pos_weight=pos_weight, reduction=word
    )


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """``nn.functional.hinge_embedding_loss`` with its reduction as a number."""
    word = _word("hinge_embedding_loss", 4, reduction)
    return _margin.hinge_embedding_loss(input, target, margin=margin, reduction=word)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """``nn.functional.margin_ranking_loss`` with its reduction as a number."""
    word = _word("margin_ranking_loss", 5, reduction)
    return _margin.margin_ranking_loss(input1, input2, target, margin=margin, reduction=word)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """``nn.functional.cosine_embedding_loss`` with its reduction as a number."""
    word = _word("cosine_embedding_loss", 5, reduction)
    return _margin.cosine_embedding_loss(input1, input2, target, margin=margin, reduction=word)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0
):
    """``nn.functional.triplet_margin_loss`` with its reduction as a number."""
    word = _word("triplet_margin_loss", 8, reduction)
    return _margin.triplet_margin_loss(
        anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap, reduction=word
    )


def adaptive_max_pool1d(input, output_size):
    """(values, indices) of ``nn.functional.adaptive_max_pool1d``."""
    return pooling.adaptive_max_pool1d(input, output_size, return_indices=True)


for _f in (
    kl_div,
    poisson_nll_loss,
    binary_cross_entropy_with_logits,
    hinge_embedding_loss,
    margin_ranking_loss,
    cosine_embedding_loss,
    triplet_margin_loss,
    adaptive_max_pool1d,
):
    public(_f.__name__, _f)
