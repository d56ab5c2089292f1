"""Derivatives of functions: ``jacobian``, ``hessian``, ``vjp``, ``jvp``, ``vhp``, ``hvp``."""

from __future__ import annotations

from ..backend import xp
from ..engine.backward import grad
from ..engine.dispatch import wrap
from ..engine.modes import enable_grad
from ..engine.operation import TENSOR
from ..engine.tensor import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


# ---------------------------------------------------------------- inputs and outputs
def _as_tuple(given, name, argument):
    """(whether it was a tuple, the tuple); TypeError for anything but tensors."""
    single = not isinstance(given, tuple)
    made = (given,) if single else given
    for k, x in enumerate(made):
        if not isinstance(x, Tensor):
            what = (
                "outputs of the user-provided function given"
                if argument.startswith("outputs")
                else f"{argument} given"
            )
            if single:
                raise TypeError(
                    f"The {what} to {name} must be either a Tensor or a tuple of Tensors but the "
                    f"given {argument} has type {type(x)}."
                )
            raise TypeError(
                f"The {what} to {name} must be either a Tensor or a tuple of Tensors but the value "
                f"at index {k}{'' if argument is _OUTPUTS else f' of the given {argument}'} "
                f"has type {type(x)}."
            )
    return not single, made


_OUTPUTS = "outputs of the user-provided function"


def _prepare(inputs, create_graph, tracked=True):
    """Inputs of our own: views that keep the graph with ``create_graph``, copies otherwise."""
    if create_graph:
        return tuple(
            x.view_as(x) if x.requires_grad else x.detach().requires_grad_(tracked) for x in inputs
        )
    return tuple(x.detach().requires_grad_(tracked) for x in inputs)


def _run(func, inputs, name, strict):
    is_tuple, outputs = _as_tuple(func(*inputs), name, _OUTPUTS)
    _check_tracked(outputs, strict)
    return is_tuple, outputs


def _check_tracked(outputs, strict):
    if not strict:
        return
    for k, out in enumerate(outputs):
        if not out.requires_grad:
            raise RuntimeError(
                f"Output {k} of the user-provided function does not require gradients. The "
                "outputs must be computed in a "
                "differentiable manner from the input when running in strict "
                "mode."
            )


def _vectors(v, like, name, what):
    if v is None:
        if len(like) != 1 or like[0]._a.size != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {what} a single Tensor with a single "
                "element."
            )
        return tuple(wrap(xp.ones(x._a.shape, x._a.dtype, like=x._a)) for x in like)
    _, made = _as_tuple(v, name, "v")
    if len(made) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(made)}."
        )
    for k, (a, b) in enumerate(zip(made, like, strict=True)):
        if a._a.shape != b._a.shape:
            where = "" if len(made) == 1 else f"Entry {k} in "
            raise RuntimeError(f"{where}v has invalid size: should be {b.shape} but got {a.shape}.")
    return made


def _gradients(outputs, inputs, seeds, create_graph):
    """Like ``grad`` with None where nothing depends."""
    pairs = [
        (o, s) for o, s in zip(outputs, seeds, strict=True) if o is not None and o.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [o for o, _ in pairs],
        inputs,
        [s for _, s in pairs],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


def _fill(grads, inputs, strict, what, subject="The output"):
    out = []
    for k, (g, x) in enumerate(zip(grads, inputs, strict=True)):
        if g is None:
            if strict:
                raise RuntimeError(
                    f"{subject} of the user-provided function is independent of input {k}. This "
                    "is not allowed in strict "
                    f"mode{what}."
                )
            g = wrap(xp.zeros(x._a.shape, x._a.dtype, like=x._a))
        out.append(g)
    return tuple(out)


def _finish(values, create_graph, is_tuple):
    values = tuple(x if create_graph else x.detach() for x in values)
    return values if is_tuple else values[0]


# ---------------------------------------------------------------- products
def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, v · Jacobian): ``v`` has the shape of the outputs, the product that of the
    inputs.
    """
    with enable_grad():
        in_tuple, inputs = _as_tuple(inputs, "vjp", "inputs")
        inputs = _prepare(inputs, create_graph)
        out_tuple, outputs = _run(func, inputs, "vjp", strict)
        v = _vectors(v, outputs, "vjp", "user-provided function returns")
        products = _fill(_gradients(outputs, inputs, v, create_graph), inputs, strict, "")
    return _finish(outputs, create_graph, out_tuple), _finish(products, create_graph, in_tuple)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(outputs, Jacobian · v) by differentiating the vector-Jacobian product once more."""
    with enable_grad():
        _, inputs = _as_tuple(inputs, "jvp", "inputs")
        v = _vectors(v, inputs, "jvp", "input to the user-provided function is")
        inputs = _prepare(inputs, create_graph)
        out_tuple, outputs = _run(func, inputs, "jvp", strict)
        products = pushed(outputs, inputs, v, create_graph)
        products = _fill(products, outputs, strict, "")
    return _finish(outputs, create_graph, out_tuple), _finish(products, create_graph, out_tuple)


