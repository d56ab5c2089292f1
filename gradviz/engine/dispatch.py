"""The one hot path: an operation's declaration becomes a function that computes and records.

The functions for the common shapes of operations are written out one by one, since a call between
them would cost as much as what they share. ``finish`` is the path for everything rare.
"""

from __future__ import annotations

import functools
from weakref import ref as reference

from ..backend import xp
from . import dtypes, saved, saved_names
from .anomaly import note_forward
from .events import door
from .memory_format import laid_out
from .modes import local, state
from .node import (
    INFERENCE,
    LEAF,
    Nowhere,
    Output,
    new,
    nowhere,
    serial,
)
from .operands import (
    broadcast_error,
    is_number,
    is_wrapped,
    not_a_tensor,
    operands,
    promoted,
    promoted_wide,
    together,
)
from .operation import parameters
from .tensor import Tensor

ndarray = xp.ndarray
asarray = xp.asarray
generic = xp.generic
_SINGLE = xp.dtype(xp.float32)


# ---------------------------------------------------------------- recording
def wrap(array):
    """A fresh untracked tensor around ``array`` (0-d NumPy scalars become arrays)."""
    t = new(Tensor)
    t._a = asarray(array) if isinstance(array, generic) else array
    t._g = t._v = t._view_ = None
    if state.special and local.inference:
        t._v = INFERENCE
    return t


def untracked(op, array, *inputs):
    """``array``, which ``op`` made of ``inputs`` and which never has a node, as a tensor."""
    t = wrap(array)
    if state.special:
        tell_untracked(op, t, inputs)
        if local.between is not None and op.__class__ is not str:
            local.between.made(op, t, inputs)
    return t


def record(op, t, ins, attrs):
    """Give result ``t`` its node. Some input is tracked and recording is on."""
    node = new(op.node)
    node.seq = serial()
    o = t._a
    node.shape, node.dtype = o.shape, o.dtype
    node.hooks = node.r = node.mark = None
    fill(op, node, ins, attrs)
    t._edge = node
    if op.saves_result:
        cell = t._v
        if cell is None:
            cell = t._v = [0, None]
        node.r = (o, cell, cell[0])
    if state.special and local.saved_hooks:
        _pack_all(op, node, t)
    if door.observer is not None:
        door.observer.operation(t, ins)
    return t


def fill(op, node, ins, attrs):
    """Edges, saved inputs and attributes of a node."""
    mask = bit = 0
    edges = []
    for x in ins if op.edges == len(ins) else ins[: op.edges]:
        try:
            g = None if x is None else x._edge
        except AttributeError:
            g = x._g
        if g.__class__ is Nowhere:
            g = None
        edges.append(x if g is LEAF else g)
        if g is not None:
            mask |= 1 << bit
        bit += 1
    node.e = tuple(edges)
    kept = ()
    for i, by in op.saved_pairs:
        x = ins[i]
        if x is not None and (by is None or by & mask):
            v = x._v
            kept += (x, v and v[0])
            if v is INFERENCE:
                refuse_inference()
        else:
            kept += (None, None)
    node.s = kept if op.saved_mask is None or op.saved_mask & mask else op.empty
    if op.shaped:
        attrs = (*attrs, *[ins[i]._a.shape for i in op.shaped])
    node.at = attrs


def refuse_inference():
    """RuntimeError: an inference tensor would be saved for backward."""
    raise RuntimeError(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation "
        "tracked by autograd. To work around this, you can make a clone to get a normal tensor and "
        "use it in autograd, or "
        "use `torch.no_grad()` instead of `torch.inference_mode()`."
    )


def _pack_all(op, node, t):
    """Send everything a node saved through the innermost pack hook."""
    _pack_inputs(op, node)
    if node.r is not None:
        node.r = _pack_result(t, node)


def _pack_result(t, node):
    """The result is shown as another tensor, so that a hook that gives it back makes no cycle."""
    shown = wrap(t._a)
    shown._v, shown._g = t._v, node
    packed = saved.pack(shown, node)
    if packed.packed is shown:
        packed.packed = t.detach()
    return packed


def _pack_inputs(op, node):
    """The saved inputs, in the order in which the derivatives name them."""
    if not node.s:
        return
    kept = list(node.s)
    named = [n for d in op.derivatives for n in parameters(d) if n in op.saved_names]
    for name in dict.fromkeys((*named, *op.saved_names)):
        k = 2 * op.saved_names.index(name)
        x = kept[k]
        if x is not None and not is_wrapped(x):
            g = x._g
            kept[k] = saved.pack(x, x if g is LEAF else g)
    node.s = tuple(kept)


