"""Running a user's Function: its forward, and what becomes of the tensors that it returns."""

from __future__ import annotations

import inspect
import warnings

from ..engine.anomaly import note_forward
from ..engine.dispatch import Tensor, refuse_inference, remade
from ..engine.events import door
from ..engine.forward_mode import check_tangent, laid_out_as, tangent_of
from ..engine.modes import force_grad_mode, is_recording, local, state
from ..engine.node import INFERENCE, LEAF, Nowhere, Output, serial
from ..engine.saved import pack
from ..engine.tensor import edge_now, is_result
from ..engine.views import bump, check_inplace, join_view, note_write


def apply(cls, args, kwargs):
    """``cls.apply(*args)``: run ``forward`` and record one node for it."""
    from . import function

    state.onlookers = True
    node = object.__new__(cls._backward_cls)
    node._open = False
    node.hooks = node.r = node.mark = None
    node.held = frozenset()
    node.s = ()
    node._materialize = True
    separate = cls.setup_context is not function.Function.setup_context
    if kwargs:
        args = _in_their_places(cls.forward, args, kwargs, 0 if separate else 1)
    if separate:
        args = _with_defaults(cls.forward, args)
    given = args
    node._needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in given)
    node._places = [k for k, x in enumerate(given) if isinstance(x, Tensor)]
    tensors = [given[k] for k in node._places]
    tracked = is_recording() and any(node._needs)
    batch = local.batch
    if local.transforms and (batch is None or not batch.older):
        function.require_transformable(cls)
    if batch is not None:
        answer = batch.apply(cls, args)
        if answer is not None:
            return answer()
    node.e = tuple(map(_edge, tensors)) if tracked else ()  # before forward can write to one
    node.seq = serial()
    if state.special and local.dual is not None:
        made = _apply_dual(cls, node, args, tensors, tracked)
    else:
        made = _run(cls, node, args, tensors, tracked)
    node.non_differentiable = None
    return made


def _in_their_places(forward, args, kwargs, skipped):
    """``args`` and, at their places, what was given by keyword: PyTorch knows positional
    parameters of ``forward`` only. ``skipped``: how many come before those of ``apply``.
    """
    parameters = list(inspect.signature(forward).parameters.values())[skipped:]
    places = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    names = [p.name for p in places]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    last = max(map(names.index, kwargs))
    rest = places[len(args) : last + 1]
    missing = [p.name for p in rest if p.name not in kwargs and p.default is p.empty]
    if missing:
        raise TypeError(f"forward() missing required argument: '{missing[0]}'")
    return (*args, *(kwargs.get(p.name, p.default) for p in rest))


def _with_defaults(forward, args):
    """``args`` with the defaults of ``forward``; TypeError when it has keyword-only ones."""
    code = getattr(forward, "__code__", None)
    if code is not None and code.co_argcount == len(args) and not code.co_kwonlyargcount:
        return args
    bound = inspect.signature(forward).bind(*args)
    bound.apply_defaults()
    for name in bound.kwargs:
        raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
    return bound.args


def _run(cls, node, args, tensors, tracked):
    result = _forward(cls, node, args)
    single = not isinstance(result, tuple)
    made = _outputs(node, (result,) if single else result, tensors, tracked)
    node.dirty_tensors = None
    return made[0] if single else tuple(made)


def _apply_dual(cls, node, args, tensors, tracked):
    """The same inside dual levels: tangents go through ``cls.jvp``, not through the forward."""
    levels = []
    while (level := local.dual if not levels else levels[-1].outer) is not None:
        levels.append(level)
    tangents = [[tangent_of(x, level) for x in tensors] for level in levels]
    innermost, local.dual = local.dual, None
    try:
        made = _run(cls, node, args, tensors, tracked)
        for level, found in zip(levels, tangents, strict=True):
            if any(t is not None for t in found):
                local.dual = level.outer
                _carry_tangents(cls, node, args, tensors, found, made, level)
    finally:
        local.dual = innermost
        node.saved_for_forward = None
    return made


def _carry_tangents(cls, node, args, tensors, tangents, made, level):
    outputs = made if isinstance(made, tuple) else (made,)
    by_id = dict(zip(map(id, tensors), tangents, strict=True))
    found = node.theirs(cls.jvp, node, *[_tangent(node, x, by_id.get(id(x))) for x in args])
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{len(outputs)} but got {len(found)})"
        )
    given = {id(t) for t in _with_bases(t for t in tangents if t is not None)}
    known = {id(x) for x in _with_bases(tensors)}
    off = {id(x) for x in node.non_differentiable or ()}
    for k, (out, tangent) in enumerate(zip(outputs, found, strict=True)):
        if tangent is not None and not _has_gradient(out, off):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {k}, but  the corresponding "
                "forward output is not a differentiable Tensor.You should return None at that "
                "position instead."
            )
        if not (tangent is None or isinstance(tangent, Tensor)):
            raise RuntimeError(
                f"expected Variable or None (got {type(tangent).__name__}) for grad output {k}."
            )
        if tangent is not None and isinstance(out, Tensor):
            check_tangent(out, tangent)
            _check_aliasing(out, tangent, by_id, known, given)
            level.keep(out, laid_out_as(out, tangent))
            level.keep_saved(out)


def _with_bases(tensors):
    """Tensors, and behind each view its base."""
    for t in tensors:
        yield t
        if t._view is not None:
            yield t._view[0]


