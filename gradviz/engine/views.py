"""Views and in-place operations: rebased history, the rules that forbid.

All tensors on one storage share a version cell ``[count, weak references to views]``. An in-place
operation counts it up and unsets the edge of every view; reading such an edge calls ``regenerate``,
which makes the view's new node from its base, as PyTorch does lazily. An in-place operation on a
view puts a ``CopySlices`` node on the base.
"""

from __future__ import annotations

from weakref import ref

from ..backend import beside, pointer, xp, zeros_by
from . import dtypes
from .anomaly import note_forward
from .arguments import refusal
from .dispatch import Chain, fill, further, remade, tell_untracked, wrap
from .errors import advised
from .events import door
from .hooks import forget_joined, move_retain
from .kept import pairs
from .memory_format import contiguous_format
from .modes import is_recording, local, state
from .node import FREED, INFERENCE, LEAF, Node, Nowhere, OnView, freed, new, serial, shown_name
from .operands import broadcast_error, check_real, together
from .operation import RAW, TENSOR
from .strides import extent, flat_storage, geometry, strided
from .surface import none
from .tensor import WRITTEN, Tensor, _read_g, edge_now, element_strides, is_result


# ---------------------------------------------------------------- views
def regenerate(view):
    """The edge of a view whose storage was modified since it was made."""
    found = view._view
    if found is None:
        raise AttributeError("_g")
    base, made_in = found
    g, old = base._g, view._stale
    if g is None and not is_result(old):
        view._g = found = None if old.__class__ is Nowhere else old
        return found
    if made_in != "default":
        _refuse_view(view, made_in, indirect=True)
    edge = base if g is LEAF else g
    if found.__class__ is Chain:
        node = _replayed(base._a, edge, found.steps)
    else:
        node = _window_node(view._a, base._a, edge)
    view._g, view._stale = node, None
    if old is not None and old is not LEAF:
        move_retain(view, old, node)
    return node


def _replayed(array, edge, steps):
    """The last node of a chain of views."""
    for step in steps:
        before, array = array, _step(array, step)
        if step.__class__ is tuple:
            edge = _window_node(array, before, edge)
        else:
            edge = _node_of(step.node, array, edge, ())
    return edge


def _step(array, step):
    """One step along a chain of views: a geometry, or an operation."""
    if step.__class__ is tuple:
        return strided(flat_storage(array), *step)
    return step.again(array)


def _window_node(array, base, edge):
    """The node of a view with this array on ``base``."""
    return _node_of(strided_op().op.node, array, edge, (*geometry(array), geometry(base)))


def _node_of(node_class, array, edge, at):
    node = new(node_class)
    node.seq = serial()
    node.shape, node.dtype = array.shape, array.dtype
    node.hooks = node.r = node.mark = None
    node.e, node.s, node.at = (edge,), (), at
    return node


def strided_op():
    from .operation import TENSOR

    return TENSOR.as_strided_op


def bump(tensor):
    """Count up the version of a tensor that was modified in place, and let its views know."""
    cell = tensor._v
    if cell is None:
        tensor._v = [1, None]
    elif cell is INFERENCE:
        if state.special and local.inference:
            return
        if tensor._count is None:
            raise RuntimeError(
                "Inplace update to inference tensor outside InferenceMode is not allowed.You can "
                "make a clone to get a normal tensor before doing inplace update.See "
                "https://github.com/pytorch/rfcs/pull/17 for more details."
            )
        tensor._count += 1
        return
    else:
        cell[0] += 1
        if cell[1]:
            _unset_views(cell)
    if door.observer is not None:
        door.observer.version_bumped(tensor)


def _unset_views(cell):
    alive = []
    for known in cell[1]:
        view = known()
        if view is None:
            continue
        alive.append(known)
        try:
            g = _read_g(view)
        except AttributeError:
            continue
        if g is not None or view._view[0]._g is not None:
            view._stale = g
            del view._g
        else:
            view._stale = WRITTEN
    cell[1] = alive


