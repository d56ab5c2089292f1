"""Derivatives of functions: ``jacobian``, ``hessian``, ``vjp``, ``jvp``, ``vhp``, ``hvp``."""

from __future__ import annotations

from ..backend import xp, zeros_by
from ..engine.backward import grad
from ..engine.construct import mark
from ..engine.dispatch import wrap
from ..engine.modes import enable_grad, is_grad_enabled, set_grad_enabled
from ..engine.operation import TENSOR
from ..engine.tensor import Tensor
from .forward_ad import dual_level, make_dual, unpack_dual

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_OUTPUTS = "outputs of the user-provided function"
_NO_TENSOR = "Expected at least one tensor"
_NOT_STRICT = "This is not allowed in strict mode"

# What strict mode says of a result that does not depend on what it should, by place.
_NO_GRAPH = {
    "outputs": (
        "Output {} of the user-provided function does not require gradients. The outputs must be "
        "computed in a differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {} is independent of the inputs of the user-provided "
        f"function. {_NOT_STRICT}."
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with "
        f"respect to input {{}} is independent of the input. {_NOT_STRICT}. You should ensure that "
        "your function is twice differentiable and that the jacobian depends on the inputs (this "
        "would be violated by a linear function for example)."
    ),
}
_INDEPENDENT = (
    f"The output of the user-provided function is independent of input {{}}. {_NOT_STRICT}."
)
_UNDEFINED = {
    "back": _INDEPENDENT,
    "back_trick": (
        "The gradient with respect to the input is independent of entry {} in the grad_outputs "
        "when using the double backward trick to compute forward mode gradients. "
        f"{_NOT_STRICT}."
    ),
    "double_back": (
        f"The jacobian of the user-provided function is independent of input {{}}. {_NOT_STRICT}."
    ),
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {} in the "
        f"grad_jacobian. {_NOT_STRICT} as it prevents from using the double backward trick to "
        "replace forward mode AD."
    ),
}
_CONSTANT = (
    f"The {{}} of the user-provided function is independent of input {{}}. {_NOT_STRICT} when "
    "create_graph=True."
)
_STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
_MORE = (
    ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more '
    'performant. Otherwise, prefer to use "reverse-mode".'
)


def _jacobian_refuses(first, second, without):
    return (
        f"torch.autograd.functional.jacobian: `{first}` and `{second}` are not supported together"
        f"{without}"
    )


# ---------------------------------------------------------------- inputs and outputs
def _as_tuple(given, what, name):
    """(whether it was a tuple, the tuple); TypeError for anything but tensors."""
    several = isinstance(given, tuple)
    made = given if several else (given,)
    for k, x in enumerate(made):
        if not isinstance(x, Tensor):
            which = f"value at index {k}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the "
                f"{which} has type {type(x)}."
            )
    return several, made


def _prepare(inputs, create_graph, tracked=True):
    """Inputs of our own: views that keep the graph with ``create_graph``, copies otherwise."""
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(tracked)
        for x in inputs
    )


def _require_graph(tensors, place, strict):
    for k, t in enumerate(tensors if strict else ()):
        if t is None:
            raise RuntimeError(_INDEPENDENT.format(k))
        if not t.requires_grad:
            raise RuntimeError(_NO_GRAPH[place].format(k))


def _run(func, inputs, name, strict):
    several, outputs = _as_tuple(func(*inputs), _OUTPUTS, name)
    _require_graph(outputs, "outputs", strict)
    return several, outputs


def _vector(v, like, several, create_graph, name, subject):
    """The vector ``v`` for tensors of the shapes of ``like``; None for one tensor of one
    element.
    """
    if v is None:
        if len(like) != 1 or like[0]._a.size != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {subject} a single Tensor with a single "
                "element."
            )
        return None
    v = _prepare(_as_tuple(v, "v", name)[1], create_graph, False)
    if len(v) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            if several
            else "The given v should contain a single Tensor."
        )
    for k, (a, b) in enumerate(zip(v, like, strict=True)):
        if a._a.shape != b._a.shape:
            entry = f"Entry {k} in " if several else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {b.shape} but got {a.shape}.")
    return v


_TO_FUNCTION = "input to the user-provided function is"
_OF_FUNCTION = "user-provided function returns"


def _zeros(x):
    return wrap(zeros_by(x._a, x._a.shape))