def finish(op, t, ins, attrs):
    """Record ``t`` if an input is tracked and recording is on; the path for everything but the
    fastest cases.
    """
    _finish(op, t, ins, attrs)
    if state.special:
        if local.dual is not None:
            _carry_tangent(op, (t,), ins, attrs)
        if local.between is not None:
            local.between.made(op, t, ins, attrs)
    return t


def _attempt(op, t, ins, attrs):
    """``finish`` of an operator: Python is told of a TypeError, as one of a pack hook, that the
    operands are not for it.
    """
    try:
        return finish(op, t, ins, attrs)
    except TypeError:
        return NotImplemented


def _finish(op, t, ins, attrs):
    if state.special and (local.inference or not local.grad):
        return _unrecorded(op, t, ins)
    tracked = False
    for x in ins if op.edges == len(ins) else ins[: op.edges]:
        if x is not None and x._g is not None:
            tracked = True
            break
    if tracked and state.special and _all_inference(ins):
        tracked = False
    if tracked and dtypes.of(t._a).category >= 2:
        record(op, t, ins, attrs)
        if state.special and local.anomaly:
            note_forward(t._g)
        return t
    t._g = None
    if door.observer is not None:
        tell_untracked(op, t, ins)
    return t


def _all_inference(ins):
    """Whether an operation sees inference tensors alone: autograd does not hear of it."""
    return all(x is None or x._v is INFERENCE for x in ins)


def tell_untracked(op, output, inputs):
    """Tell who watches of a result without a node; ``op`` is an operation, or a name where numbers
    are computed without one.
    """
    if door.observer is not None:
        name = op if op.__class__ is str else op.node.__name__ if op.edges else op.name
        door.observer.untracked(name, output, inputs)


def _unrecorded(op, t, ins):
    """A result under no_grad or inference_mode. The edges of its inputs are not looked at closely:
    that could make nodes.
    """
    t._g = _borrowed(op, t)
    if local.inference and t._v is None:
        t._v = INFERENCE
    if door.observer is not None:
        if not local.inference and any(x is not None and x.requires_grad for x in ins[: op.edges]):
            door.observer.cut(ins, t, "no_grad")
        tell_untracked(op, t, ins)
    return t


def _carry_tangent(op, outs, ins, attrs):
    from .forward_mode import propagate

    propagate(op, outs, ins, attrs)


def _borrowed(op, t):
    """The edge of a result that is not recorded: a view requires grad as its base does, but no node
    made it.
    """
    view = t._view if op.view else None
    return nowhere(t._a) if view is not None and view[0]._g is not None else None


def call(op, ins, attrs=()):
    """Compute and record: the general path."""
    o = op.forward(*[None if x is None else x._a for x in ins], *attrs)
    if op.outputs:
        outs = _finish_many(op, o, ins, attrs)
        if state.special:
            if local.dual is not None:
                _carry_tangent(op, outs, ins, attrs)
            if local.between is not None:
                local.between.made(op, outs, ins, attrs)
        return outs
    t = new(Tensor)
    t._a = o if o.__class__ is ndarray else _array(o)
    t._v = t._view_ = None
    if op.view:
        _share(t, ins[0])
    if state.special:
        return finish(op, t, ins, attrs)
    t._edge = None
    if t._a.dtype.kind in "fcV":
        for x in ins if op.edges == len(ins) else ins[: op.edges]:
            if x is not None and x._g is not None:
                return record(op, t, ins, attrs)
    return t


def _array(o):
    return asarray(o) if isinstance(o, generic) else o


def _share(t, source):
    """``t`` is a view of ``source``: it takes the version cell of their base and is known to it."""
    cell = source._v
    if cell is INFERENCE:
        t._v = cell
        return
    if cell is None:
        cell = source._v = [0, None]
        t._view = (source, "default" if not state.special else _made_in())
    else:
        view = source._view
        made_in = "default" if not state.special else _made_in()
        if view is None:
            t._view = (source, made_in)
        else:
            keeps = made_in == "default" or view[1] == "inference"
            t._view = further(view if keeps else remade(view, made_in), t)
    t._v = cell
    note_view(cell, t)


class Chain(tuple):
    """The ``_view`` of a view across dtypes: base and how it was made, with the ``steps`` from the
    base: geometries of strided views, and operations that see other numbers.
    """

    def __new__(cls, view, steps):
        self = super().__new__(cls, view)
        self.steps = steps
        return self


