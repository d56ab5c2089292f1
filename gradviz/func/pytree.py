"""Nested containers of leaves as ``torch.utils._pytree`` has them: flatten, map, and put together
again. Dicts, lists, tuples, named tuples and deques are containers, and what was registered;
anything else, None too, is a leaf.
"""

from __future__ import annotations

import dataclasses
import types
from collections import OrderedDict, defaultdict, deque, namedtuple

from ..engine.tensor import Size


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place of a child in a sequence."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The key of a child in a dict."""

    key: object

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The attribute that holds a child."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


class NodeDef(namedtuple("NodeDef", ("type", "flatten_fn", "unflatten_fn", "keys_fn"))):
    """How containers of one type come apart: ``flatten_fn(tree)`` gives (children, context),
    ``unflatten_fn(children, context)`` the container; ``keys_fn(tree)`` the keys of the children.
    """

    __slots__ = ()


def _places(tree):
    return [SequenceKey(k) for k in range(len(tree))]


def _keys(tree):
    return [MappingKey(k) for k in tree]


def _fields(tree):
    return [GetAttrKey(name) for name in tree._fields]


SUPPORTED_NODES = {
    node.type: node
    for node in (
        NodeDef(tuple, lambda t: (list(t), None), lambda c, _: tuple(c), _places),
        NodeDef(list, lambda t: (t, None), lambda c, _: list(c), _places),
        NodeDef(Size, lambda t: (list(t), None), lambda c, _: Size(c), _places),
        NodeDef(
            dict,
            lambda t: (list(t.values()), list(t)),
            lambda c, keys: dict(zip(keys, c, strict=True)),
            _keys,
        ),
        NodeDef(namedtuple, lambda t: (list(t), type(t)), lambda c, kind: kind(*c), _fields),
        NodeDef(
            OrderedDict,
            lambda t: (list(t.values()), list(t)),
            lambda c, keys: OrderedDict(zip(keys, c, strict=True)),
            _keys,
        ),
        NodeDef(
            defaultdict,
            lambda t: (list(t.values()), [t.default_factory, list(t)]),
            lambda c, how: defaultdict(how[0], zip(how[1], c, strict=True)),
            _keys,
        ),
        NodeDef(
            deque, lambda t: (list(t), t.maxlen), lambda c, maxlen: deque(c, maxlen=maxlen), _places
        ),
    )
}
_DICTS = frozenset((dict, OrderedDict, defaultdict))
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)


