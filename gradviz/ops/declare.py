"""One operation, one declaration.

    unary("sin", xp.sin, self=lambda F, g, self: g * F.conj(F.cos(self)), formula="g · cos(self)")

makes ``SinBackward0``, ``Tensor.sin``, ``Tensor.sin_``, ``gradviz.sin`` and the raw ``RAW.sin``.
The names of a
derivative's parameters decide what is saved. ``method`` and ``function`` expose hand-written
Python signatures that call
declared operations.
"""

from __future__ import annotations

from ..backend import xp
from ..engine import dispatch, dtypes, views
from ..engine.arguments import by_place, refusal
from ..engine.dispatch import Tensor
from ..engine.operands import common_dtype, not_a_tensor, operands, tensors
from ..engine.operation import RAW, TENSOR, Op
from ..engine.saved_names import give_saved_names
from .formulas import formula_of
from .kernels import checked
from .mistakes import explained
from .no_tangents import NO_TANGENTS
from .out import called_with_out

FUNCTIONS = {}
OPERATIONS = {}


def declare(
    name,
    forward,
    inputs="self",
    attrs="",
    *,
    node=None,
    formula="",
    view=False,
    outputs=None,
    joint=None,
    also=None,
    hidden=(),
    edges=None,
    **derivatives,
):
    """Declare an operation with attributes; returns ``function(*tensors, *attributes)`` with no
    checks of its own.
    """
    op = _op(
        name, forward, inputs, attrs, node, formula, view, outputs, joint, derivatives, also, hidden
    )
    if edges is not None:
        op.edges = edges  # of a joint derivative, when the last inputs have none
    function = _caller(op)
    function.op = op
    setattr(RAW, name, op.forward)
    setattr(TENSOR, name, function)
    return function


def _caller(op):
    n = len(op.input_names)
    if not op.outputs and n == 1 and op.edges:
        if op.view:
            return dispatch.viewing(op)
        return dispatch.structured(op) if op.attr_names or op.empty else dispatch.unary(op)
    if not op.outputs and not op.view and n == op.edges == 2:
        return dispatch.paired(op) if op.attr_names else dispatch.binary(op, strict=True)

    def function(*args):
        return dispatch.call(op, args[:n], args[n:])

    function.__name__ = function.__qualname__ = op.name
    return function


def variant(op, also, **derivatives):
    """The operation ``op`` under the same name with other derivatives."""
    node, made = op.node.__name__, (op.view, op.outputs)
    found = Op(
        op.name,
        op.forward,
        op.input_names,
        op.attr_names,
        derivatives,
        None,
        node,
        op.formula,
        *made,
    )
    found.also, found.hidden, found.empty = also, op.hidden, op.empty
    give_saved_names(found)
    return found


def into_zeros(name, forward, index="", attrs="", *, node, self, also=None, hidden=()):
    """Declare an operation that puts the elements of its first tensor into zeros. PyTorch's node
    has an edge for these, the first, which leads nowhere; ``index``: the tensors that say where.
    """
    made = declare(
        name,
        lambda zeros, *given: forward(*given),
        f"zeros self {index}",
        attrs,
        node=node,
        also=also,
        hidden=hidden,
        self=self,
    )
    tensors = len(made.op.input_names) - 1
    setattr(RAW, name, forward)
    setattr(
        TENSOR,
        name,
        lambda *given: dispatch.call(made.op, (None, *given[:tensors]), given[tensors:]),
    )


def unary(
    name, forward, *, node=None, formula="", inplace=True, expose=True, also=None, **derivatives
):
    """Declare an elementwise operation of one tensor; ``inplace="method"``: its in-place twin is no
    function.
    """
    op = _op(name, forward, "self", "", node, formula, False, None, None, derivatives, also)
    function = dispatch.unary(op)
    function.op = op
    setattr(RAW, name, op.forward)
    setattr(TENSOR, name, function)
    if expose:
        public(name, _with_out(name, function, op))
        setattr(Tensor, name, explained(name, function, method=True))
        if inplace:
            _inplace_unary(name, op, inplace != "method")
    return function


