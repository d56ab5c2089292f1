"""Nested tuples, lists and dicts of tensors."""

from __future__ import annotations

import collections


def _children(tree):
    """(children, keys or None, make): ``make(children)`` gives the same container; None for a
    leaf.
    """
    if isinstance(tree, dict):
        keys = list(tree)
        kind = type(tree)
        return (
            [tree[k] for k in keys],
            keys,
            lambda parts: _same_dict(tree, kind, zip(keys, parts, strict=True)),
        )
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return list(tree), type(tree), lambda parts: type(tree)(*parts)
    if type(tree) in (tuple, list):
        return list(tree), None, type(tree)
    return None


def _same_dict(like, kind, pairs):
    if kind is collections.defaultdict:
        return collections.defaultdict(like.default_factory, pairs)
    return kind(pairs)


def flatten(tree):
    """(leaves, rebuild): ``rebuild(leaves)`` gives the same nesting around other leaves."""
    found = _children(tree)
    if found is None:
        return [tree], lambda leaves: leaves[0]
    children, _, make = found
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


def structure(tree, indent=0):
    """The nesting of ``tree`` as PyTorch writes it: ``TreeSpec(tuple, None, [*])``."""
    found = _children(tree)
    if found is None:
        return "*"
    children, keys, _ = found
    inner = f",\n{' ' * (indent + 2)}".join(structure(c, indent + 2) for c in children)
    return f"TreeSpec({type(tree).__name__}, {keys}, [{inner}])"


def drawn(tree):
    """The nesting of ``tree`` with ``*`` for leaves: ``(*, [*])``."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{k!r}: {drawn(v)}" for k, v in tree.items()) + "}"
    found = _children(tree)
    if found is None:
        return "*"
    inner = ", ".join(map(drawn, found[0]))
    if isinstance(tree, list):
        return f"[{inner}]"
    return f"({inner},)" if len(found[0]) == 1 else f"({inner})"


def spread(values, tree):
    """One value a leaf of ``tree``: a value stands for a whole branch; None where the nesting of
    ``values`` does not fit.
    """
    here = _children(values)
    there = _children(tree)
    if here is None:
        return [values] * (1 if there is None else len(flatten(tree)[0]))
    if there is None or type(values) is not type(tree) or here[1] != there[1]:
        return None
    if len(here[0]) != len(there[0]):
        return None
    parts = [spread(v, t) for v, t in zip(here[0], there[0], strict=True)]
    return None if any(p is None for p in parts) else [x for p in parts for x in p]