def pushed(outputs, inputs, v, create_graph):
    """Jacobian · v for given outputs: the derivative of w · Jacobian · v with respect to w, at w =
    0.
    """
    dummies = tuple(
        wrap(xp.zeros(o._a.shape, o._a.dtype, like=o._a)).requires_grad_() for o in outputs
    )
    pulled = _gradients(outputs, inputs, dummies, True)
    return _gradients(pulled, dummies, v, create_graph)


def _single(outputs, is_tuple, name):
    if is_tuple or len(outputs) != 1:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if outputs[0]._a.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, v · Hessian) of a function with one number as output."""
    with enable_grad():
        in_tuple, inputs = _as_tuple(inputs, "vhp", "inputs")
        v = _vectors(v, inputs, "vhp", "input to the user-provided function is")
        inputs = _prepare(inputs, create_graph)
        out_tuple, outputs = _run(func, inputs, "vhp", strict)
        _single(outputs, out_tuple, "vhp")
        first = _fill(_gradients(outputs, inputs, _ones(outputs), True), inputs, strict, "")
        products = _fill(
            _gradients(first, inputs, v, create_graph),
            inputs,
            strict,
            " when computing the hessian",
        )
    return _finish(outputs, create_graph, False), _finish(products, create_graph, in_tuple)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(output, Hessian · v) of a function with one number as output."""
    with enable_grad():
        in_tuple, inputs = _as_tuple(inputs, "hvp", "inputs")
        v = _vectors(v, inputs, "hvp", "input to the user-provided function is")
        inputs = _prepare(inputs, create_graph)
        out_tuple, outputs = _run(func, inputs, "hvp", strict)
        _single(outputs, out_tuple, "hvp")
        first = _fill(_gradients(outputs, inputs, _ones(outputs), True), inputs, strict, "")
        products = _fill(
            pushed(first, inputs, v, create_graph), inputs, strict, " when computing the hessian"
        )
    return _finish(outputs, create_graph, False), _finish(products, create_graph, in_tuple)


def _ones(outputs):
    return tuple(wrap(xp.ones(o._a.shape, o._a.dtype, like=o._a)) for o in outputs)


# ---------------------------------------------------------------- whole derivatives
def _rows(output, inputs, create_graph, strict, number):
    """One gradient an element of ``output``, stacked in its shape."""
    flat = output.reshape(-1)
    rows = []
    for k in range(output._a.size):
        got = _gradients(
            (flat[k],), inputs, (wrap(xp.ones((), output._a.dtype, like=output._a)),), create_graph
        )
        rows.append(_fill(got, inputs, strict, "", f"Output {number}"))
    shape = output._a.shape
    if not rows:
        return tuple(wrap(xp.zeros((*shape, *x._a.shape), x._a.dtype, like=x._a)) for x in inputs)
    return tuple(
        TENSOR.stack_list(list(column)).reshape(*shape, *x._a.shape)
        for column, x in zip(zip(*rows, strict=True), inputs, strict=True)
    )


def jacobian(
    func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"
):
    """The Jacobian of ``func``: for one output and one input a tensor of shape output × input;
    tuples of them otherwise.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            "function has more outputs "
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
            f'"reverse-mode". Got: {strategy}'
        )
    with enable_grad():
        in_tuple, inputs = _as_tuple(inputs, "jacobian", "inputs")
        inputs = _prepare(inputs, create_graph)
        out_tuple, outputs = _run(func, inputs, "jacobian", strict)
        table = tuple(_rows(out, inputs, create_graph, strict, k) for k, out in enumerate(outputs))
    table = tuple(_finish(row, create_graph, in_tuple) for row in table)
    return table if out_tuple else table[0]


_LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    "respect "
    "to input {} is independent of the input. This is not allowed in strict mode. You should "
    "ensure "
    "that your function is twice differentiable and that the jacobian depends on the inputs (this "
    "would be violated by a linear function for example)."
)


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
    in_tuple, inputs = _as_tuple(inputs, "hessian", "inputs")

    def gradients(*args):
        is_tuple, outputs = _run(func, args, "hessian", strict)
        if is_tuple or len(outputs) != 1:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if outputs[0]._a.size != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single "
                "element"
            )
        got = _gradients(outputs, args, _ones(outputs), True)
        got = _fill(got, args, strict, " when computing the hessian")
        for k, g in enumerate(got):
            if strict and not g.requires_grad:
                raise RuntimeError(_LINEAR.format(k))
        return got

    table = jacobian(gradients, inputs, create_graph=create_graph, strict=strict)
    return table if in_tuple else table[0][0]