def binary(
    name,
    forward,
    inputs="self other",
    *,
    node=None,
    formula="",
    inplace=True,
    expose=True,
    numbers=True,
    also=None,
    by_number=(),
    wide=None,
    **derivatives,
):
    """Declare a broadcasting operation of two tensors or numbers; ``numbers=False``: a person may
    give tensors only. ``by_number``: what its node is called where the first, or the second, is a
    number. ``wide``: reads the operands where, beside half precision, a number stays in single
    precision.
    """

    def called(node):
        op = _op(name, forward, inputs, "", node, formula, False, None, None, derivatives, also)
        op.wide = wide
        return op

    op = called(node)
    function = dispatch.binary(op)
    if by_number:
        function = _told_apart(function, *[dispatch.binary(called(node)) for node in by_number])
    function.op = op
    setattr(RAW, name, op.forward)
    setattr(TENSOR, name, function)
    if expose:
        shown = function if numbers else dispatch.binary(op, operands=tensors)
        shown.op = op
        public(name, _with_out(name, shown, op))
        setattr(Tensor, name, explained(name, shown, method=True))
        if inplace:
            _inplace_binary(name, op, operands if numbers else tensors)
    return function


def _told_apart(both, first, second):
    """``both`` for two tensors, ``first`` or ``second`` where that one is a number."""

    def function(input, other):
        if not isinstance(input, Tensor):
            return first(input, other)
        return (both if isinstance(other, Tensor) else second)(input, other)

    function.__name__ = function.__qualname__ = both.__name__
    return function


# These keep indices, in PyTorch as saved tensors, so that a second backward finds them freed.
_KEEP_INDICES = frozenset(
    "IndexBackward0 IndexPutBackward0 IndexPutImplBackward0 MaxBackward0 MinBackward0 "
    "MedianBackward1 NanmedianBackward1 ModeBackward0 SortBackward0 "
    "SortBackward1 TopkBackward0 KthvalueBackward0 CummaxBackward0 CumminBackward0 "
    "EmbeddingBackward0 NllLossBackward0 NllLoss2DBackward0 MaxPool2DWithIndicesBackward0 "
    "MaxPool3DWithIndicesBackward0 AdaptiveMaxPool2DBackward0 AdaptiveMaxPool3DBackward0 "
    "FractionalMaxPool2DBackward0 FractionalMaxPool3DBackward0 MaxUnpool2DBackward0 "
    "MaxUnpool3DBackward0".split()
)


def _op(
    name,
    forward,
    inputs,
    attrs,
    node,
    formula,
    view,
    outputs,
    joint,
    derivatives,
    also=None,
    hidden=(),
):
    inputs, attrs = tuple(inputs.split()), tuple(attrs.split())
    unknown = set(derivatives) - set(inputs)
    if unknown:
        raise TypeError(f"{name} has no input {sorted(unknown)}")
    node = node or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
    op = Op(
        name,
        checked(name, forward),
        inputs,
        attrs,
        derivatives,
        joint,
        node,
        formula or formula_of(name),
        view,
        outputs,
    )
    op.also, op.hidden = also or {}, hidden
    give_saved_names(op)
    op.empty = (None, None) if node in _KEEP_INDICES else ()
    if node == "NotImplemented":
        op.node.name = lambda self: "torch::autograd::NotImplemented"
    op.no_tangents = NO_TANGENTS.get(node)
    OPERATIONS[node] = op
    return op


def public(name, function):
    """Make ``gradviz.<name>``."""
    FUNCTIONS[name] = explained(name, function)
    return function


def method(function, name=None):
    """Make ``Tensor.<name>`` and ``gradviz.<name>`` of a function whose first parameter is the
    tensor.
    """
    only_method(function, name)
    return only_function(function, name)