# ---------------------------------------------------------------- in place
_LEAF_ERROR = "a leaf Variable that requires grad is being used in an in-place operation."
_VIEW_OF_LEAF_ERROR = (
    "a view of a leaf Variable that requires grad is being used in an in-place operation."
)


def check_inplace(tensor, tracked):
    """Raise where PyTorch forbids modifying ``tensor``."""
    __tracebackhide__ = True
    if state.special and local.mutable_saved is not None:
        local.mutable_saved.before_write(tensor._a)
    if not tracked:
        return
    view = tensor._view
    if view is not None:
        if view[1] != "default":
            _refuse_view(tensor, view[1], indirect=False)
        if not is_result(view[0]._g) and tensor.requires_grad:
            raise advised(
                RuntimeError(_VIEW_OF_LEAF_ERROR), "view_of_leaf_inplace", shape=tensor._a.shape
            )
    if tensor.requires_grad and not is_result(edge_now(tensor)):
        raise advised(RuntimeError(_LEAF_ERROR), "leaf_inplace", shape=tensor._a.shape)


def check_expanded(array):
    """Several elements of an expanded tensor are one memory location: writing there is refused."""
    __tracebackhide__ = True
    if is_expanded(array):
        _refuse_expanded(array.shape)


def is_expanded(array):
    """Whether several elements are one memory location."""
    return (
        array.size
        and 0 in array.strides
        and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True))
    )


_EXPANDED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation."
)


def _refuse_expanded(shape):
    raise advised(RuntimeError(_EXPANDED), "expanded", shape=shape)


_REFUSED = {
    "multi": "This view is the output of a function that returns multiple views. Such functions do "
    "not allow the output views to be modified inplace. You should replace the inplace operation "
    "by an out-of-place one.",
    "function": "This view was created inside a custom Function (or because an input was returned "
    "as-is) and the autograd logic to handle view+inplace would override the custom backward "
    "associated with the custom Function, leading to incorrect gradients. This behavior is "
    "forbidden. You can fix this by cloning the output of the custom Function.",
}
_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
    "code by moving both the view and the inplace either both inside the {} block (if you don't "
    "want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
)


def check_overlap(target, source):
    """Reading what is being written is refused, unless both are the same elements in the same
    order.
    """
    __tracebackhide__ = True
    if not target.size or not source.size or not (is_dense(target) and is_dense(source)):
        return
    a, b = pointer(target), pointer(source)
    if a == b and target.nbytes == source.nbytes:
        overlaps = target.shape != source.shape or _steps(target) != _steps(source)
    else:
        overlaps = a < b + source.nbytes and b < a + target.nbytes
    if overlaps:
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer "
            "to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )


def _steps(array):
    return [(s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]


def is_dense(array):
    """No gaps and no element twice."""
    step = array.itemsize
    for s, n in sorted(_steps(array)):
        if s != step:
            return False
        step *= n
    return True


def _refuse_view(tensor, made_in, indirect):
    __tracebackhide__ = True
    what = "its base or another view of its base has been" if indirect else "is being"
    g = edge_now(tensor)
    inference = made_in == "inference"
    mode = "inference" if inference else "no_grad"
    where = "in normal mode" if inference else "with grad mode enabled"
    if not is_result(g):
        start = f"A view was created in {mode} mode and {what} modified inplace {where}."
    else:
        node, nr = (g.node, g.nr) if g._kind == 1 else (g, 0)
        start = f"Output {nr} of {shown_name(node)} is a view"
        if made_in in _REFUSED:
            start += f" and {what} modified inplace."
        else:
            start += (
                f" of a view which was created in {mode} mode and {what} modified inplace {where}."
            )
    why = _REFUSED.get(made_in) or _AMBIGUOUS.format("inference_mode" if inference else "no_grad")
    raise RuntimeError(f"{start} {why}")


# these may write an element twice
_IDEMPOTENT = {
    "FillBackward2",
    "ZeroBackward0",
    "MaskedFillBackward0",
    "MaskedFillBackward1",
    "IndexPutBackward0",
    "IndexFillBackward0",
    "IndexFillBackward1",
}


_IN_PLACE = {}


def rename_in_place(op, name):
    """Nodes of the in-place form of ``op`` are called ``name``."""
    _IN_PLACE[op.node] = type(name, (op.node,), {"__slots__": (), "__module__": "builtins"})


_RECORDED = {}


def record_in_place(op, other):
    """The in-place form of ``op`` is recorded as ``other``, whose derivative needs the result
    alone.
    """
    _RECORDED[op.node] = other


def write(op, ins, attrs=(), kept=()):
    """The in-place twin of ``op``: compute, write into ``ins[0]``, count its version, rebase its
    history. ``kept``: index tensors among ``attrs``.
    """
    self = ins[0]
    try:
        tracked = is_recording() and (
            self.requires_grad or any(x is not None and x.requires_grad for x in ins[1 : op.edges])
        )
        tracked = tracked and op.edges and self._a.dtype.kind in "fcV"
        if state.readers and local.captured:
            _refuse_captured(self, _written_name(op))
        check_inplace(self, tracked)
        for x in ins[1 : op.edges] if tracked else ():
            if x is not None:
                x._g  # noqa: B018 (a view that may not be read says so before anything is written)
    except AttributeError as error:
        raise refusal(f"{op.name}_", ins[1:], {}, method=True) or error from None
    array = self._a
    if op.node.__name__ not in _IDEMPOTENT and not _copies_itself(op, ins):
        check_expanded(array)
    for x in ins[1:] if op.node.__name__ != "FillBackward3" else ():  # one number, read first
        if x is None or x is self:
            continue
        if x._v is self._v is not None or x._a.base is not None or array.base is not None:
            check_overlap(array, x._a)
    try:
        out = op.forward(*[None if x is None else x._a for x in ins], *attrs)
    except ValueError:
        raise broadcast_error(array.shape, ins[-1]._a.shape) from None
    except NotImplementedError:
        if len(ins) == 2 and (whole := together(*ins)) != array.shape:
            raise _other_shape(array.shape, whole) from None
        raise
    if out.shape != array.shape:
        raise _other_shape(array.shape, out.shape)
    check_cast(out.dtype, array.dtype)
    if tracked:
        # edges and versions are those from before the write
        made = _RECORDED.get(op.node, op)
        node = new(_IN_PLACE.get(op.node) or made.node)
        node.seq = serial()
        node.shape, node.dtype = array.shape, array.dtype
        node.hooks = node.r = node.mark = None
        before = _as_input(self, made, ins)
        fill(made, node, (before, *ins[1:]), attrs)
        if before._a is not array and before._g is not None:
            node.s = _with_clone(made, node.s, before)
        if kept:
            node.s = (*node.s, *pairs(kept))
    if state.special and local.dual is not None:
        _write_tangent(op, ins, attrs)
    if is_expanded(array):  # what stays as it was must not be written over what changed
        xp.copyto(array, out, where=out != array)
    else:
        array[...] = out
    bump(self)
    if tracked:
        if made.saves_result:
            node.r = (array, self._v, self._v[0])
            if self._view is not None:
                on_view = node._meta = OnView()
        if state.special and local.anomaly:
            note_forward(node)
        rebase(self, node)
        if made.saves_result and self._view is not None:
            on_view.node = ref(self._g)
        if made.saves_result and state.special and local.dual is not None:
            forward_mode().keep_saved(self)
        if door.observer is not None:
            door.observer.operation(self, ins)
    elif state.special:
        tell_untracked(op, self, ins)
    if state.special and local.between is not None:
        local.between.made(op, self, ins, attrs, in_place=True)
    return self


def _refuse_captured(tensor, name):
    """RuntimeError for a tensor that a transformed function captured, or for a view of one."""
    __tracebackhide__ = True
    view = tensor._view
    if id(tensor) in local.captured or (view is not None and id(view[0]) in local.captured):
        raise RuntimeError(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
            f"call in-place operation (aten::{name}) that would mutate a captured Tensor. This is "
            "not supported; please rewrite the function being transformed to explicitly accept "
            "the mutated Tensor(s) as inputs."
        )


_OVERLOADS = {
    "fill_inplace": "fill_.Scalar",
    "fill_tensor_inplace": "fill_.Tensor",
    "floor_divide_number": "floor_divide_.Tensor",
    "index_fill": "index_fill_.int_Scalar",
    "masked_fill": "masked_fill_.Scalar",
    "scatter_value": "scatter_.value",
} | {name: f"{name}_.Tensor" for name in ("add", "sub", "mul", "div", "floor_divide")}


def _written_name(op):
    """What PyTorch calls the in-place twin of ``op``."""
    name, _, kind = op.name.rpartition("_")
    if kind in ("number", "scalar") and op.name not in _OVERLOADS:
        return f"{name}_.Scalar"
    return _OVERLOADS.get(op.name, f"{op.name}_")


def forward_mode():
    from . import forward_mode

    return forward_mode


def _write_tangent(op, ins, attrs):
    """The tangent of a dual that is modified in place, before its value changes."""
    mode = forward_mode()
    self, result = ins[0], new(Tensor)
    result._a, result._g, result._v = self._a, None, None
    mode.propagate(op, (result,), ins, attrs, in_place=True)
    level = local.dual
    while level is not None:
        found, before = mode.tangent_of(result, level), mode.tangent_of(self, level)
        if found is not None and before is None and self._view is not None:
            before = mode.start_in_base(self, level)
        if found is None and before is not None and not op.name.startswith("logical"):
            with mode.outside(level):
                before.zero_()
        elif found is not None and (before is None or found._g is not None and self._view is None):
            level.keep(self, found)  # what was computed with the one before may need it again
        elif found is not None:
            with mode.outside(level):
                before.copy_(found)
        level = level.outer


def _copies_itself(op, ins):
    """Whether a tensor is copied to where it is: PyTorch does nothing then."""
    if op.node.__name__ != "CopyBackwards":
        return False
    a, b = ins[0]._a, ins[1]._a
    return a is b or (
        a.dtype == b.dtype
        and pointer(a) == pointer(b)
        and (a.shape, element_strides(a)) == (b.shape, element_strides(b))
    )


def overwrite(self, draw, name):
    """Elements given by ``draw()`` that depend on nothing: recorded as ``name``, derivative 0."""
    tracked = is_recording() and self.requires_grad
    if state.readers and local.captured:
        _refuse_captured(self, f"{name.partition('Backward')[0].lower()}_")
    check_inplace(self, tracked)
    self._a[...] = beside(draw(), self._a)
    if state.special and local.dual is not None:
        forward_mode().overwrite(self)
    edge = self._g if tracked else None
    bump(self)
    if tracked:
        rebase(self, _node_of(_zero_like_node(name), self._a, edge, ()))
    return self


_zero_like_nodes = {}


def _zero_like_node(name):
    from .operation import TENSOR

    found = _zero_like_nodes.get(name)
    if found is None:
        zero = TENSOR.zero.op.node
        found = type(name, (zero,), {"__slots__": (), "__module__": "builtins"})
        _zero_like_nodes[name] = found
    return found


def _as_input(self, op, ins):
    """``self`` as it was before: its edge, and a copy of its values where the derivative needs
    them.
    """
    alias = new(Tensor)
    mask = sum(1 << k for k, x in enumerate(ins[: op.edges]) if x is not None and x._g is not None)
    needed = 0 in op.saved_inputs and op.saved_by[op.saved_inputs.index(0)] & mask
    alias._a = self._a.copy() if needed else self._a
    alias._g = self._g
    alias._v = None
    return alias


def _with_clone(op, kept, before):
    """What a node saved, its first input ``before`` a clone with a node of its own."""
    copy = new(Tensor)
    copy._a, copy._v = before._a, None
    copy._g = _node_of(TENSOR.clone.op.node, before._a, before._g, (None,))
    k = 2 * op.saved_inputs.index(0)
    return (*kept[:k], copy, *kept[k + 1 :])


def check_target(self, others):
    """Raise where PyTorch forbids that ``self`` is modified by an operation on ``others``."""
    __tracebackhide__ = True
    tracked = is_recording() and (self.requires_grad or any(x.requires_grad for x in others))
    check_inplace(self, tracked and self._a.dtype.kind in "fcV")
    check_expanded(self._a)
    for x in others:
        if x is not self:
            check_overlap(self._a, x._a)
    for x in others:
        try:
            shape = xp.broadcast_shapes(self._a.shape, x._a.shape)
        except ValueError:
            raise broadcast_error(self._a.shape, x._a.shape) from None
        if shape != self._a.shape:
            raise _other_shape(self._a.shape, shape)


def _other_shape(shape, wider):
    return RuntimeError(
        f"output with shape {list(shape)} doesn't match the broadcast shape {list(wider)}"
    )


def check_cast(source, target):
    """RuntimeError when PyTorch would not write ``source`` into ``target`` in place."""
    __tracebackhide__ = True
    a, b = dtypes.from_np(source), dtypes.from_np(target)
    if not dtypes.can_cast(a, b):
        raise RuntimeError(
            f"result type {dtypes.scalar_name(a)} can't be cast to the desired output type "
            f"{dtypes.scalar_name(b)}"
        )


def rebase(tensor, node):
    """``tensor`` is from now on what ``node`` made; for a view, through its base."""
    view = tensor._view
    if view is None:
        old = tensor._g
        tensor._g = node
        if old is not None and old is not LEAF:
            move_retain(tensor, old, node)
        forget_joined(tensor)
        if tensor._v[1]:
            _unset_views(tensor._v)
        return
    base = view[0]
    g = base._g
    slices = new(CopySlices)
    slices.seq = serial()
    slices.shape, slices.dtype = base._a.shape, base._a.dtype
    slices.hooks = slices.r = slices.mark = None
    slices.e = (base if g is LEAF else g, *node.e[1:])
    slices.s = (node,)
    links = _links(base._a, view.steps) if view.__class__ is Chain else None
    slices.at = (geometry(tensor._a), geometry(base._a), links)
    base._g = slices
    if g is not None and g is not LEAF:
        move_retain(base, g, slices)
    _unset_views(tensor._v)
    regenerate(tensor)


class CopySlices(Node):
    """History of a base of which a view was modified in place; ``s`` holds the node that the view's
    operation made.
    """

    __slots__ = ()
    __module__ = "builtins"

    def __new__(cls, *args, **kwargs):
        raise RuntimeError("Cannot construct")

    def name(self, *given):
        none(self, "name", given)
        return "torch::autograd::CopySlices"

    @property
    def idles(self):
        return self.s is not FREED and self.s[0].idles

    def run(self, g, F):
        if g is None:
            return (None,) * len(self.e)
        if self.s is FREED:
            freed(self)
        inner, outer, links = self.at
        function = self.s[0]
        if any(s == 0 and n > 1 for n, s in zip(inner[0], inner[1], strict=True)):
            _refuse_expanded(inner[0])
        if links is None:
            links = ((_from_start(inner, outer[2]), _from_start(outer, outer[2])),)
            outer = links[0][1]
            _check_inside(g if F is RAW else g._a, *links[0])
        if F is RAW:
            return self._run_arrays(g, function, links, outer)
        if len(links) == 1 and links[0][1]:
            return self._run_window(g, function, *links[0])
        part = g
        for step, layout in links:
            part = F.strided_gather(part, step, layout) if layout else getattr(F, step.name)(part)
        back = _run_inner(function, part, F)
        mask = F.constant(_seen(g._a, links, outer))
        put = g * 0 if back[0] is None else _put_back(F, back[0], links)
        return (F.where(mask, put, g), *back[1:])

    @staticmethod
    def _run_window(g, function, inner, outer):
        """On tensors: ``g`` is copied, and the window written anew."""
        whole = zeros_by(g._a, extent(outer, inner))
        copy = wrap(strided(whole, *outer)).copy_(g)
        window = TENSOR.as_strided_op(copy, *inner, geometry(copy._a))
        back = _run_inner(function, TENSOR.clone(window, contiguous_format), TENSOR)
        window.copy_(wrap(zeros_by(g._a, inner[0])) if back[0] is None else back[0])
        return (copy, *back[1:])

    @staticmethod
    def _run_arrays(g, function, links, outer):
        whole, window = _laid(g, links, outer)
        back = _run_inner(function, window.copy(), RAW)
        window[...] = 0 if back[0] is None else back[0]
        return (strided(whole, *outer).copy(), *back[1:])


def _from_start(layout, offset):
    return (*layout[:2], layout[2] - offset)


def _check_inside(g, inner, outer):
    """RuntimeError when a base has become too small for a view of it that was written."""
    strided(xp.broadcast_to(g.ravel()[:1], (extent(outer),)), *inner)


def _links(array, steps):
    """(step, layout of what it is taken of) along a chain of views; an operation takes what lies
    row-major, whatever its layout.
    """
    links = []
    for step in steps:
        links.append((step, geometry(array) if step.__class__ is tuple else None))
        array = _step(array, step)
    return tuple(links)


def _laid(g, links, outer):
    """``g`` in a storage laid out as the base, and the window on it at the end of ``links``."""
    first = links[0][0]
    whole = zeros_by(g, extent(outer, *([first] if first.__class__ is tuple else [])))
    laid = window = strided(whole, *outer)
    laid[...] = g
    for step, _ in links:
        window = _step(window, step)
    return whole, window


def _seen(g, links, outer):
    """Where a base is covered by the window at the end of ``links``."""
    whole, window = _laid(xp.zeros_like(g), links, outer)
    window[...] = 1 + 1j if window.dtype.kind == "c" else 1
    return strided(whole, *outer) != 0


def _put_back(F, g, links):
    """The gradient of a window in zeros of the shape of the base."""
    for step, layout in reversed(links):
        if layout:
            g = F.strided_scatter(g, step, layout)
        else:
            real = step is TENSOR.view_as_real_op.op
            g = F.view_as_complex_op(g) if real else F.view_as_real_op(g)
    return g


def _run_inner(function, g, F):
    """A node behind CopySlices; a user's Function takes a tuple."""
    grads = function.run((g,) if function.dtype.__class__ is tuple else g, F)
    for x, gx in zip(function.e[1:], grads[1:], strict=False):
        if x is None or gx is None or x._kind == 1:
            continue
        if (x.dtype if x._kind == 0 else x._a.dtype).kind != "c":
            check_real(function, gx)
    return grads


def note_write(tensor, edge, node):
    """``tensor`` was modified by ``node``, a user's Function: rebase its history."""
    if tensor._view is not None:
        rebase(tensor, node)
        return
    old = tensor._g
    tensor._g = edge
    if is_result(old):
        move_retain(tensor, old, edge)
    if tensor._v[1]:
        _unset_views(tensor._v)


def join_view(t, source, made_in):
    """Make ``t``, which shares the storage of ``source``, a view of it."""
    from .dispatch import note_view

    if source._v is None:
        source._v = [0, None]
    t._v = source._v
    t._view = (
        (source, made_in) if source._view is None else further(remade(source._view, made_in), t)
    )
    note_view(t._v, t)
