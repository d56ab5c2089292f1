"""Derivative formulas of operations whose declaration states none: those that share one, and those
that appear only in the graph of a derivative.
"""

from __future__ import annotations

_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor")
FORMULAS = {
    **{f"{name}_{kind}": "0" for name in _COMPARED for kind in ("tensor", "number")},
    "conj_physical": "conj g",
    "sgn": "(g − result² · conj g) / (2 |self|), 0 for real numbers",
    "remainder_number": "g",
    "fmod_number": "g",
    "threshold_backward": "g where self > threshold",
    "tied": "∂self: g    ∂source: 0",
    "alias": "g",
    "movedim": "g, dimensions put back",
    "clamp_min_tensor": "∂self: g where self ≥ min    ∂min: g where self < min",
    "clamp_max_tensor": "∂self: g where self ≤ max    ∂max: g where self > max",
    "vdot": "∂self: conj g · other    ∂other: g · self",
    "ger": "∂self: g · vec2    ∂vec2: gᵀ · self",
    "baddbmm": "∂self: β · g    ∂batch1: α · g · batch2ᵀ    ∂batch2: α · batch1ᵀ · g",
    "addmv_op": "∂self: β · g    ∂mat: α · g ⊗ vec    ∂vec: α · matᵀ · g",
    "addr_op": "∂self: β · g    ∂vec1: α · g · vec2    ∂vec2: α · gᵀ · vec1",
    "addbmm_op": "∂self: β · g    ∂batch1: α · g · batch2ᵀ    ∂batch2: α · batch1ᵀ · g",
    "chol_inverse_op": "−A⁻¹ (g + gᵀ) A⁻¹ L",
    "pixel_shuffle_op": "g, put back",
    "pixel_unshuffle_op": "g, put back",
    "channel_shuffle_op": "g, put back",
    "xlog1py": "∂self: g · ln(1 + other)    ∂other: g · self / (1 + other)",
    "logaddexp2": "g · σ((self − other) ln 2)",
    "igamma": "∂other: g · exp((self − 1) ln other − other − lnΓ(self))",
    "igammac": "∂other: −g · exp((self − 1) ln other − other − lnΓ(self))",
    "zeta": "∂other: −g · self · ζ(self + 1, other)",
    "erfcx": "g · (2 self · result − 2/√π)",
    "i1": "g · (I₀(self) − result / self)",
    "i0e": "g · (I₁e(self) − sgn self · result)",
    "i1e": "g · (I₀e(self) − result · (sgn self + 1 / self))",
    "ndtri": "g · √(2π) · exp(result²/2)",
    "log_ndtr": "g · exp(−self²/2 − result) / √(2π)",
    "sum_to": "g spread again",
    "expand_to": "Σ g over the spread dimensions",
    "reverse_cumsum": "sums of g so far",
    "nll_back": "−weight · g at the target class",
}
LINEAR = "the transposed linear map of g"
# What carries elements from one place to another, in the graph of a derivative.
_MOVES = ("_back", "_read", "_blank", "_take", "_give", "_put")
_MOVERS = frozenset(
    (
        "strided_scatter",
        "strided_gather",
        "put_region",
        "take_region",
        "put_diagonal",
        "from_windows",
        "to_windows",
        "pack_complex",
        "unpack_complex",
        "put_along",
        "take_along",
        "put_index",
        "zero_at",
        "scatter_back_op",
        "pick_op",
        "zero_along",
    )
)


def formula_of(name):
    """The formula of an operation that states none itself; an empty text where there is none."""
    if name in _MOVERS or name.endswith(_MOVES):
        return FORMULAS.get(name, LINEAR)
    return FORMULAS.get(name, "")
