"""Derivatives compared with finite differences: ``gradcheck`` and ``gradgradcheck``."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass

from .. import autograd
from ..backend import xp, zeros_by
from ..engine.backward import grad
from ..engine.dispatch import wrap
from ..engine.dtypes import promote_types
from ..engine.operation import TENSOR
from ..engine.tensor import Tensor
from ..ops import FUNCTIONS
from . import check_words as words
from . import forward_ad, jacobians
from .forward_ad import dual_level, make_dual, unpack_dual
from .jacobians import GradcheckError, as_tuple, has_derivative, is_tracked, tracked
from .undefined import UndefinedGrad

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]


@dataclass(slots=True)
class _Limits:
    """How far two derivatives may be apart, and how they are found."""

    eps: float
    rtol: float
    atol: float
    nondet_tol: float
    check_dtypes: bool
    fast: bool


@dataclass(slots=True)
class _Part:
    """A real function to check: of a complex one its real or imaginary part."""

    func: object
    inputs: tuple
    everything: tuple
    label: str = ""
    complex: tuple = ()

    @property
    def outputs(self):
        return [o for o in self.everything if o.requires_grad]

    def mismatch(self, a, n, output, input, forward):
        named = (input if forward else output) in self.complex
        return words.mismatch(a, n, output, input, self.label if named else "", forward)


def _part(func, inputs, label="", complex=()):
    return _Part(func, tuple(inputs), as_tuple(func(*inputs)), label, tuple(complex))


# ---------------------------------------------------------------- what may be checked
def _check_inputs(inputs):
    if not tracked(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for k, t in enumerate(inputs):
        if not is_tracked(t):
            continue
        if t._a.dtype not in (xp.float64, xp.complex128):
            warnings.warn(words.not_double(k), UserWarning, stacklevel=4)
        if any(s <= 0 and n > 1 for s, n in zip(t.stride(), t.shape, strict=True)):
            raise RuntimeError(words.overlapping(k))


# ---------------------------------------------------------------- the comparison
def _close(a, b, rtol, atol):
    dtype = promote_types(a.dtype, b.dtype)
    return bool(xp.allclose(a.to(dtype)._a, b.to(dtype)._a, rtol, atol))


def _numerical(part, limits, forward):
    """jacobians[input][output], of the outputs that have a derivative."""
    places = [k for k, x in enumerate(part.inputs) if is_tracked(x)]
    return [
        jacobians.numerical(part.func, part.inputs, k, part.everything, limits.eps, forward)
        for k in places
    ]


def _of_outputs(found, part):
    """Of what was found for every floating output, that of those which require grad."""
    floating = [o for o in part.everything if has_derivative(o)]
    return [[x for x, o in zip(row, floating, strict=True) if o.requires_grad] for row in found]


def _check_zero(part, limits, forward):
    for row in _numerical(part, limits, forward):
        if any((j._a != 0).any() for j in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_slow(part, limits, forward):
    outputs = part.outputs
    if not outputs:
        _check_zero(part, limits, forward)
        return
    expected = _of_outputs(_numerical(part, limits, forward), part)
    if forward:
        found = _of_outputs(
            jacobians.forward_columns(part.func, part.inputs, part.everything, limits.check_dtypes),
            part,
        )
    for o, output in enumerate(outputs):
        rows = (
            [row[o] for row in found]
            if forward
            else jacobians.analytical(part.inputs, output, limits.nondet_tol, limits.check_dtypes)
        )
        for i, (a, n) in enumerate(zip(rows, [row[o] for row in expected], strict=True)):
            if not _close(a, n, limits.rtol, limits.atol):
                raise GradcheckError(part.mismatch(a, n, o, i, forward))


def _check_fast(part, limits, forward):
    places = [k for k, x in enumerate(part.inputs) if is_tracked(x)]
    us, vs = jacobians.directions([part.inputs[k] for k in places], part.outputs)
    pushed = [
        jacobians.numerical_along(
            part.func, part.inputs, k, part.everything, u, limits.eps, forward
        )
        for k, u in zip(places, us, strict=True)
    ]
    if not part.outputs:
        if any(x._a.size and abs(x._a).max() > limits.nondet_tol for row in pushed for x in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    pushed = _of_outputs(pushed, part)
    if forward:
        found = jacobians.forward_columns(
            part.func, part.inputs, part.everything, limits.check_dtypes, us
        )
        _compare_fast(part, limits, _of_outputs(found, part), pushed, us, None)
        return
    pulled = [
        jacobians.analytical(part.inputs, o, limits.nondet_tol, limits.check_dtypes, v)
        for o, v in zip(part.outputs, vs, strict=True)
    ]
    found = [[jacobians.contracted(row[i], u) for row in pulled] for i, u in enumerate(us)]
    expected = [[(v * x).sum() for v, x in zip(vs, row, strict=True)] for row in pushed]
    _compare_fast(part, limits, found, expected, us, vs)


def _compare_fast(part, limits, found, expected, us, vs):
    forward = vs is None
    for i, row in enumerate(expected):
        for o, n in enumerate(row):
            size = jacobians.length(us[i]) * (1.0 if forward else float(vs[o].sum()))
            a = found[i][o]
            if not _close(a, n, limits.rtol, limits.atol * size):
                told = part.mismatch(a, n, o, i, forward)
                raise GradcheckError(told + _slow_words(part, limits, i, o, forward))


def _slow_words(part, limits, i, o, forward):
    """The whole Jacobians of one pair, for the message."""
    n = _of_outputs(_numerical(part, limits, forward), part)[i][o]
    if forward:
        rows = jacobians.forward_columns(part.func, part.inputs, part.everything, False)
        a = _of_outputs(rows, part)[i][o]
    else:
        a = jacobians.analytical(part.inputs, part.outputs[o], float("inf"), False)[i]
    return words.slow(n, a, (n - a).abs().max(), _close(a, n, limits.rtol, limits.atol))


# ---------------------------------------------------------------- complex functions
def _with_outputs(func, change):
    """``func`` with ``change`` of its complex outputs."""

    def changed(*inputs):
        return tuple(change(o) if o.is_complex() else o for o in as_tuple(func(*inputs)))

    return changed


def _with_inputs(func, places, originals, join):
    """``func`` of real inputs at ``places``, each joined with the other part of the original."""

    def changed(*inputs):
        inputs = list(inputs)
        for k in places:
            inputs[k] = join(inputs[k], originals[k])
        return as_tuple(func(*inputs))

    return changed


def _backward_parts(whole):
    if not any(o.is_complex() for o in whole.everything):
        return [whole]
    places = [k for k, o in enumerate(whole.outputs) if o.is_complex()]
    return [
        _part(_with_outputs(whole.func, TENSOR.imag), whole.inputs, "imaginary", places),
        _part(_with_outputs(whole.func, TENSOR.real), whole.inputs, "real", places),
    ]


def _forward_parts(whole):
    places = [k for k, x in enumerate(whole.inputs) if isinstance(x, Tensor) and x.is_complex()]
    if not places:
        return [whole]

    def made(label, join):
        part = "imag" if label == "imaginary" else label
        inputs = [getattr(x, part) if k in places else x for k, x in enumerate(whole.inputs)]
        return _part(_with_inputs(whole.func, places, whole.inputs, join), inputs, label, places)

    return [
        made("imaginary", lambda x, original: original.real + x * 1j),
        made("real", lambda x, original: x + original.imag * 1j),
    ]


# ---------------------------------------------------------------- batches
def _zeros_like(x):
    return wrap(zeros_by(x._a, x._a.shape))


def _check_batch(one, batch, samples, complain, explanation):
    """Whether ``batch`` of stacked samples gives what ``one`` gives for each."""
    expected = [TENSOR.stack_list(list(x)) for x in zip(*map(one, samples), strict=True)]
    try:
        found = batch(TENSOR.stack_list(samples))
    except RuntimeError as error:
        raise GradcheckError(
            f"While computing batched gradients, got: {error}\n\n{explanation}"
        ) from error
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        if not xp.allclose(a._a, b._a):
            raise GradcheckError(complain(k, a, b))


def _normal(like):
    return like.detach().clone().normal_()


def _check_batched_backward(inputs, output, number):
    wanted = tracked(inputs)

    def pull(seed, batched=False):
        got = autograd.grad(output, wanted, seed, True, allow_unused=True, is_grads_batched=batched)
        return tuple(
            g if g is not None else _zeros_like(TENSOR.stack_list([x, x]) if batched else x)
            for g, x in zip(got, wanted, strict=True)
        )

    _check_batch(
        pull,
        functools.partial(pull, batched=True),
        [_normal(output) for _ in range(2)],
        functools.partial(words.not_batched, number),
        words.BATCHED,
    )


def _check_batched_forward(func, inputs):
    from ..func.mapping import older_vmap

    for place, moving in enumerate(inputs):
        if not (is_tracked(moving) and has_derivative(moving)):
            continue

        def push(tangent, place=place):
            with dual_level():
                given = [x.detach() if isinstance(x, Tensor) else x for x in inputs]
                given[place] = forward_ad.make_dual(given[place], tangent)
                pairs = [forward_ad.unpack_dual(o) for o in as_tuple(func(*given)) if o is not None]
                return tuple(FUNCTIONS["zeros_like"](p) if t is None else t for p, t in pairs)

        _check_batch(
            push,
            older_vmap(push),
            [_normal(moving) for _ in range(2)],
            lambda k, a, b: words.not_batched(k, k, a, b, True),
            words.BATCHED_FORWARD,
        )


# ---------------------------------------------------------------- zero and undefined gradients
def _check_zero_seeds(outputs, inputs, masked):
    """Zero gradients must give zeros of the right kind."""
    wanted = tracked(inputs)
    seeds = [_zeros_like(o) for o in outputs]
    for g, x in zip(grad(outputs, wanted, seeds, allow_unused=True), wanted, strict=True):
        if g is None:
            continue
        if not (xp.allclose(g._a, 0) if masked else (g._a == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if g.dtype != x.dtype:
            raise GradcheckError("grad is incorrect type")
        if g.shape != x.shape:
            raise GradcheckError("grad is incorrect size")


def _check_undefined(func, inputs):
    """Undefined gradients of all outputs, and of one at a time, must give zeros or undefined."""
    wanted = tracked(inputs)

    def outputs(undefined=None):
        found = [o for o in as_tuple(func(*inputs)) if o.requires_grad]
        return [
            UndefinedGrad.apply(o) if undefined in (None, k) else o for k, o in enumerate(found)
        ]

    everything = outputs()
    cases = [everything]
    if len(everything) > 1:
        cases += [outputs(k) for k in range(len(everything))]
    for case in cases:
        try:
            found = grad(case, wanted, [_zeros_like(o) for o in case], allow_unused=True)
        except RuntimeError as error:
            warnings.warn(words.UNDEFINED_SUPPORT, stacklevel=4)
            raise GradcheckError(words.UNDEFINED_RAISES) from error
        if any(g is not None and (g._a != 0).any() for g in found):
            warnings.warn(words.UNDEFINED_SUPPORT, stacklevel=4)
            raise GradcheckError(words.UNDEFINED_NOT_ZERO)


def _check_undefined_tangents(part):
    """An input without a tangent must count as one with zeros."""
    places = [k for k, x in enumerate(part.inputs) if is_tracked(x)]
    us, _ = jacobians.directions([part.inputs[k] for k in places], [])
    with dual_level():
        duals = list(part.inputs)
        for k, u in zip(places, us, strict=True):
            duals[k] = make_dual(duals[k].detach(), u.reshape(duals[k].shape))
        for k in places:
            still = part.inputs[k].detach()
            found = [
                [
                    unpack_dual(o).tangent
                    for o in as_tuple(part.func(*duals[:k], x, *duals[k + 1 :]))
                    if has_derivative(o)
                ]
                for x in (make_dual(still, _zeros_like(still)), still)
            ]
            for o, (a, b) in enumerate(zip(*found, strict=True)):
                if a is not None and b is not None and not xp.allclose(a._a, b._a):
                    raise GradcheckError(
                        "Mismatch in tangent values for output with index: ",
                        o,
                        " when input: ",
                        part.inputs[k],
                        " has an undefined tangent value. ",
                        " Got: ",
                        a,
                        " but expected: ",
                        b,
                    )


# ---------------------------------------------------------------- the public functions
def _require(condition, text):
    if not condition:
        raise AssertionError(text)


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
    gradients. ``fast_mode`` compares along one random direction.
    """
    _require(
        check_forward_ad or check_backward_ad,
        "Expected at least one of check_forward_ad or check_backward_ad to be True",
    )
    _require(
        check_backward_ad or not check_batched_grad,
        "Setting check_batched_grad=True requires check_backward_ad to be True",
    )
    _require(
        check_forward_ad or not check_batched_forward_grad,
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
    )
    limits = _Limits(eps, rtol, atol, nondet_tol, check_grad_dtypes, fast_mode)
    inputs = as_tuple(inputs)
    try:
        _check_inputs(inputs)
        whole = _part(func, inputs)
        outputs = whole.outputs
        check = _check_fast if fast_mode else _check_slow
        for part in _backward_parts(whole) if check_backward_ad else ():
            check(part, limits, False)
        parts = _forward_parts(whole) if check_forward_ad else ()
        for part in parts:
            check(part, limits, True)
        for part in parts if check_undefined_grad else ():
            _check_undefined_tangents(part)
        if check_batched_forward_grad:
            _check_batched_forward(func, inputs)
        if check_backward_ad:
            _check_more_of_backward(
                whole, outputs, check_batched_grad, check_undefined_grad, masked
            )
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_more_of_backward(whole, outputs, batched, undefined, masked):
    for k, output in enumerate(outputs if batched else ()):
        _check_batched_backward(whole.inputs, output, k)
    _check_zero_seeds(outputs, whole.inputs, masked)
    if undefined:
        _check_undefined(whole.func, whole.inputs)


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
    differences of the first. ``grad_outputs``: one an output; random ones when None.
    """
    _require(
        check_fwd_over_rev or check_rev_over_rev,
        "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True",
    )
    _require(
        check_rev_over_rev or not check_undefined_grad,
        "Setting check_undefined_grad=True requires check_rev_over_rev to be True",
    )
    _require(
        check_rev_over_rev or not check_batched_grad,
        "Setting check_batched_grad=True requires check_rev_over_rev to be True",
    )
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        outputs = [o for o in as_tuple(func(*inputs)) if o.requires_grad]
        seeds = tuple(_random_seed(o, gen_non_contig_grad_outputs) for o in outputs)
    else:
        seeds = as_tuple(grad_outputs)
    return gradcheck(
        _gradients_of(func, inputs, seeds),
        inputs + seeds,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _gradients_of(func, inputs, seeds):
    """A function of (inputs, seeds) that gives the gradients of ``func``; what was tracked is
    tracked again, as forward mode detaches it.
    """
    count = len(inputs)
    wanted = [is_tracked(x) for x in (*inputs, *seeds)]

    def gradients(*args):
        args = [x.requires_grad_() if w else x for x, w in zip(args, wanted, strict=True)]
        # without outputs there are no seeds, and PyTorch's slice leaves the function nothing
        count_now = count if seeds else 0
        outputs = [o for o in as_tuple(func(*args[:count_now])) if o.requires_grad]
        own = [x for x, w in zip(args[:count], wanted, strict=False) if w]
        found = grad(outputs, own, args[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradients


def _random_seed(output, scattered):
    """Random gradients for ``output``, uniform in (-1, 1); ``scattered`` ones have gaps between
    their elements.
    """
    shape = list(output.shape)
    gaps = scattered and output._a.size > 1
    if gaps:
        shape[-1] *= 2
    made = wrap(zeros_by(output._a, shape))
    for part in (made.real, made.imag) if output.is_complex() else (made,):
        part.uniform_(-1, 1)
    return (made[..., ::2] if gaps else made).requires_grad_()


# ---------------------------------------------------------------- older names
def _deprecated(name):
    warnings.warn(words.DEPRECATED.format(name), FutureWarning, stacklevel=3)


def _refuse(name, grad_out, is_complex):
    if grad_out != 1.0:
        raise ValueError(
            f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0."
        )
    if is_complex:
        raise ValueError(
            f"Expected output to be non-complex. {name} no longer supports functions that return "
            "complex outputs."
        )


def get_numerical_jacobian_wrt_specific_input(
    fn, input_idx, inputs, outputs, eps, input=None, is_forward_ad=False
):
    """For each floating output of ``fn`` its Jacobian by the input at ``input_idx``: (elements of
    the input, elements of the output), by central differences.
    """
    given = list(as_tuple(inputs))
    if input is not None:
        given[input_idx] = input
    return tuple(jacobians.numerical(fn, given, input_idx, outputs, eps, is_forward_ad))


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """The Jacobian of the first output of ``fn``, a function of one tuple, by each tracked input;
    central differences of step ``eps``. Deprecated: use ``gradcheck``.
    """
    _deprecated("get_numerical_jacobian")
    outputs = as_tuple(fn(as_tuple(inputs)))
    _refuse("get_numerical_jacobian", grad_out, any(o.is_complex() for o in outputs))
    chosen = as_tuple(inputs if target is None else target)
    return tuple(
        jacobians.numerical(lambda *_: fn(as_tuple(inputs)), chosen, k, outputs, eps)[0]
        for k, x in enumerate(chosen)
        if is_tracked(x)
    )


def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """(Jacobians of ``output`` by each tracked input, whether a second run gave the same, whether
    sizes and dtypes are right). Deprecated: use ``gradcheck``.
    """
    _deprecated("get_analytical_jacobian")
    _refuse("get_analytical_jacobian", grad_out, output.is_complex())
    return jacobians.analytical_with_marks(as_tuple(inputs), output, nondet_tol)
