"""Function transforms: ``grad``, ``grad_and_value``, ``vjp``, ``jvp``, ``jacrev``, ``jacfwd``,
``hessian``, ``linearize``.

Those of reverse mode run the function on inputs of their own and differentiate it with
``create_graph``; those of forward mode open a dual level. So transforms nest. What depends on
nothing tracked outside is detached.
"""

from __future__ import annotations

import functools
import operator

from ..autograd.forward_ad import primal_of
from ..backend import xp
from ..engine import forward_mode
from ..engine.backward import grad as _grad
from ..engine.dispatch import wrap
from ..engine.dtypes import of
from ..engine.modes import enable_grad, is_recording, local, reading, transforming
from ..engine.tensor import Tensor, as_leaf
from .arguments import (
    Inputs,
    all_of,
    require_number,
    require_real,
    require_tensors,
    split_aux,
)
from .batched import over_slices, part_of, stacked
from .captured import captured
from .levels import Columns, check_randomness, running
from .tree import drawn, flatten, structure

_VJP = "vjp(f, *primals)"
_JVP = "jvp(f, primals, tangents)"


def _zeros(x):
    return over_slices(_zeros_one, x)


def _zeros_one(x):
    return wrap(xp.zeros(x._a.shape, x._a.dtype, like=x._a))


def _ones(x):
    return over_slices(lambda x: wrap(xp.ones(x._a.shape, x._a.dtype, like=x._a)), x)


def _tangent(x, level):
    """The tangent of ``x``, None where it has none."""
    return over_slices(lambda x: forward_mode.tangent_of(x, level), x)


def _primal(x):
    return over_slices(primal_of, x)


def _pull(outputs, inputs, seeds):
    """The gradients of ``outputs``, that get ``seeds``, at ``inputs``; zeros for none."""
    values = (*outputs, *inputs, *seeds)
    n, m = len(outputs), len(outputs) + len(inputs)
    return over_slices(lambda *x: _pull_one(x[:n], x[n:m], x[m:]), *values)


def _pull_one(outputs, inputs, seeds):
    pairs = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
    if not pairs or not inputs:
        return [_zeros(x) for x in inputs]
    got = _grad(
        [o for o, _ in pairs],
        inputs,
        [s for _, s in pairs],
        retain_graph=True,
        create_graph=True,
        allow_unused=True,
    )
    return [_zeros(x) if g is None else g for g, x in zip(got, inputs, strict=True)]


class differentiating:
    """A block in which a function runs whose gradients will be taken, and that may not write what
    it captured. RuntimeError inside saved-tensor hooks.
    """

    __slots__ = ("blocks", "hooks")

    def __init__(self, func):
        self.blocks = enable_grad(), transforming(), reading(captured(func))

    def __enter__(self):
        if local.saved_hooks:
            raise RuntimeError(_NO_HOOKS)
        self.hooks, local.saved_hooks_disabled = local.saved_hooks_disabled, _NO_HOOKS
        for block in self.blocks:
            block.__enter__()

    def __exit__(self, *error):
        for block in self.blocks:
            block.__exit__(*error)
        local.saved_hooks_disabled = self.hooks


_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an "
    "issue with your use case."
)


# ---------------------------------------------------------------- gradients of a number
def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives (gradient, value) of ``func``, whose output is a tensor of one
    number.
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        recorded = is_recording()
        with differentiating(func):
            inputs = Inputs(args, argnums, recorded=recorded)
            output = func(*inputs.args, **kwargs)
            output, aux = split_aux(output, has_aux, "grad_and_value(f)(*args)")
            require_number(output)
            gradients = _pull([output], inputs.leaves, [_ones(output)])
        value, aux = inputs.settle(output), inputs.settle(aux)
        found = inputs.result(gradients)
        inputs.open = False
        return (found, (value, aux)) if has_aux else (found, value)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of ``func`` with respect to the arguments at
    ``argnums``.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        found = both(*args, **kwargs)
        return (found[0], found[1][1]) if has_aux else found[0]

    return wrapper


# ---------------------------------------------------------------- products
def vjp(func, *primals, has_aux=False):
    """(output, pullback[, aux]): ``pullback(cotangents)`` gives one product with the Jacobian a
    primal.
    """
    recorded = is_recording()
    with differentiating(func):
        inputs = Inputs(primals, all_of(primals), recorded=recorded)
        output, aux = split_aux(func(*inputs.args), has_aux, _VJP)
        outputs, _ = require_tensors(output, _VJP)
    for o in outputs:
        if of(o._a).category < 2:
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {o.dtype}"
            )
    shape = drawn(output)

    def wrapper(cotangents, retain_graph=True, create_graph=None):
        if drawn(cotangents) != shape:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {drawn(cotangents)}, primal output: {shape}"
            )
        _as_flag(retain_graph)
        with enable_grad():
            found = _pull(outputs, inputs.leaves, flatten(cotangents)[0])
        return inputs.result(found)

    shown, aux = inputs.settle(output), inputs.settle(aux)
    inputs.open = False
    wrapper.__qualname__ = "_vjp_with_argnums.<locals>.wrapper"
    return (shown, wrapper, aux) if has_aux else (shown, wrapper)