def remade(view, made_in):
    """The same ``_view``, made in another way."""
    found = (view[0], made_in)
    return Chain(found, view.steps) if view.__class__ is Chain else found


def further(view, t):
    """The ``_view`` of ``t``, a view of a view with ``view``: a chain is one step longer."""
    if view.__class__ is not Chain:
        return view
    from .strides import geometry

    return Chain(view, (*view.steps, geometry(t._a)))


def chain(source, t, op):
    """``t`` is what ``op``, which sees other numbers, made of ``source``: it begins a chain."""
    if t._view is not None:
        from .strides import geometry

        before = source._view
        steps = () if before is None else getattr(before, "steps", (geometry(source._a),))
        t._view = Chain(t._view, (*steps, op))
    return t


def _made_in():
    """How a view that is made now may be modified later."""
    return "inference" if local.inference else "default" if local.grad else "no_grad"


def note_view(cell, t):
    """Let the storage know, weakly, that ``t`` looks at it."""
    if cell is INFERENCE:
        t._view = None
        return
    known = cell[1] or []
    if len(known) & 63 == 0:
        known = [r for r in known if r() is not None]
    known.append(reference(t))
    cell[1] = known


def _finish_many(op, arrays, ins, attrs):
    outs = []
    for o in arrays:
        t = wrap(o)
        if op.view:
            _join_views(t, ins[0])
        outs.append(t)
    outs = tuple(outs)
    if state.special and (local.inference or not local.grad):
        for t in outs:
            _unrecorded(op, t, ins)
        return outs
    tracked = any(x is not None and x._g is not None for x in ins[: op.edges])
    if not tracked or (state.special and _all_inference(ins)):
        if state.special:
            tell_untracked(op, outs, ins)
        return outs
    node = new(op.node)
    node.seq = serial()
    flags = _flags(op, outs)
    known = outs[: len(flags) - flags[::-1].index(True)] if True in flags else ()
    node.shape = tuple(o._a.shape for o in known)
    node.dtype = tuple(o._a.dtype for o in known)
    node.hooks = node.r = node.mark = None
    fill(op, node, ins, attrs)
    if op.saves_result:
        node.r = tuple((o._a, _cell(o), o._v[0]) for o in outs)
    elif op.empty:
        from .kept import pairs

        node.s = (*node.s, *pairs(o for o in outs if o._a.dtype.kind == "i"))
    for k, t in enumerate(outs):
        if flags[k]:
            t._g = Output(node, k)
    if state.special and local.saved_hooks:
        _pack_inputs(op, node)
        if node.r is not None:
            saved_names.pack_parts(node, outs)
    if state.special and local.anomaly:
        note_forward(node)
    if door.observer is not None:
        door.observer.operation(outs, ins)
    return outs


def _flags(op, outs):
    """Which of the results of one operation have a gradient. A node knows those alone, so that its
    hooks get no gradient of an index.
    """
    return [op.has_gradient(k) and o._a.dtype.kind in "fcV" for k, o in enumerate(outs)]


def _cell(t):
    if t._v is None:
        t._v = [0, None]
    return t._v


def _join_views(t, source):
    """One of several views that one operation made: it may not be modified in place."""
    _share(t, source)
    if t._view is not None:
        before = t._view[1]
        recorded = not state.special or _made_in() == "default"
        if recorded and before != "inference":
            t._view = remade(t._view, "multi")


# ---------------------------------------------------------------- fast shapes of operations
def unary(op):
    """A function for an operation of one tensor and nothing else."""
    forward, node_class = op.forward, op.node
    keeps_self, keeps_result = bool(op.saved_inputs), op.saves_result
    shaped = bool(op.shaped)

    if not op.edges:
        return _named(lambda input: call(op, (tensor_input(op, input),)), op.name)

    def function(input):
        try:
            o = forward(input._a)
        except AttributeError:
            raise not_a_tensor(op.name, "input", 1, input) from None
        if o.__class__ is not ndarray:
            o = _array(o)
        t = new(Tensor)
        t._a = o
        t._v = t._view_ = None
        if state.special:
            return finish(op, t, (input,), ())
        try:
            g = input._edge
        except AttributeError:
            g = input._g
        if g is None:
            t._edge = None
            return t
        t._edge = node = new(node_class)
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.mark = None
        node.e = (input if g is LEAF else g,)
        if keeps_self:
            v = input._v
            node.s = (input, v and v[0])
            if v is INFERENCE:
                refuse_inference()
        else:
            node.s = ()
        if keeps_result:
            t._v = v = [0, None]
            node.r = (o, v, 0)
        else:
            node.r = None
        if shaped:
            node.at = (input._a.shape,)
        if door.observer is not None:
            door.observer.operation(t, (input,))
        return t

    return _named(function, op.name)


