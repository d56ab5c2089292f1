"""Nested tuples, lists and dicts of tensors, in the words of the transforms."""

from __future__ import annotations

from . import pytree


def flatten(tree):
    """(leaves, rebuild): ``rebuild(leaves)`` gives the same nesting around other leaves."""
    leaves, spec = pytree.tree_flatten(tree)
    return leaves, spec.unflatten


map_tree = pytree.tree_map


def structure(tree):
    """The nesting of ``tree``, which prints as ``TreeSpec(tuple, None, [*])``."""
    return pytree.tree_structure(tree)


def drawn(tree):
    """The nesting of ``tree`` with ``*`` for leaves: ``(*, [*])``."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{k!r}: {drawn(v)}" for k, v in tree.items()) + "}"
    if pytree.tree_is_leaf(tree):
        return "*"
    inner = ", ".join(map(drawn, pytree.SUPPORTED_NODES[pytree._get_node_type(tree)][1](tree)[0]))
    if isinstance(tree, list):
        return f"[{inner}]"
    return f"({inner},)" if len(tree) == 1 else f"({inner})"


def spread(values, tree):
    """One value a leaf of ``tree``: a value stands for a whole branch; None where the nesting of
    ``values`` does not fit.
    """
    return pytree._broadcast_to_and_flatten(values, structure(tree))
