"""Derivatives compared with finite differences: ``gradcheck`` and ``gradgradcheck``."""

from __future__ import annotations

import math
import warnings

from ..backend import xp
from ..engine.backward import grad
from ..engine.dispatch import wrap
from ..engine.modes import enable_grad, no_grad
from ..engine.tensor import Tensor


class GradcheckError(RuntimeError):
    """The analytical derivative is not the numerical one."""


def _tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _tracked(tensors):
    return [t for t in tensors if isinstance(t, Tensor) and t.requires_grad]


def _check_inputs(inputs):
    if not _tracked(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for k, t in enumerate(inputs):
        if not (isinstance(t, Tensor) and t.requires_grad):
            continue
        if t._a.dtype not in (xp.float64, xp.complex128):
            warnings.warn(
                f"Input #{k} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if "
                "all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
        if t._a.size and any(
            s == 0 and n > 1 for s, n in zip(t._a.strides, t._a.shape, strict=True)
        ):
            raise RuntimeError(
                f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping "
                "to be able to compute the numerical gradients correctly. You "
                "should call .contiguous on the input "
                "before passing it to gradcheck."
            )


def _outputs(func, inputs):
    """The floating outputs of ``func``."""
    return [t for t in _tuple(func(*inputs)) if t.requires_grad or isinstance(t, Tensor)]


def _differentiable(outputs):
    return [t for t in outputs if t.requires_grad]


def _retain(t):
    """Results are inputs too; keep what they were."""
    return t._a.copy()


# ---------------------------------------------------------------- numerical
def _difference(func, inputs, place, at, step, count):
    """The outputs' central difference when one element of an input moves by ``step``."""
    array = inputs[place]._a
    kept = array[at]
    try:
        array[at] = kept + step
        plus = [_retain(t) for t in _outputs(func, inputs)[:count]]
        array[at] = kept - step
        minus = [_retain(t) for t in _outputs(func, inputs)[:count]]
    finally:
        array[at] = kept
    return [(a - b) / (2 * abs(step)) for a, b in zip(plus, minus, strict=True)]


def numerical_jacobians(func, inputs, places, shapes, eps):
    """jacobians[input][output] of shape (elements of input, elements of output); pairs (real,
    imaginary step) for complex inputs.
    """
    out = []
    with no_grad():
        for place in places:
            array = inputs[place]._a
            steps = (eps, 1j * eps) if array.dtype.kind == "c" else (eps,)
            columns = [[] for _ in shapes]
            for at in xp.ndindex(array.shape):
                moved = [_difference(func, inputs, place, at, step, len(shapes)) for step in steps]
                for k in range(len(shapes)):
                    columns[k].append([m[k].reshape(-1) for m in moved])
            sizes = [math.prod(shape) for shape in shapes]
            out.append(
                [
                    xp.array(c).reshape(array.size, len(steps), n)
                    for c, n in zip(columns, sizes, strict=True)
                ]
            )
    return out


# ---------------------------------------------------------------- analytical
def _row(output, inputs, seed):
    got = grad(output, inputs, seed, retain_graph=True, allow_unused=True)
    return [
        xp.zeros(t._a.shape, t._a.dtype) if g is None else g
        for t, g in zip(inputs, got, strict=True)
    ]


def _checked(g, t):
    if isinstance(g, Tensor):
        if g._a.dtype != t._a.dtype:
            raise GradcheckError(
                "Backward is not returning gradients of the same dtype as the input"
            )
        return g.detach()._a
    return g


def analytical_jacobian(output, inputs):
    """For every input the vector-Jacobian products of all unit vectors: (elements of output, 1 or 2
    for i times them, input).
    """
    kinds = (1, 1j) if output._a.dtype.kind == "c" else (1,)
    rows = [[] for _ in inputs]
    for at in xp.ndindex(output._a.shape):
        for unit in kinds:
            seed = xp.zeros(output._a.shape, output._a.dtype)
            seed[at] = unit
            for k, (g, t) in enumerate(zip(_row(output, inputs, wrap(seed)), inputs, strict=True)):
                rows[k].append(_checked(g, t).reshape(-1))
    return [
        xp.array(r).reshape(output._a.size, len(kinds), t._a.size)
        for r, t in zip(rows, inputs, strict=True)
    ]


def _expected(numerical, complex_output):
    """The vector-Jacobian products that follow from the differences, in the layout of
    ``analytical_jacobian``.
    """
    real_step = numerical[:, 0, :]
    imag_step = numerical[:, 1, :] if numerical.shape[1] == 2 else None
    out = []
    for unit in (1, 1j) if complex_output else (1,):
        # L = Re(conj(unit) · output); the gradient is dL/dRe + i dL/dIm
        real = (xp.conj(unit) * real_step).real
        out.append(real if imag_step is None else real + 1j * (xp.conj(unit) * imag_step).real)
    return xp.stack(out, 1).swapaxes(0, 2)


def _compare(numerical, analytical, out_index, in_index, atol, rtol):
    if xp.allclose(analytical, numerical, rtol, atol, equal_nan=False):
        return
    shown = [wrap(xp.ascontiguousarray(x[:, 0, :].T)) for x in (numerical, analytical)]
    raise GradcheckError(
        f"Jacobian mismatch for output {out_index} with respect to input "
        f"{in_index},\nnumerical:{shown[0]}\nanalytical:{shown[1]}\n"
    )


def _check_again(output, inputs, first, nondet_tol):
    second = analytical_jacobian(output, inputs)
    for a, b in zip(first, second, strict=True):
        if a.size and abs(a - b).max() > nondet_tol:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output "
                "multiple times gives different "
                "values, although analytical gradient matches numerical gradient.The tolerance for "
                "nondeterminism was "
                f"{nondet_tol}."
            )


def _check_undefined(func, outputs, inputs):
    """Zero gradients must give zero or undefined gradients."""
    seeds = [wrap(xp.zeros(t._a.shape, t._a.dtype)) for t in outputs]
    for g in grad(outputs, inputs, seeds, retain_graph=True, allow_unused=True):
        if g is not None and (g.detach()._a != 0).any():
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                'undefined or zero. Please look at "Notes '
                'about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            )


def _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad):
    inputs = _tuple(inputs)
    _check_inputs(inputs)
    places = [k for k, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
    for k in places:
        if inputs[k].is_leaf is False:
            inputs[k].retain_grad()
    with enable_grad():
        everything = _outputs(func, inputs)
    outputs = _differentiable(everything)
    if not outputs:
        _expect_zero(func, inputs, places, everything, eps)
        return
    order = [k for k, t in enumerate(everything) if t.requires_grad]
    jacobians = numerical_jacobians(func, inputs, places, [t._a.shape for t in everything], eps)
    wanted = [inputs[k] for k in places]
    for o, output in enumerate(outputs):
        analytical = analytical_jacobian(output, wanted)
        for i, a in enumerate(analytical):
            expected = _expected(jacobians[i][order[o]], output._a.dtype.kind == "c")
            _compare(expected, a, o, i, atol, rtol)
        _check_again(output, wanted, analytical, nondet_tol)
    if check_undefined_grad:
        _check_undefined(func, outputs, wanted)


def _expect_zero(func, inputs, places, outputs, eps):
    for per_input in numerical_jacobians(func, inputs, places, [t._a.shape for t in outputs], eps):
        if any((j != 0).any() for j in per_input):
            raise GradcheckError("Numerical gradient for function expected to be zero")


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Whether the derivatives of ``func`` at ``inputs`` agree with central differences of step
    ``eps``.

    ``inputs``: tensors, double precision where they require gradients. True, or GradcheckError with
    both Jacobians (False with ``raise_exception=False``); ValueError when no input requires
    gradients.
    """
    try:
        _check(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """``gradcheck`` of the gradients of ``func``: whether the second derivatives agree with
    differences of the first.
    """
    inputs = _tuple(inputs)
    with enable_grad():
        outputs = _differentiable(_outputs(func, inputs))
    seeds = (
        _random_seeds(outputs)
        if grad_outputs is None
        else [g for g in _tuple(grad_outputs) if g is not None]
    )
    count = len(inputs)

    def gradients(*args):
        args, given = args[:count], args[count:]
        args = tuple(
            x
            if isinstance(x, Tensor) and x.requires_grad or not isinstance(x, Tensor)
            else x.detach()
            for x in args
        )
        tracked = _tracked(args)
        with enable_grad():
            outs = _differentiable(_outputs(func, args))
            if not tracked:
                return tuple(args[:0])
            return tuple(
                g
                for g in grad(outs, tracked, given, create_graph=True, allow_unused=True)
                if g is not None
            )

    return gradcheck(
        gradients,
        (*inputs, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
    )


def _random_seeds(outputs):
    rng = xp.random.default_rng(0)
    seeds = []
    for t in outputs:
        values = rng.standard_normal(t._a.shape)
        if t._a.dtype.kind == "c":
            values = values + 1j * rng.standard_normal(t._a.shape)
        seeds.append(wrap(xp.asarray(values).astype(t._a.dtype)).requires_grad_())
    return seeds