def _gradients(outputs, inputs, seeds, create_graph, batched=False, retain=None):
    """Like ``grad``, with None for outputs without a graph and None where nothing depends."""
    seeds = (None,) * len(outputs) if seeds is None else seeds
    pairs = [
        (o, s) for o, s in zip(outputs, seeds, strict=True) if o is not None and o.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [o for o, _ in pairs],
        inputs,
        [s for _, s in pairs],
        retain_graph=retain,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


def _fill(grads, inputs, strict, create_graph, stage):
    out = []
    for k, (g, x) in enumerate(zip(grads, inputs, strict=True)):
        if strict and g is None:
            raise RuntimeError(_UNDEFINED[stage].format(k))
        if strict and create_graph and not g.requires_grad:
            order = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(_CONSTANT.format(order, k))
        out.append(_zeros(x) if g is None else g)
    return tuple(out)


def _finish(values, create_graph, several):
    values = tuple(x if create_graph else x.detach() for x in values)
    return values if several else values[0]


# ---------------------------------------------------------------- products
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, v · Jacobian): ``v`` has the shape of the outputs, the product that of the
    inputs.
    """
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _prepare(inputs, create_graph)
        several, outputs = _run(func, inputs, "vjp", strict)
        v = _vector(v, outputs, several, create_graph, "vjp", _OF_FUNCTION)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _gradients(outputs, inputs, v, create_graph)
        products = _fill(found, inputs, strict, create_graph, "back")
    return (
        _finish(outputs, create_graph, several),
        _finish(products, create_graph, several_in),
    )


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, Jacobian · v) by differentiating the vector-Jacobian product once more."""
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _prepare(inputs, create_graph)
        v = _vector(v, inputs, several_in, create_graph, "jvp", _TO_FUNCTION)
        several, outputs = _run(func, inputs, "jvp", strict)
        dummies = tuple(mark(_zeros(o), True) for o in outputs)
        pulled = _gradients(outputs, inputs, dummies, True)
        _require_graph(pulled, "grad_inputs", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _gradients(pulled, dummies, v, create_graph)
        products = _fill(found, outputs, strict, create_graph, "back_trick")
    return (
        _finish(outputs, create_graph, several),
        _finish(products, create_graph, several),
    )


def _first_gradients(func, inputs, v, create_graph, strict, name):
    """(whether there were several inputs, the inputs, v, the output, the gradients), for ``vhp``
    and ``hvp``.
    """
    several_in, inputs = _as_tuple(inputs, "inputs", name)
    inputs = _prepare(inputs, create_graph)
    v = _vector(v, inputs, several_in, create_graph, name, _TO_FUNCTION)
    several, outputs = _run(func, inputs, name, strict)
    _require_number(several, outputs[0], name)
    first = _gradients(outputs, inputs, None, True)
    _require_graph(first, "jacobian", strict)
    return several_in, inputs, v, outputs, first


def _require_number(several, output, name):
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if output._a.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, v · Hessian) of a function with one number as output."""
    with enable_grad():
        several, inputs, v, outputs, first = _first_gradients(
            func, inputs, v, create_graph, strict, "vhp"
        )
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _gradients(first, inputs, v, create_graph)
        products = _fill(found, inputs, strict, create_graph, "double_back")
    return _finish(outputs, create_graph, False), _finish(products, create_graph, several)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, Hessian · v) of a function with one number as output."""
    with enable_grad():
        several, inputs, v, outputs, first = _first_gradients(
            func, inputs, v, create_graph, strict, "hvp"
        )
        dummies = tuple(_zeros(x).requires_grad_() for x in inputs)
        second = _gradients(first, inputs, dummies, True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _gradients(second, dummies, v, create_graph)
        products = _fill(found, inputs, strict, create_graph, "double_back_trick")
    return _finish(outputs, create_graph, False), _finish(products, create_graph, several)


# ---------------------------------------------------------------- whole derivatives
def _rows(output, inputs, create_graph, strict, number):
    """One gradient an element of ``output``, stacked in its shape."""
    flat = output.reshape(-1)
    columns = [[] for _ in inputs]
    for k in range(output._a.size):
        got = _gradients((flat[k],), inputs, None, create_graph, retain=True)
        for i, (column, g, x) in enumerate(zip(columns, got, inputs, strict=True)):
            if strict and g is None:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {i}. "
                    f"{_NOT_STRICT}."
                )
            if strict and create_graph and not g.requires_grad:
                raise RuntimeError(_CONSTANT.format("jacobian", number))
            column.append(_zeros(x) if g is None else g)
    shape = output._a.shape
    return tuple(
        TENSOR.stack_list(column).reshape(*shape, *x._a.shape)
        for column, x in zip(columns, inputs, strict=True)
    )


def _basis(tensors):
    """Unit vectors for all elements of all tensors, a batch (all elements, elements) a tensor."""
    if not tensors:
        raise AssertionError(_NO_TENSOR)
    total = sum(t._a.size for t in tensors)
    out, at = [], 0
    for t in tensors:
        chunk = zeros_by(t._a, (total, t._a.size))
        chunk[at : at + t._a.size] = xp.eye(t._a.size, dtype=t._a.dtype, like=t._a)
        out.append(wrap(chunk))
        at += t._a.size
    return out