def _as_flag(value):
    """What PyTorch does with a flag that it hands to C: an integer, or TypeError."""
    operator.index(value)


def _check_pairs(primals, tangents):
    """(tensors of the primals, of the tangents); RuntimeError unless they go together."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    if structure(primals) != structure(tangents):
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {structure(primals)} and tangents with structure {structure(tangents)}"
        )
    both = flatten(primals)[0], flatten(tangents)[0]
    for leaves, name in zip(both, ("primals", "tangents"), strict=True):
        if not leaves:
            raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
        for x in leaves:
            if not isinstance(x, Tensor):
                raise RuntimeError(
                    f"{_JVP}: Expected {name} to only contain Tensors, got {type(x)}"
                )
    return both


def _dual(x, tangent, level):
    return over_slices(lambda x, tangent: _dual_one(x, tangent, level), x, tangent)


def _dual_one(x, tangent, level):
    if of(x._a).category < 2:
        raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
    forward_mode.check_tangent(x, tangent)
    with forward_mode.outside(level):
        dual = x.view_as(x)
    level.keep(dual, tangent)
    return dual


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(output, Jacobian · tangents[, aux])."""
    _, moving = _check_pairs(primals, tangents)
    level = local.dual
    while level is not None:
        if level.asked:
            raise RuntimeError("Nested forward mode AD is not supported at the moment")
        level = level.outer
    if not has_aux:
        return _pushed(func, primals, moving, strict, has_aux)[:2]
    return _pushed(func, primals, moving, strict, has_aux)


def _pushed(func, primals, tangents, strict, has_aux):
    rest = iter(tangents)
    ids = captured(func)
    with transforming(), reading(ids), forward_mode.enter(asked=False) as level:
        inputs = Inputs(primals, all_of(primals), lambda x, _: _dual(x, next(rest), level), level)
        output, aux = split_aux(func(*inputs.args), has_aux, _JVP)
        outputs, rebuild = require_tensors(output, _JVP)
        moved = [_tangent(o, level) for o in outputs]
        if strict and any(t is None for t in moved):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
        moved = [_zeros(o) if t is None else t for t, o in zip(moved, outputs, strict=True)]
        shown = rebuild([_primal(o) for o in outputs])
        kept, build = flatten(aux)
        aux = build([_primal(x) if isinstance(x, Tensor) else x for x in kept])
    return shown, rebuild(moved), aux


def _directional(output, pairs):
    """The derivative of ``output`` by tensors, along a tangent for each; None without one."""
    tensors, tangents = zip(*pairs, strict=True) if pairs else ((), ())

    def one(output, *tangents):
        if not output.requires_grad:
            return None
        return forward_mode.directional(output, list(zip(tensors, tangents, strict=True)))

    return over_slices(one, output, *tangents)


class _Linear:
    """A function run once in forward mode with tangents that gradients can be taken for: its output
    tangents are linear in these, and so give Jacobian · tangents for any of them.
    """

    def __init__(self, func, args, argnums, kwargs=None, has_aux=False, ids=frozenset()):
        self.dummies = []

        def replace(x, inputs):
            self.dummies.append(as_leaf(_zeros(part_of(x)), inputs))
            return _dual(x, self.dummies[-1].clone(), level)

        with (
            enable_grad(),
            transforming(),
            reading(ids),
            forward_mode.enter(asked=False) as level,
        ):
            self.inputs = Inputs(args, argnums, replace, level)
            output, self.aux = split_aux(func(*self.inputs.args, **(kwargs or {})), has_aux, _JVP)
            outputs, self.rebuild = require_tensors(output, _JVP)
            self.moved = [_tangent(o, level) for o in outputs]
            self.outputs = [_primal(o) for o in outputs]
            self.inputs.open = False

    def push(self, tangents):
        """Jacobian · tangents for every output; a tangent None stands for zeros."""
        pairs = [(d, t) for d, t in zip(self.dummies, tangents, strict=True) if t is not None]
        with enable_grad():
            found = [None if m is None else _directional(m, pairs) for m in self.moved]
        return [
            _zeros(o) if t is None else self.inputs.settle(t)
            for o, t in zip(self.outputs, found, strict=True)
        ]


