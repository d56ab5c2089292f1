"""Forward mode: tangents carried along with values, from the same declarations as backward.

Inside a dual level every operation takes its slow path, and its tangent is J·v. A view of a dual
has the same view of its tangent; everything else gets J·v as the derivative of (Jᵀ·u)·v with
respect to u, so no second set of rules exists. Levels nest: the tangents of an inner one are
computed while the outer ones are open, so these are carried along them too.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, ref

from ..backend import owner, xp, zeros_by
from .backward import grad
from .dispatch import call, wrap
from .leaves import depends_only_on
from .modes import count, is_recording, local, recording
from .node import INFERENCE, new
from .strides import flat_storage, geometry, storage_offset, strided
from .tensor import Tensor, as_leaf, edge_now, element_strides, is_result


class Level:
    """An open dual level; tangents belong to one and end with it. It keeps no dual alive."""

    __slots__ = ("asked", "duals", "outer", "saved")

    def __init__(self, outer, asked):
        self.outer, self.asked = outer, asked
        self.duals = {}  # by id: one that is used again stands for the newer tensor
        self.saved = WeakKeyDictionary()  # node: its outputs' tangents by number

    def keep(self, tensor, tangent):
        held = tensor._tangent
        if held is None:
            held = tensor._tangent = {}
        held[self] = tangent
        self.duals[id(tensor)] = ref(tensor)

    def keep_saved(self, tensor):
        """Remember the tangent of a result for the node that may have saved the result."""
        edge = edge_now(tensor)
        if is_result(edge):
            node, nr = (edge.node, edge.nr) if edge._kind else (edge, 0)
            if node._kind == 0:
                self.saved.setdefault(node, {})[nr] = tensor._tangent[self]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        leave(self)


class outside:
    """Inside the block the levels outside of ``level`` only are open."""

    __slots__ = ("before", "level")

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        self.before, local.dual = local.dual, self.level.outer

    def __exit__(self, *_):
        local.dual = self.before


def enter(asked=True):
    """Open a level. One that a person ``asked`` for is refused (RuntimeError) inside another such;
    those of transforms nest.
    """
    level = local.dual or local.dual_aside
    while asked and level is not None:
        if level.asked:
            raise RuntimeError("Nested forward mode AD is not supported at the moment")
        level = level.outer
    count(1)
    if asked and not local.forward:
        made = local.dual_aside = Level(local.dual_aside, asked)
    else:
        made = local.dual = Level(local.dual, asked)
    return made


def leave(level):
    """Close it: its duals lose their tangents."""
    if level not in (local.dual, local.dual_aside):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is "
            "not supported."
        )
    for tensor in [dual() for dual in level.duals.values()]:
        held = None if tensor is None else tensor._tangent
        if held is not None:
            held.pop(level, None)
            if not held:
                tensor._tangent = None
    level.duals.clear()
    level.saved.clear()
    if local.dual is level:
        local.dual = level.outer
    else:
        local.dual_aside = level.outer
    count(-1)


def tangent_of(tensor, level=None):
    """The tangent of ``tensor`` in ``level`` (the innermost open one unless given), or None. A view
    of a tensor that got a tangent later has that part of it.
    """
    level = level or local.dual
    if level is None:
        return None
    held = tensor._tangent
    if held is not None and level in held:
        return held[level]
    base = None if tensor._view is None else tensor._view[0]
    held = None if base is None else base._tangent
    if held is None or level not in held:
        return None
    tangent = _same_part(tensor, base, held[level])
    level.keep(tensor, tangent)
    return tangent


def _same_part(view, base, tangent):
    """The part of ``tangent`` that ``view`` is of ``base``."""
    offset = storage_offset(tangent._a) + storage_offset(view._a) - storage_offset(base._a)
    return tangent.as_strided(view._a.shape, element_strides(view._a), offset)


def start_in_base(view, level):
    """A zero tangent for the base of ``view``, laid out as it; its part for ``view``."""
    base = view._view[0]
    zeros = xp.zeros_like(base._a)
    if zeros.strides != base._a.strides:
        zeros = zeros_by(base._a, base._a.shape)
    level.keep(base, wrap(zeros))
    return tangent_of(view, level)


def carry(copy, source, transform=None):
    """Give ``copy``, another tensor of the same elements, the tangents of ``source``; without a
    graph that hangs on leaves of ``transform`` and of ended ones only.
    """
    level = local.dual
    while level is not None:
        tangent = tangent_of(source, level)
        if tangent is not None:
            if tangent.requires_grad and depends_only_on(tangent, transform):
                with outside(level):
                    tangent = carry(tangent.detach(), tangent, transform)
            level.keep(copy, tangent)
        level = level.outer
    return copy


def recall(tensor, node, nr):
    """Give ``tensor``, what output ``nr`` of ``node`` was when it was saved, its tangents."""
    level = local.dual
    while level is not None:
        tangent = level.saved.get(node, {}).get(nr)
        if tangent is not None:
            level.keep(tensor, tangent)
        level = level.outer


def check_tangent(tensor, tangent):
    """RuntimeError unless ``tangent`` has the shape of ``tensor``."""
    if tensor._a.shape != tangent._a.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            "Tensor, this is not supported. "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


def laid_out_as(tensor, tangent):
    """``tangent``, or a copy of it that lies in memory as ``tensor`` does."""
    a, b = tensor._a, tangent._a
    if _layout(a) == _layout(b):
        return tangent
    room = xp.zeros(flat_storage(a).size, b.dtype, like=b)
    return wrap(strided(room, *geometry(a))).copy_(tangent)


def _layout(array):
    sizes, strides, offset = geometry(array)
    steps = [(n, s) for n, s in zip(sizes, strides, strict=True) if n != 1]
    return steps, offset, flat_storage(array).size


def propagate(op, outs, ins, attrs, in_place=False):
    """Give the results of ``op`` their tangents, of every open level."""
    level = local.dual
    while level is not None:
        tangents = [None if x is None else tangent_of(x, level) for x in ins]
        if any(t is not None for t in tangents):
            _require_support(op, in_place)
            with outside(level):
                found = _tangents(op, outs, ins, attrs, tangents)
            for out, tangent in zip(outs, found, strict=True):
                if tangent is not None:
                    level.keep(out, tangent)
                    if op.saves_result:
                        level.keep_saved(out)
        level = level.outer


def overwrite(tensor):
    """Zeros for the tangents of ``tensor``, whose elements depend on nothing any more."""
    level = local.dual
    while level is not None:
        tangent = tangent_of(tensor, level)
        if tangent is not None:
            with outside(level):
                tangent.zero_()
        level = level.outer


def keep_saved(tensor):
    """The tangents of a result that its node saved, of every open level."""
    level = local.dual
    while level is not None:
        if tangent_of(tensor, level) is not None:
            level.keep_saved(tensor)
        level = level.outer


_NOT_YET = (
    "Trying to use forward AD with {} that does not support it because it has not been implemented "
    "yet.\nPlease file an issue to PyTorch at "
    "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can "
    "prioritize its implementation"
)
_OR_WRITE_IT = " or submit a PR adding the implementation to derivatives.yaml"


def _require_support(op, in_place):
    name = op.no_tangents
    if name is not None and (in_place or name[-1] != "_"):
        end = "." if in_place else _OR_WRITE_IT
        raise NotImplementedError(_NOT_YET.format(name.rstrip("_") + "_" * in_place) + end)
    for derivative in op.derivatives:
        refused = getattr(derivative, "refused", None)
        if refused is not None:
            raise NotImplementedError(
                f"Trying to use forward AD with aten::{refused} that does not support it."
            )


def _tangents(op, outs, ins, attrs, tangents):
    if op.view and tangents[0] is not None:
        found = call(op, (tangents[0], *ins[1:]), attrs)
        return found if isinstance(found, tuple) else (found,)
    with recording():
        found, graph = _products(op, ins, attrs, tangents)
        if graph:
            found = [_of_its_own(t, tangents) for t in found]
    if graph and is_recording():
        return found
    return [None if t is None else carry(wrap(xp.array(t._a, like=t._a)), t) for t in found]


def _ordinary(x):
    """``x``, for an inference tensor one that can be saved."""
    return x if x is None or x._v is not INFERENCE else carry(wrap(x._a), x)


def _of_its_own(found, tangents):
    """``found``, or a copy where it is the memory of one of ``tangents``."""
    if found is None or all(t is None or owner(t._a) is not owner(found._a) for t in tangents):
        return found
    return found.clone()


def _products(op, ins, attrs, tangents):
    """J·v of every result, and whether they are to be recorded."""
    ins, tangents = ([_ordinary(x) for x in given] for given in (ins, tangents))
    leaves = [None if t is None else _tracked(x) for x, t in zip(ins, tangents, strict=True)]
    made = call(
        op, [x if leaf is None else leaf for x, leaf in zip(ins, leaves, strict=True)], attrs
    )
    made = made if isinstance(made, tuple) else (made,)
    pairs = [
        (x, t) for x, t in zip(leaves, tangents, strict=True) if x is not None and x._g is not None
    ]
    graph = any(x is not None and x._g is not None for x in (*ins, *tangents))
    return [directional(y, pairs) for y in made], graph


def _tracked(x):
    """An alias of ``x`` that gradients can be taken for, joined to what ``x`` came from."""
    from .operation import TENSOR

    if x._g is not None:
        return TENSOR.alias(x)
    t = new(Tensor)
    t._a, t._g, t._v = x._a, None, None
    t._tangent = x._tangent
    return as_leaf(t) if x._a.dtype.kind in "fcV" else t


def directional(output, pairs):
    """J·v of ``output`` for (input, tangent) pairs; None for what has no derivative."""
    if output._g is None or not pairs:
        return None
    through = as_leaf(wrap(zeros_by(output._a, output._a.shape)))
    inputs = [x for x, _ in pairs]
    back = grad(output, inputs, through, create_graph=True, allow_unused=True)
    kept = [
        (b, t) for b, (_, t) in zip(back, pairs, strict=True) if b is not None and b._g is not None
    ]
    found = None
    if kept:
        (found,) = grad(
            [b for b, _ in kept],
            through,
            [t for _, t in kept],
            create_graph=True,
            allow_unused=True,
        )
    if found is None:
        return wrap(zeros_by(output._a, output._a.shape))
    return found