def only_method(function, name=None):
    """Make ``Tensor.<name>`` alone."""
    name = name or function.__name__
    setattr(Tensor, name, explained(name, function, method=True))
    return function


def explain_own_methods():
    """PyTorch's words for the methods that the class of tensors has by itself, too."""
    for name in _OWN.split():
        setattr(Tensor, name, explained(name, Tensor.__dict__[name], method=True))


_OWN = (
    "ndimension nelement requires_grad_ retain_grad detach detach_ is_inference element_size "
    "stride is_contiguous is_floating_point is_complex is_signed is_conj is_neg"
)


def only_function(function, name=None):
    """Make ``gradviz.<name>`` alone."""
    return public(name or function.__name__, function)


def alias(new_name, old_name):
    """A second name of a method and function."""
    if old_name in FUNCTIONS:
        public(new_name, _renamed(FUNCTIONS[old_name], new_name))
    if hasattr(Tensor, old_name):
        function = _renamed(getattr(Tensor, old_name), new_name)
        setattr(Tensor, new_name, explained(new_name, function, method=True))


def _renamed(function, name):
    function = getattr(function, "__wrapped__", function)
    if not hasattr(function, "renamed"):
        return function
    renamed = function.renamed(name=name)
    if hasattr(function, "op"):
        renamed.op = function.op
    return renamed


def _with_out(name, function, op):
    def public_function(*args, out=None, **kwargs):
        if kwargs:
            args = by_place(name, args, kwargs)
        if out is not None:
            return called_with_out(name, public_function, args, {"out": out}, False)
        try:
            return function(*args)
        except TypeError as error:
            raise refusal(name, args, {}) or error from None

    public_function.recorded = op.edges and op.name
    public_function.renamed = lambda name: _with_out(name, function, op)
    public_function.__name__ = public_function.__qualname__ = name
    public_function.__doc__ = (
        f"``{name}`` of its arguments, elementwise; ``out=`` receives the result."
    )
    return public_function


def _inplace_unary(name, op, exposed):
    def function(self):
        return views.write(op, (self,))

    function.__name__ = function.__qualname__ = f"{name}_"
    function.__doc__ = f"In-place ``{name}``."
    setattr(Tensor, f"{name}_", explained(f"{name}_", function, method=True))
    if exposed:
        public(f"{name}_", function)


def _inplace_binary(name, op, operands):
    def named(name):
        def function(self, other):
            self, other = (op.wide or operands)(name, self, other)
            return views.write(op, (self, cast_operand(op, self, other)))

        function.renamed = named
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"In-place ``{op.name}``."
        return function

    setattr(Tensor, f"{name}_", explained(f"{name}_", named(f"{name}_"), method=True))


def _result_dtype(op, dtype):
    """What ``op`` makes of two operands of ``dtype``; that itself where it makes nothing."""
    none = xp.empty(0, dtype)
    try:
        return op.forward(none, none).dtype
    except (NotImplementedError, RuntimeError):
        return dtype


def cast_operand(op, self, other):
    """An operand of the in-place ``op`` in the dtype of ``self``; RuntimeError where the result
    would not fit. Of a wide one, a single number beside half precision keeps its own.
    """
    own = self._a.dtype
    if other._a.dtype is own:
        return other
    if op.wide and own.itemsize == 2 and not other._a.ndim and other._a.dtype.kind == "f":
        return other
    wanted = common_dtype(self, other)
    if not dtypes.can_cast(wanted, self.dtype):
        views.check_target(self, (other,))
        views.check_cast(_result_dtype(op, wanted.np), own)
    kept = other._g is not None or dispatch.state.special and dispatch.local.dual is not None
    return other if kept else dispatch.wrap(other._a.astype(own))


def tensor_argument(name, value, argument="input", position=1):
    """``value`` if it is a tensor, PyTorch's TypeError otherwise."""
    if not isinstance(value, Tensor):
        raise not_a_tensor(name, argument, position, value)
    return value