def linearize(func, *primals):
    """(output, push): ``push(*tangents)`` gives Jacobian · tangents at these primals."""
    linear = _Linear(func, primals, all_of(primals))
    expected, given = structure(primals), flatten(primals)[0]

    def push(*tangents):
        if structure(tangents) != expected:
            raise RuntimeError(
                f"Expected the tangents {structure(tangents)} to have the same argspec as the "
                f"primals {expected}"
            )
        moving = flatten(tangents)[0]
        for k, (t, x) in enumerate(zip(moving, given, strict=True)):
            for what in ("shape", "dtype"):
                if getattr(t, what) != getattr(x, what):
                    raise RuntimeError(
                        f"tangent:{k} with {what} {getattr(t, what)} in flattened pytree doesn't "
                        f"match the {what} {getattr(x, what)} of the corresponding primal."
                    )
        return linear.rebuild(linear.push(moving))

    return linear.rebuild(linear.outputs), push


# ---------------------------------------------------------------- whole derivatives
def _stack(rows, shape, like):
    if not rows:
        return wrap(xp.zeros((*shape, *like._a.shape), like._a.dtype, like=part_of(like)._a))
    return stacked(rows, 0).reshape(*shape, *like._a.shape)


def _jacobian_rows(output, inputs):
    """For every input the derivative of ``output``: output shape × input shape."""
    columns = [[] for _ in inputs]
    for k in range(output._a.size):
        seed = xp.zeros(output._a.size, output._a.dtype, like=part_of(output)._a)
        seed[k] = 1
        for column, g in zip(
            columns, _pull([output], inputs, [wrap(seed.reshape(output._a.shape))]), strict=True
        ):
            column.append(g)
    return [_stack(column, output._a.shape, x) for column, x in zip(columns, inputs, strict=True)]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of ``func``, in the nesting of its output and of the
    arguments at ``argnums``. ValueError unless ``chunk_size`` is None or positive.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        recorded = is_recording()
        with differentiating(func):
            inputs = Inputs(args, argnums, recorded=recorded)
            output, aux = split_aux(func(*inputs.args, **kwargs), has_aux, _VJP)
            outputs, rebuild = require_tensors(output, _VJP)
            require_real(inputs.leaves, "jacrev", "input")
            require_real(outputs, "jacrev", "output")
            tables = [inputs.result(_jacobian_rows(o, inputs.leaves)) for o in outputs]
            aux = inputs.settle(aux)
            inputs.open = False
        table = rebuild(tables)
        return (table, aux) if has_aux else table

    return wrapper


def _push_columns(linear, k):
    """The derivative of all outputs by input ``k``: output shape × input shape."""
    x = linear.dummies[k]
    columns = [[] for _ in linear.outputs]
    for at in range(x._a.size):
        tangent = xp.zeros(x._a.size, x._a.dtype, like=x._a)
        tangent[at] = 1
        tangents = [None] * len(linear.dummies)
        tangents[k] = wrap(tangent.reshape(x._a.shape))
        for column, t in zip(columns, linear.push(tangents), strict=True):
            column.append(t)
    out = []
    for column, o in zip(columns, linear.outputs, strict=True):
        rows = _stack(column, (x._a.size,), o)
        rows = rows.permute(*range(1, rows.dim()), 0)
        out.append(rows.reshape(*o._a.shape, *x._a.shape))
    return out


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """``jacrev``, computed column by column in forward mode."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        check_randomness(randomness)
        with transforming(), running(Columns(randomness)):
            linear = _Linear(func, args, argnums, kwargs, has_aux, captured(func))
        inputs = linear.inputs
        require_real(flatten(inputs.chosen)[0], "jacfwd", "input")
        require_real(linear.outputs, "jacfwd", "output")
        by_input = [_push_columns(linear, k) for k in range(len(linear.dummies))]
        tables = []
        for k in range(len(linear.outputs)):
            row = inputs.rebuild([columns[k] for columns in by_input])
            tables.append(row[0] if inputs.single else row)
        table = linear.rebuild(tables)
        return (table, linear.aux) if has_aux else table

    return wrapper


def hessian(func, argnums=0):
    """A function that gives the Hessian of ``func``: the Jacobian of its Jacobian."""
    outer = jacrev(jacrev(func, argnums), argnums)

    @functools.wraps(outer)
    def wrapper(*args, **kwargs):
        with transforming():  # what is printed inside has PyTorch's levels: forward over reverse
            return outer(*args, **kwargs)

    return wrapper


def functionalize(func, *, remove="mutations"):
    """``func`` itself, whose writes need not be taken out here; RuntimeError unless ``remove`` is
    "mutations" or "mutations_and_views".
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the "
            "program, and replaced with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators "
            "{view} will be replaced with their non-aliasing counterparts, {view}_copy.\n"
        )

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        return func(*args, **kwargs)

    return wrapper
