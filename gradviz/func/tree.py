"""Nested tuples, lists and dicts of tensors."""

from __future__ import annotations


def flatten(tree):
    """(leaves, rebuild): ``rebuild(leaves)`` gives the same nesting around other leaves."""
    if isinstance(tree, dict):
        keys = list(tree)
        return _join(
            [tree[k] for k in keys], lambda parts: type(tree)(zip(keys, parts, strict=True))
        )
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return _join(list(tree), lambda parts: type(tree)(*parts))
    if isinstance(tree, (tuple, list)):
        return _join(list(tree), type(tree))
    return [tree], lambda leaves: leaves[0]


def _join(children, make):
    parts = [flatten(child) for child in children]
    counts = [len(leaves) for leaves, _ in parts]

    def rebuild(leaves):
        out, at = [], 0
        for count, (_, build) in zip(counts, parts, strict=True):
            out.append(build(leaves[at : at + count]))
            at += count
        return make(out)

    return [leaf for leaves, _ in parts for leaf in leaves], rebuild


def map_tree(function, tree):
    """``tree`` with ``function`` of every leaf."""
    leaves, rebuild = flatten(tree)
    return rebuild([function(leaf) for leaf in leaves])