def structured(op):
    """A function ``(tensor, *attributes)`` for an operation of one tensor whose result has storage
    of its own.
    """
    forward, node_class = op.forward, op.node
    keeps_self, keeps_result, shaped = bool(op.saved_inputs), op.saves_result, bool(op.shaped)
    empty = op.empty

    def function(input, *attrs):
        try:
            o = forward(input._a, *attrs)
        except AttributeError:
            tensor_input(op, input)
            raise
        if o.__class__ is not ndarray:
            o = _array(o)
        t = new(Tensor)
        t._a = o
        t._v = t._view_ = None
        if state.special:
            return finish(op, t, (input,), attrs)
        try:
            g = input._edge
        except AttributeError:
            g = input._g
        if g is None or o.dtype.kind not in "fcV":
            t._edge = None
            return t
        t._edge = node = new(node_class)
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.mark = node.r = None
        node.e = (input if g is LEAF else g,)
        if keeps_self:
            v = input._v
            node.s = (input, v and v[0])
            if v is INFERENCE:
                refuse_inference()
        else:
            node.s = empty
        if keeps_result:
            t._v = v = [0, None]
            node.r = (o, v, 0)
        node.at = (*attrs, input._a.shape) if shaped else attrs
        if door.observer is not None:
            door.observer.operation(t, (input,))
        return t

    return _named(function, op.name)


_VIEW = """
def make(op, forward, node_class, shaped{names}):
    def function({parameters}):
        a = input._a
        {find}
        t = new(Tensor)
        t._a = o
        cell = input._v
        if cell is None:
            cell = input._v = [0, None]
        t._v = cell
        if state.special:
            _share(t, input)
            return finish(op, t, (input,), {attrs})
        try:
            view = input._view_
        except AttributeError:
            view = None
        t._view_ = (
            (input, "default")
            if view is None
            else view
            if view.__class__ is tuple
            else further(view, t)
        )
        known = cell[1]
        if known is None:
            cell[1] = [reference(t)]
        elif known and known[-1]() is None:
            known[-1] = reference(t)  # the last view is gone, as in a loop
        else:
            note_view(cell, t)
        try:
            g = input._edge
        except AttributeError:
            g = input._g
        if g is None:
            t._edge = None
            return t
        t._edge = node = new(node_class)
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.mark = node.r = None
        node.e = (input if g is LEAF else g,)
        node.s = ()
        node.at = (*{attrs}, a.shape) if shaped else {attrs}
        if door.observer is not None:
            door.observer.operation(t, (input,))
        return t

    return function
"""


@functools.cache
def _view_maker(parameters, find, attrs, names):
    find = find.strip().replace("\n", "\n        ")
    names = "".join(f", {name}" for name in names)
    text = _VIEW.format(parameters=parameters, find=find, attrs=attrs, names=names)
    scope = {}
    exec(compile(text, "<gradviz view>", "exec"), globals(), scope)  # noqa: S102
    return scope["make"]


def viewing(op, parameters="input, *attrs", find="o = forward(a, *attrs)", attrs="attrs", **names):
    """A function ``(tensor, *attributes)`` for an operation that gives a view, saving nothing but
    sizes.

    Written out from a text, so that the busiest views can take other ``parameters`` and ``find``
    the view ``o`` of the array ``a`` without a call, and make the tuple of their ``attrs`` only
    when it is kept; ``names`` are what that text uses.
    """
    make = _view_maker(parameters, find, attrs, tuple(names))
    return _named(make(op, op.forward, op.node, bool(op.shaped), **names), op.name)


def paired(op):
    """A function ``(tensor, tensor, *attributes)`` for an operation of two tensors that neither
    broadcasts nor promotes.
    """
    forward, node_class = op.forward, op.node
    by = dict(zip(op.saved_inputs, op.saved_by, strict=True))
    for_first, for_second = by.get(0, 0), by.get(1, 0)
    plain = not op.saves_result and not op.shaped and not op.empty

    def function(input, other, *attrs):
        o = forward(input._a, other._a, *attrs)
        if o.__class__ is not ndarray:
            o = _array(o)
        t = new(Tensor)
        t._a = o
        t._v = t._view_ = None
        if state.special or not plain:
            return finish(op, t, (input, other), attrs)
        try:
            ga, gb = input._edge, other._edge
        except AttributeError:
            ga, gb = input._g, other._g
        if ga is None and gb is None:
            t._edge = None
            return t
        t._edge = node = new(node_class)
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.mark = node.r = None
        node.e = (input if ga is LEAF else ga, other if gb is LEAF else gb)
        node.s = _kept_pair(
            input, other, (ga is not None) | (gb is not None) << 1, for_first, for_second
        )
        node.at = attrs
        if door.observer is not None:
            door.observer.operation(t, (input, other))
        return t

    return _named(function, op.name)


def _kept_pair(input, other, mask, for_first, for_second):
    kept = ()
    if for_first:
        v = input._v
        kept = (input, v and v[0]) if for_first & mask else (None, None)
    if for_second:
        v = other._v
        kept += (other, v and v[0]) if for_second & mask else (None, None)
    if input._v is INFERENCE or other._v is INFERENCE:
        check_inference(kept)
    return kept


def binary(op, operator=False, strict=False, operands=operands, name=None, promoted=promoted):
    """A function for an operation of two broadcast operands, of which one may be a Python number
    unless ``operands`` says otherwise. ``name``: what messages call it.

    As an ``operator`` it leaves what it does not know to Python; a ``strict`` one takes tensors of
    one dtype and lets NumPy's ValueError through when their shapes do not fit.
    """
    if op.wide:
        operands, promoted = op.wide, promoted_wide
    wide = op.wide is not None
    forward, node_class = op.forward, op.node
    by = dict(zip(op.saved_inputs, op.saved_by, strict=True))
    first_for, second_for = by.get(0, 0), by.get(1, 0)
    saves, crossed = bool(by), (first_for, second_for) == (2, 1)
    plain = not op.saves_result and not op.shaped and not op.empty and op.edges == 2
    name = name or op.name

    def function(input, other):
        if other.__class__ is not Tensor or input.__class__ is not Tensor:
            if state.native and local.native and op.with_number and is_number(other):
                return op.with_number(input, other)
            if operator and not (isinstance(other, Tensor) or is_number(other)):
                if op.edges or not isinstance(other, ndarray):
                    return NotImplemented
                other = wrap(other)  # comparisons take arrays
            if not strict:
                input, other = operands(name, input, other)
        ad, bd = input._a, other._a
        if ad.dtype is not bd.dtype:
            ad, bd = promoted(input, other)
        try:
            o = forward(ad, bd)
        except ValueError:
            if strict:
                raise
            raise broadcast_error(ad.shape, bd.shape) from None
        except NotImplementedError:
            together(input, other)  # shapes that do not fit say so first
            raise
        if o.__class__ is not ndarray:
            o = _array(o)
        if wide and bd.dtype is _SINGLE is not ad.dtype:
            o = o.astype(ad.dtype)
        if o.ndim > 1 and bd.ndim and not strict and not ad.flags.c_contiguous:
            o = laid_out(o, ad, bd)
        t = new(Tensor)
        t._a = o
        t._v = t._view_ = None
        if state.special or not plain:
            return (_attempt if operator else finish)(op, t, (input, other), ())
        try:
            ga, gb = input._edge, other._edge
        except AttributeError:
            ga, gb = input._g, other._g
        if ga is None and gb is None:
            t._edge = None
            return t
        t._edge = node = new(node_class)
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.r = node.mark = None
        node.e = (input if ga is LEAF else ga, other if gb is LEAF else gb)
        if not saves:
            node.s = ()
        elif crossed:
            va, vb = input._v, other._v
            if gb is None:
                node.s = (None, None, other, vb and vb[0])
            elif ga is None:
                node.s = (input, va and va[0], None, None)
            else:
                node.s = (input, va and va[0], other, vb and vb[0])
            if va is INFERENCE or vb is INFERENCE:
                check_inference(node.s)
        else:
            node.s = _kept_pair(
                input, other, (ga is not None) | (gb is not None) << 1, first_for, second_for
            )
        if door.observer is not None:
            door.observer.operation(t, (input, other))
        return t

    function.renamed = functools.partial(binary, op, operands=operands, promoted=promoted)
    return _named(function, name)


def check_inference(kept):
    """RuntimeError where one of the saved tensors is an inference tensor."""
    for x in kept[::2]:
        if x is not None and x._v is INFERENCE:
            refuse_inference()


def tensor_input(op, input):
    """``input`` if it is a tensor, PyTorch's TypeError otherwise."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(op.name, "input", 1, input)
    return input


FUNCTIONS = []  # all that were made here: what stands in a block between them and their kernels


def _named(function, name):
    function.__name__ = function.__qualname__ = name
    FUNCTIONS.append(function)
    return function