def register_pytree_node(
    cls, flatten_fn, unflatten_fn, *, flatten_with_keys_fn=None, **serialization
):
    """Make a container of a class; ValueError when it is one."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    keys = None
    if flatten_with_keys_fn is not None:
        keys = lambda tree: [key for key, _ in flatten_with_keys_fn(tree)[0]]  # noqa: E731
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, keys)


_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls):
    del SUPPORTED_NODES[cls]


def is_namedtuple_instance(obj):
    """Whether ``obj`` is a named tuple."""
    return isinstance(obj, tuple) and hasattr(type(obj), "_fields")


def _get_node_type(tree):
    return namedtuple if is_namedtuple_instance(tree) else type(tree)


def tree_is_leaf(tree, is_leaf=None):
    """Whether ``tree`` is no container, or a leaf by ``is_leaf(tree)``."""
    return bool(is_leaf and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


class TreeSpec:
    """The nesting of a tree without its leaves."""

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type, context, children_specs):
        self.type, self.context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in children_specs)
        self.num_leaves = 1 if type is None else sum(c.num_leaves for c in children_specs)

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        inner = f",\n{' ' * (indent + 2)}".join(c.__repr__(indent + 2) for c in self._children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type is other.type
            and self.context == other.context
            and self._children == other._children
        )

    def __hash__(self):
        return hash((self.type, self.num_nodes, tuple(self._children)))

    def is_leaf(self):
        """Whether it stands for a leaf."""
        return self.type is None

    def children(self):
        """The nestings of the children."""
        return list(self._children)

    def child(self, index):
        """The nesting of one child."""
        return self._children[index]

    def unflatten(self, leaves):
        """The tree with these leaves; ValueError unless there are as many as it has."""
        leaves = leaves if isinstance(leaves, (list, tuple)) else list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._built(iter(leaves))

    def _built(self, leaves):
        if self.type is None:
            return next(leaves)
        children = [c._built(leaves) for c in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree):
        """What ``tree`` has where this has leaves; ValueError when it is built otherwise."""
        if self.type is None:
            return [tree]
        children = self._matching(tree)
        return [
            x
            for c, part in zip(self._children, children, strict=True)
            for x in c.flatten_up_to(part)
        ]

    def _matching(self, tree):
        kind = _get_node_type(tree)
        known = self.type in BUILTIN_TYPES
        dicts = self.type in _DICTS and kind in _DICTS
        if not dicts and kind is not self.type:
            raise ValueError(
                f"{'Node type' if known else 'Type'} mismatch; expected {self.type!r}, but got "
                f"{kind!r}."
            )
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if dicts:
            return self._by_key(tree)
        if kind is not deque and context != self.context:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self.context!r}, "
                f"but got {context!r}."
                if known
                else f"Node context mismatch for custom node type {self.type!r}."
            )
        return children

    def _by_key(self, tree):
        keys = self.context[1] if self.type is defaultdict else self.context
        missing, extra = set(keys).difference(tree), set(tree).difference(keys)
        if missing or extra:
            text = f"; missing key(s): {missing}" if missing else ""
            text += f"; extra key(s): {extra}" if extra else ""
            raise ValueError(f"Node keys mismatch{text}.")
        return [tree[k] for k in keys]


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """A leaf."""

    __slots__ = ()

    def __init__(self):
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def treespec_leaf():
    """The nesting of a leaf."""
    return _LEAF


# ---------------------------------------------------------------- apart and together
def _walk(tree, is_leaf, leaves):
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_walk(child, is_leaf, leaves) for child in children])


def tree_flatten(tree, is_leaf=None):
    """(leaves, TreeSpec)."""
    leaves: list = []
    spec = _walk(tree, is_leaf, leaves)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The tree again; TypeError unless ``treespec`` is one."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree, is_leaf=None):
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree, is_leaf=None):
    """The leaves, one after the other."""
    yield from tree_leaves(tree, is_leaf)


def tree_structure(tree, is_leaf=None):
    """The TreeSpec."""
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args, **kwargs):
    """The leaves of all arguments."""
    return [x for a in (*args, *kwargs.values()) for x in tree_leaves(a)]


# ---------------------------------------------------------------- maps
def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of ``func(leaf, …)``, with what stands at its place in the other trees."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *(spec.flatten_up_to(r) for r in rests)))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Call ``func`` for every leaf; returns ``tree``."""
    leaves, spec = tree_flatten(tree, is_leaf)
    deque(map(func, leaves, *(spec.flatten_up_to(r) for r in rests)), maxlen=0)
    return tree


def _chosen(which):
    if isinstance(which, (type, tuple, types.UnionType)):
        return lambda x: isinstance(x, which)
    if callable(which):
        return which
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred, /):
    """A decorator: the function is called for leaves of these types, others stay."""
    chosen = _chosen(type_or_types_or_pred)
    return lambda func: lambda x: func(x) if chosen(x) else x


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """``tree_map`` for leaves of these types."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """``tree_map_`` for leaves of these types."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether ``pred`` holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether ``pred`` holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether ``pred`` holds for all leaves of these types."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether ``pred`` holds for a leaf of these types."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """One value of ``tree`` a leaf of ``treespec``; None where they do not go together."""
    full = treespec.unflatten([0] * treespec.num_leaves)
    leaves, spec = tree_flatten(tree, is_leaf)
    try:
        parts = spec.flatten_up_to(full)
    except ValueError:
        return None
    return [x for x, part in zip(leaves, parts, strict=True) for _ in tree_leaves(part, is_leaf)]


# ---------------------------------------------------------------- paths
def tree_leaves_with_path(tree, is_leaf=None):
    """(path, leaf) pairs; a path is a tuple of keys."""
    return list(_paths((), tree, is_leaf))


def _paths(path, tree, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES[kind]
    if node.keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in zip(node.keys_fn(tree), node.flatten_fn(tree)[0], strict=True):
        yield from _paths((*path, key), child, is_leaf)


def tree_flatten_with_path(tree, is_leaf=None):
    """((path, leaf) pairs, TreeSpec)."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """``tree_map`` of ``func(path, leaf, …)``."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten([func(*pair, *more) for pair, *more in zip(found, *others, strict=True)])


def keystr(kp):
    """A path as text: ``['a'][0]``."""
    return "".join(map(str, kp))


def key_get(obj, kp):
    """What lies at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj
