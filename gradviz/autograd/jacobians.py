"""Jacobians for ``gradcheck``: by central differences, by backward and by forward mode, whole or
along one random direction.

A whole Jacobian is a tensor (elements of the input, elements of the output). "Along a direction"
means J·u for a direction u of the input, or vᵀ·J·u with one of the output too.
"""

from __future__ import annotations

import math

from ..backend import xp, zeros_by
from ..engine.backward import grad
from ..engine.dispatch import wrap
from ..engine.dtypes import of
from ..engine.tensor import Tensor
from ..ops.random import Generator, rand
from . import check_words as words
from .forward_ad import dual_level, make_dual, unpack_dual


class GradcheckError(RuntimeError):
    """The analytical derivative is not the numerical one."""


def as_tuple(x):
    """``x`` as a tuple, alone or a list."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def is_tracked(x):
    """Whether ``x`` is an input that derivatives are checked for."""
    return isinstance(x, Tensor) and x.requires_grad


def has_derivative(x):
    """Whether ``x`` is a floating or complex tensor."""
    return isinstance(x, Tensor) and of(x._a).category >= 2


def tracked(inputs):
    """The inputs that derivatives are checked for."""
    return [x for x in inputs if is_tracked(x)]


# ---------------------------------------------------------------- central differences
def _outputs(func, inputs):
    return [t.clone() for t in as_tuple(func(*inputs))]


def _difference(func, inputs, array, step, size, at, shown):
    """The outputs' central difference when ``array[at]`` moves by ``step``, whose length is
    ``size``.
    """
    kept = xp.array(array[at], like=array)
    try:
        array[at] = kept - step
        low = _outputs(func, inputs)
        array[at] = kept + step
        high = _outputs(func, inputs)
    finally:
        array[at] = kept
    out = []
    for a, b in zip(low, high, strict=False):
        for what in ("shape", "dtype"):
            if getattr(a, what) != getattr(b, what):
                first, second = getattr(a, what), getattr(b, what)
                place = None if at is Ellipsis else at
                raise AssertionError(words.changed(what, first, second, shown, place))
        out.append(((b - a) / (2 * size)).detach().reshape(-1))
    return out


def _pushed(func, inputs, place, direction, eps, at, forward):
    """J·direction for every output; for a complex input the conjugate Wirtinger derivative, in a
    real and an imaginary direction.
    """
    array = inputs[place]._a
    pair = direction if isinstance(direction, tuple) else (direction, direction)
    real = _difference(func, inputs, array, pair[0], eps, at, eps)
    if array.dtype.kind != "c":
        if not forward and any(t.is_complex() for t in real):
            raise AssertionError("Expected ds_dx to be real-valued, not complex.")
        return real
    imaginary = _difference(func, inputs, array, pair[1] * 1j, eps, at, eps)
    return [a + b * 1j for a, b in zip(real, imaginary, strict=True)]


def numerical(func, inputs, place, outputs, eps, forward=False):
    """For each floating output its whole Jacobian by the input at ``place``."""
    array = inputs[place]._a
    wanted = [k for k, o in enumerate(outputs) if has_derivative(o)]
    made = []
    for k in wanted:
        dtype = array.dtype if array.dtype.kind == "c" else outputs[k]._a.dtype
        made.append(xp.zeros((array.size, outputs[k]._a.size), dtype, like=array))
    for row, at in enumerate(xp.ndindex(array.shape)):
        found = _pushed(func, inputs, place, eps, eps, at, forward)
        for jacobian, k in zip(made, wanted, strict=True):
            jacobian[row] = found[k]._a
    return [wrap(j) for j in made]


def numerical_along(func, inputs, place, outputs, direction, eps, forward=False):
    """J·direction for each floating output."""
    shape = inputs[place]._a.shape
    step = _scaled(direction, shape, eps)
    found = _pushed(func, inputs, place, step, eps, Ellipsis, forward)
    return [x for x, o in zip(found, outputs, strict=True) if has_derivative(o)]


def _scaled(direction, shape, eps):
    if isinstance(direction, tuple):
        return tuple(_scaled(d, shape, eps) for d in direction)
    return direction._a.reshape(shape) * eps


# ---------------------------------------------------------------- backward
def _rows(output, inputs, seeds):
    """For each input the gradients that ``seeds`` pull back; None where there is none."""
    rows = [[] for _ in inputs]
    for seed in seeds:
        got = grad(output, inputs, wrap(seed), retain_graph=True, allow_unused=True)
        for row, g in zip(rows, got, strict=True):
            row.append(None if g is None else g.clone())
    return rows


def _units(output):
    for at in xp.ndindex(output._a.shape):
        seed = zeros_by(output._a, output._a.shape)
        seed[at] = 1
        yield seed


def _stacked(rows, inputs):
    """(Jacobians, whether all sizes are right, whether all dtypes are)."""
    sizes = dtypes = True
    out = []
    for row, x in zip(rows, inputs, strict=True):
        jacobian = zeros_by(x._a, (x._a.size, len(row)))
        for k, g in enumerate(row):
            if g is None:
                continue
            if g._a.shape != x._a.shape:
                sizes = False
            elif g._a.dtype != x._a.dtype:
                dtypes = False
            jacobian[:, k] = g._a.reshape(-1)
        out.append(jacobian)
    return out, sizes, dtypes


def _same(first, second, tolerance):
    return all(
        not a.size or not abs(a - b).max() > tolerance for a, b in zip(first, second, strict=True)
    )


def analytical(inputs, output, nondet_tol, check_dtypes, direction=None):
    """For each tracked input the Jacobian of ``output`` by backward, whole or along a direction of
    the output. GradcheckError unless a second run gives the same.
    """
    wanted = tracked(inputs)
    seed = None if direction is None else direction._a.reshape(output._a.shape)
    found, reentrant, sizes, dtypes = _twice(wanted, output, nondet_tol, seed)
    if not sizes:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not dtypes and check_dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not reentrant:
        raise GradcheckError(words.NOT_REENTRANT.format(nondet_tol))
    return found


def analytical_with_marks(inputs, output, nondet_tol):
    """(Jacobians, whether a second run gives the same, whether sizes and dtypes are right)."""
    found, *marks = _twice(tracked(inputs), output, nondet_tol, None)
    return (tuple(found), *marks)


def _twice(wanted, output, nondet_tol, seed):
    first, second = (
        _rows(output, wanted, _units(output) if seed is None else [seed]) for _ in range(2)
    )
    found, sizes, dtypes = _stacked(first, wanted)
    reentrant = _same(found, _stacked(second, wanted)[0], nondet_tol)
    return [wrap(j) for j in found], reentrant, sizes, dtypes


def contracted(pulled, direction):
    """vᵀ·J·u from vᵀ·J, a tensor (elements of the input, 1)."""
    row = pulled.reshape(-1)
    if row.is_complex():
        real, imaginary = direction
        return row.real.dot(real) + 1j * row.imag.dot(imaginary)
    return row.dot(direction)


# ---------------------------------------------------------------- forward mode
def forward_columns(func, inputs, outputs, check_dtypes, directions=None):
    """jacobians[input][output] by forward mode, whole or along ``directions`` (one an input)."""
    wanted = [k for k, x in enumerate(inputs) if is_tracked(x)]
    out = []
    with dual_level():
        for n, k in enumerate(wanted):
            x = inputs[k]
            tangents = _units(x) if directions is None else [directions[n]._a.reshape(x._a.shape)]
            columns = [_tangents(func, inputs, wanted, k, t, check_dtypes) for t in tangents]
            kept = [o for o in outputs if has_derivative(o)]
            made = []
            for m, o in enumerate(kept):
                jacobian = zeros_by(o._a, (len(columns), o._a.size))
                for row, column in enumerate(columns):
                    if column[m] is not None:
                        jacobian[row] = column[m]
                made.append(wrap(jacobian if directions is None else jacobian[0]))
            out.append(made)
    return out


def _tangents(func, inputs, wanted, moving, tangent, check_dtypes):
    """The tangent of every floating output when one input moves; the others stand still."""
    duals = [
        make_dual(x.detach(), wrap(tangent.copy("K") if k == moving else xp.zeros_like(x._a)))
        if k in wanted
        else x
        for k, x in enumerate(inputs)
    ]
    out = []
    for o in as_tuple(func(*duals)):
        if not has_derivative(o):
            continue
        primal, found = unpack_dual(o)
        if check_dtypes and found is not None and primal.is_complex() != found.is_complex():
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        out.append(None if found is None else found.detach()._a.reshape(-1))
    return out


# ---------------------------------------------------------------- directions
def _direction(x, generator, real):
    dtype = of(x._a)
    if real and dtype.is_complex:
        dtype = dtype.to_real()
    found = rand(math.prod(x._a.shape), generator=generator).to(dtype)
    return found / found.norm()


def directions(inputs, outputs):
    """(one of each input, a pair for a complex one; one of each output), positive and of length
    1.
    """
    generator = Generator()
    of_inputs = []
    for x in inputs:
        first = _direction(x, generator, True)
        pair = (first, _direction(x, generator, True)) if x.is_complex() else first
        of_inputs.append(pair)
    return of_inputs, [_direction(o, generator, False) for o in outputs]


def length(direction):
    """The sum of the elements of a direction, of both of a pair."""
    if isinstance(direction, tuple):
        return sum(map(length, direction))
    return float(direction.sum())