def _check_aliasing(out, tangent, by_id, known, given):
    """An output that is an input or a view must have a tangent that is so too."""
    if id(out) in by_id:
        if by_id[id(out)] is not None and tangent is not by_id[id(out)]:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. "
                "If the forward is modifying an input inplace, then the jvp function must modify "
                "the corresponding gradient inplace."
            )
    elif out._view is not None and id(out._view[0]) in known and given:
        if tangent._view is None:
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp "
                "is not returning a view."
            )
        if id(tangent._view[0]) not in given:
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of the "
                "given grad input."
            )


def _tangent(node, x, tangent):
    if tangent is None and isinstance(x, Tensor) and node._materialize:
        return x.detach() * 0
    return tangent


def _forward(cls, node, args):
    from . import function

    with force_grad_mode(False):
        if cls.setup_context is function.Function.setup_context:
            return node.theirs(cls.forward, node, *args)
        result = cls.forward(*args)
        node.theirs(cls.setup_context, node, args, result)
        return result


def _outputs(node, outputs, tensors, tracked):
    node.shape = tuple(x._a.shape if isinstance(x, Tensor) else () for x in outputs)
    node.dtype = tuple(x._a.dtype if isinstance(x, Tensor) else None for x in outputs)
    given = {id(x) for x in tensors}
    off = _ids(
        node.non_differentiable or (),
        "mark_non_differentiable only accepts variable arguments, but got ",
    )
    dirty = _dirty(node, outputs, given)
    node._differentiable = [tracked and _has_gradient(x, off) for x in outputs]
    many = sum(node._differentiable) > 1
    made = [
        _output(node, nr, x, given, dirty, many) if isinstance(x, Tensor) else x
        for nr, x in enumerate(outputs)
    ]
    if tracked:
        _save(node, outputs, made)
        if state.special and local.anomaly:
            note_forward(node)
        if door.observer is not None:
            door.observer.operation(tuple(t for t in made if isinstance(t, Tensor)), tuple(tensors))
    return made


def _edge(x):
    g = x._g
    return x if g is LEAF else None if g.__class__ is Nowhere else g


def _ids(tensors, complaint):
    for x in tensors:
        if not isinstance(x, Tensor):
            raise RuntimeError(complaint)
    return {id(x) for x in tensors}


def _dirty(node, outputs, given):
    marked = node.dirty_tensors or ()
    dirty = _ids(marked, "mark_dirty can only accept variables, but argument ")
    for x in marked:
        bump(x)
    if dirty - {id(x) for x in outputs}:
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. "
            "The inputs that are modified inplace must all be outputs of the Function."
        )
    if dirty - given:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
            "have been mutated should be passed to ctx.mark_dirty().",
            UserWarning,
            stacklevel=6,
        )
    return dirty


def _has_gradient(x, off):
    return isinstance(x, Tensor) and id(x) not in off and x._a.dtype.kind in "fcV"


def _output(node, nr, x, given, dirty, many):
    """The tensor that the caller gets for ``x``."""
    is_input, modified = id(x) in given, id(x) in dirty
    if not node._differentiable[nr]:
        return _plain_output(x, is_input, modified)
    if modified:
        _modified_output(node, nr, x)
    else:
        if is_input:
            x = _view_of_self(x)
        x._g = Output(node, nr)
    if x._view is not None and not (is_input and modified):
        x._view = remade(x._view, "multi" if many else "function")
    return x


def _plain_output(x, is_input, modified):
    if x._view is not None and not is_input:
        x._view = remade(x._view, "function")
    if not x.requires_grad:
        return _view_of_self(x) if is_input and not modified else x
    if is_input:
        return Tensor.detach(x)
    if x._view is None:
        x._g = None
    return x


def _modified_output(node, nr, x):
    if x.requires_grad and not is_result(edge_now(x)):
        raise RuntimeError(
            "a leaf Variable that requires grad has been used in an in-place operation."
        )
    if x._view is not None and len(node.shape) > 1:
        raise RuntimeError(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using .clone() "
            "for example) or make your Function only return one Tensor (potentially splitting it "
            "into two Functions: one doing the inplace that returns a single Tensor and a second "
            "one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change."
        )
    x._grad = None
    check_inplace(x, True)
    note_write(x, Output(node, nr), node)


def _view_of_self(x):
    t = object.__new__(Tensor)
    t._a, t._g = x._a.view(), None
    join_view(t, x, "no_grad")
    if type(x) is not Tensor:
        t.__class__ = type(x.detach())
    return t


def _save(node, outputs, made):
    """Inputs are kept as tensors, outputs as arrays, so that output and node are in no cycle."""
    saved = node.to_save or ()
    for k, x in enumerate(saved):
        if not (x is None or isinstance(x, Tensor)):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {k} is of type "
                f"{type(x).__name__}"
            )
    packing = bool(state.special and local.saved_hooks)
    node.s = tuple(_kept(node, x, outputs, made, packing) for x in saved)
    node.to_save = None


def _kept(node, x, outputs, made, packing):
    """(tensor, or (array, version cell), or Packed; version; output number or None)."""
    if x is None:
        return None
    nr = next((k for k, o in enumerate(outputs) if o is x), None)
    t = x if nr is None else made[nr]
    if packing:
        edge = _edge(t)
        return (pack(t, edge), 0, nr)
    if nr is None:
        v = x._v
        if v is INFERENCE:
            refuse_inference()
        return (x, v and v[0], None)
    if t._v is None:
        t._v = [0, None]
    return ((t._a, t._v), t._v[0], nr)
