"""Modules whose inside is PyTorch's alone: what they do belongs to the line that called them."""

from __future__ import annotations

import sys
from functools import cache

FOLDER = "torch.nn.modules."
CALLS = frozenset(["TripletMarginWithDistanceLoss"])  # of a function that it was given


def is_closed(module) -> bool:
    """Whether calling ``module`` runs no code of the person's and writes nothing in place, so that
    nothing inside is worth hearing.
    """
    everyone = sys.modules["torch.nn.modules.module"]
    if everyone._global_forward_hooks or everyone._global_forward_pre_hooks:
        return False
    pending = [module]
    while pending:
        one = pending.pop()
        own = one.__dict__
        if not _is_torchs(one.__class__) or _is_open(own):
            return False
        pending += [child for child in own["_modules"].values() if child is not None]
    return True


def _is_open(own):
    """Whether a module with these attributes has hooks, a function of the person's, or writes."""
    if own["_forward_hooks"] or own["_forward_pre_hooks"] or own["_backward_hooks"]:
        return True
    if own["_backward_pre_hooks"] or "forward" in own or own.get("inplace"):
        return True
    if own["training"] and own["_buffers"].get("running_mean") is not None:
        return True
    if own.get("max_norm") is not None:
        return True
    called = own.get("activation")
    return called is not None and not _of_torch(called)


@cache
def _is_torchs(kind):
    return (
        kind.__module__.startswith(FOLDER)
        and kind.__name__ not in CALLS
        and _of_torch(kind.forward)
    )


def _of_torch(thing):
    return (getattr(thing, "__module__", None) or "torch").startswith("torch.")
