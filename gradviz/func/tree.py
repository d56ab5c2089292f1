"""Nested tuples, lists and dicts of tensors as flat lists, and back."""

from __future__ import annotations


def flatten(tree):
    """(leaves in order, a function that puts new leaves in their places)."""
    if isinstance(tree, dict):
        parts = [flatten(value) for value in tree.values()]
        keys = list(tree)
        return _joined(parts, lambda values: type(tree)(zip(keys, values, strict=True)))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return _joined([flatten(x) for x in tree], lambda values: type(tree)(*values))
    if isinstance(tree, tuple | list):
        return _joined([flatten(x) for x in tree], type(tree))
    return [tree], lambda leaves: leaves[0]


def _joined(parts, build):
    leaves = [leaf for found, _ in parts for leaf in found]

    def restore(new):
        values, start = [], 0
        for found, inner in parts:
            values.append(inner(new[start : start + len(found)]))
            start += len(found)
        return build(values)

    return leaves, restore


def map_tree(function, tree):
    """``tree`` with ``function`` applied to every leaf."""
    leaves, restore = flatten(tree)
    return restore([function(leaf) for leaf in leaves])
