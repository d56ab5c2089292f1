"""Anomaly mode: where a node was recorded, and by which backward; told when its backward fails."""

from __future__ import annotations

import os
import traceback
import warnings

from .modes import local

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def note_forward(edge):
    """Keep the user's lines that led to the node of ``edge``, and the node whose backward did."""
    node = edge.node if edge._kind == 1 else edge
    frames = traceback.extract_stack()
    while frames and frames[-1].filename.startswith(_PACKAGE):
        frames.pop()
    node.metadata["traceback_"] = traceback.format_list(frames)
    if local.evaluating is not None:
        node.metadata["parent_"] = local.evaluating


def tell_forward(node):
    """Warn with the traceback of the forward call that recorded ``node``, and of those that caused
    it by their backward.
    """
    trace = node.metadata.get("traceback_")
    if trace is None:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information.",
            UserWarning,
            stacklevel=4,
        )
        return
    warnings.warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
        f"{''.join(trace)}",
        UserWarning,
        stacklevel=4,
    )
    while (node := node.metadata.get("parent_")) is not None:
        trace = node.metadata.get("traceback_")
        if trace is None:
            return
        warnings.warn(
            f"\n\nPrevious calculation was induced by {node.name()}. Traceback of forward call "
            f"that "
            f"induced the previous calculation:\n{''.join(trace)}",
            UserWarning,
            stacklevel=4,
        )