def _all_rows(outputs, inputs, create_graph):
    """table[output][input] from one batch of gradients."""
    flat = [o.reshape(-1) for o in outputs]
    sizes = [o._a.size for o in outputs]
    found = _gradients(flat, inputs, _basis(outputs), create_graph, batched=True)
    table = [[] for _ in outputs]
    for g, x in zip(found, inputs, strict=True):
        if g is None:
            g = _zeros(x).expand(sum(sizes), *x._a.shape)
        for row, part, o in zip(table, g.split(sizes), outputs, strict=True):
            row.append(part.view((*o._a.shape, *x._a.shape)))
    return table


def _forward_table(func, inputs):
    """(whether there were several outputs, table[output][input]) by forward mode."""
    columns, outputs, several = [], (), False
    for k, basis in enumerate(_basis((x,))[0] for x in inputs):
        moved = []
        for tangent in basis:
            several, outputs, tangents = _push(func, inputs, k, tangent)
            moved.append(tangents)
        columns.append([TENSOR.stack_list(list(c)) for c in zip(*moved, strict=True)])
    return several, [
        [
            _last(column[n]).reshape(*o._a.shape, *x._a.shape)
            for column, x in zip(columns, inputs, strict=True)
        ]
        for n, o in enumerate(outputs)
    ]


def _last(jacobian):
    """The first dimension moved behind the others."""
    return jacobian.permute(*range(1, jacobian.dim()), 0)


def _push(func, inputs, moving, tangent):
    """(whether there were several outputs, the outputs, their tangents) as one input moves."""
    with dual_level():
        duals = [
            make_dual(x, tangent.view_as(x) if k == moving else _zeros(x))
            for k, x in enumerate(inputs)
        ]
        several, outputs = _as_tuple(func(*duals), "outputs", None)
        pairs = [unpack_dual(o) for o in outputs]
        tangents = [_zeros(p) if t is None else t for p, t in pairs]
        return several, [p for p, _ in pairs], tangents


def _jacobian_forward(func, inputs, create_graph, strict, vectorize):
    if create_graph:
        raise NotImplementedError(
            _jacobian_refuses(
                "create_graph=True",
                'strategy="forward-mode"',
                ' (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.',
            )
        )
    if strict:
        raise RuntimeError(
            _jacobian_refuses(
                "strict=True",
                'strategy="forward-mode"',
                ' (yet). Please either set `strict=False` or `strategy="reverse-mode"`.',
            )
        )
    several_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
    if vectorize and not inputs:
        raise AssertionError(_NO_TENSOR)
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
            "implemented for `vectorize=True`."
        )
    several, table = _forward_table(func, inputs)
    return _shaped(table, several, several_in)


def _shaped(table, several, several_in):
    if not several_in:
        table = tuple(row[0] for row in table)
    return table if several else table[0]


def jacobian(
    func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"
):
    """The Jacobian of ``func``: for one output and one input a tensor of shape output × input;
    tuples of them otherwise. AssertionError for an unknown ``strategy``, RuntimeError or
    NotImplementedError for options that exclude each other.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(_STRATEGY + _MORE)
    if strategy == "forward-mode":
        return _jacobian_forward(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _prepare(inputs, create_graph)
        several, outputs = _run(func, inputs, "jacobian", strict)
        if not (outputs or vectorize):
            raise IndexError("tuple index out of range")
        if vectorize and strict:
            raise RuntimeError(
                _jacobian_refuses(
                    "strict=True",
                    "vectorized=True",
                    ". Please either set `strict=False` or `vectorize=False`.",
                )
            )
        table = (
            _all_rows(outputs, inputs, create_graph)
            if vectorize
            else [_rows(o, inputs, create_graph, strict, k) for k, o in enumerate(outputs)]
        )
    return _shaped(tuple(_finish(row, create_graph, True) for row in table), several, several_in)


def hessian(
    func,
    inputs,
    create_graph=False,
    strict=False,
    vectorize=False,
    outer_jacobian_strategy="reverse-mode",
):
    """The Hessian of a function with one number as output: a tensor of shape input × input, or a
    tuple of tuples of them.
    """
    several_in, inputs = _as_tuple(inputs, "inputs", "hessian")
    forward = outer_jacobian_strategy == "forward-mode"
    if not forward and outer_jacobian_strategy != "reverse-mode":
        raise AssertionError(_STRATEGY)

    def number(*args):
        several, outputs = _run(func, args, "hessian", strict)
        _require_number(several, outputs[0], "hessian")
        return outputs[0].squeeze()

    def gradients(*args):
        if forward:
            args = tuple(x.requires_grad_() for x in args)
        first = jacobian(number, args, create_graph=True)
        _require_graph(first, "jacobian", strict)
        return first

    table = jacobian(
        gradients,
        inputs,
        create_graph=create_graph,
        strict=strict,
        vectorize=vectorize,
        strategy=outer_jacobian_strategy,
    )
    return table if several_in else table[0][0]
