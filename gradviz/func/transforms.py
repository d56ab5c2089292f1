"""Function transforms: ``grad``, ``grad_and_value``, ``vjp``, ``jvp``, ``jacrev``, ``jacfwd``,
``hessian``, ``linearize``.

Each runs the function on inputs of its own and differentiates it with ``create_graph``, so that
transforms nest; what depends on
nothing tracked outside is detached.
"""

from __future__ import annotations

import functools

from ..autograd.functional import pushed
from ..autograd.leaves import depends_only_on
from ..backend import xp
from ..engine.backward import grad as _grad
from ..engine.dispatch import wrap
from ..engine.modes import enable_grad
from ..engine.operation import TENSOR
from ..engine.tensor import Tensor
from .tree import flatten, map_tree


# ---------------------------------------------------------------- inputs of our own
def _own(tensor):
    if not isinstance(tensor, Tensor):
        return tensor
    if tensor.requires_grad:
        return tensor.view_as(tensor)
    return (
        tensor.detach().requires_grad_()
        if tensor.is_floating_point() or tensor.is_complex()
        else tensor
    )


class _Inputs:
    """The arguments of a call, those at ``argnums`` replaced by tracked ones."""

    def __init__(self, args, argnums):
        self.single = isinstance(argnums, int)
        self.places = [self._place(k, len(args)) for k in ((argnums,) if self.single else argnums)]
        self.args = [map_tree(_own, a) if k in self.places else a for k, a in enumerate(args)]
        self.leaves, self.rebuild = flatten(tuple(self.args[k] for k in self.places))
        self.fresh = [x for x in self.leaves if isinstance(x, Tensor) and x.is_leaf]

    @staticmethod
    def _place(k, count):
        if not -count <= k < count:
            raise RuntimeError(f"Got argnum={k}, but only {count} positional inputs")
        return k % count

    def settle(self, tree):
        """``tree`` without the graph, where that hangs on our own inputs only."""
        return map_tree(lambda t: settle(t, self.fresh), tree)

    def result(self, leaves):
        made = self.settle(self.rebuild(list(leaves)))
        return made[0] if self.single else made


def settle(tensor, own):
    """``tensor``, detached when no tracked leaf but ``own`` takes part in it."""
    if isinstance(tensor, Tensor) and tensor.requires_grad and depends_only_on(tensor, own):
        return tensor.detach()
    return tensor


def _zeros(x):
    return wrap(xp.zeros(x._a.shape, x._a.dtype, like=x._a))


def _ones(x):
    return wrap(xp.ones(x._a.shape, x._a.dtype, like=x._a))


def _pull(outputs, inputs, seeds):
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


# ---------------------------------------------------------------- gradients of a number
def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives (gradient, value) of ``func``, whose output is a tensor of one
    number.
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with enable_grad():
            inputs = _Inputs(args, argnums)
            output = func(*inputs.args, **kwargs)
            output, aux = _split_aux(output, has_aux, "grad_and_value")
            _check_scalar(output)
            gradients = _pull([output], inputs.leaves, [_ones(output)])
        value = inputs.settle(output)
        found = inputs.result(gradients)
        return (found, (value, inputs.settle(aux))) if has_aux else (found, value)

    return wrapper


def _split_aux(output, has_aux, name):
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux "
            "is True"
        )
    return output


def _check_scalar(output):
    start = "grad_and_value(f)(*args): Expected f(*args) to return a"
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{start} Tensor, got {type(output)}")
    if output._a.ndim:
        raise RuntimeError(
            f"{start} scalar Tensor, got tensor with {output._a.ndim} dims. Maybe you wanted to "
            "use the vjp or jacrev APIs instead?"
        )


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
    with enable_grad():
        inputs = _Inputs(primals, tuple(range(len(primals))))
        output, aux = _split_aux(func(*inputs.args), has_aux, "vjp")
        outputs, rebuild = flatten(output)

    def pullback(*cotangents, retain_graph=True, create_graph=None):
        seeds, _ = flatten(cotangents[0] if len(cotangents) == 1 else cotangents)
        with enable_grad():
            found = _pull(outputs, inputs.leaves, seeds)
        return inputs.result(found)

    shown = inputs.settle(output)
    return (shown, pullback, inputs.settle(aux)) if has_aux else (shown, pullback)


def _push(outputs, inputs, tangents):
    """Jacobian · tangents for every output."""
    tracked = [o for o in outputs if o.requires_grad]
    if not tracked:
        return [_zeros(o) for o in outputs]
    found = iter(pushed(tuple(tracked), tuple(inputs), tuple(tangents), True))
    return [
        (_zeros(o) if (got := next(found)) is None else got) if o.requires_grad else _zeros(o)
        for o in outputs
    ]


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(output, Jacobian · tangents[, aux])."""
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid "
            "to call f(*primals)."
        )
    with enable_grad():
        inputs = _Inputs(primals, tuple(range(len(primals))))
        output, aux = _split_aux(func(*inputs.args), has_aux, "jvp")
        outputs, rebuild = flatten(output)
        moved = _push(outputs, inputs.leaves, flatten(tangents)[0])
    result = inputs.settle(output), rebuild([_settle_pushed(t, inputs.fresh) for t in moved])
    return (*result, inputs.settle(aux)) if has_aux else result


def _settle_pushed(tensor, own):
    """Pushed tangents hang on zero vectors of ours too: these do not count as tracked."""
    if not tensor.requires_grad:
        return tensor
    from ..autograd.leaves import leaves

    foreign = [x for x in leaves(tensor) if not any(x is o for o in own) and x._a.any()]
    return tensor if foreign else tensor.detach()


def linearize(func, *primals):
    """(output, push): ``push(*tangents)`` gives Jacobian · tangents at these primals."""
    with enable_grad():
        inputs = _Inputs(primals, tuple(range(len(primals))))
        output = func(*inputs.args)
        outputs, rebuild = flatten(output)

    def push(*tangents):
        with enable_grad():
            moved = _push(outputs, inputs.leaves, flatten(tangents)[0])
        return rebuild([_settle_pushed(t, inputs.fresh) for t in moved])

    return inputs.settle(output), push


# ---------------------------------------------------------------- whole derivatives
def _stack(rows, shape, like):
    if not rows:
        return wrap(xp.zeros((*shape, *like._a.shape), like._a.dtype, like=like._a))
    return TENSOR.stack_list(rows).reshape(*shape, *like._a.shape)


def _jacobian_rows(output, inputs):
    """For every input the derivative of ``output``: output shape × input shape."""
    columns = [[] for _ in inputs]
    for k in range(output._a.size):
        seed = xp.zeros(output._a.size, output._a.dtype, like=output._a)
        seed[k] = 1
        for column, g in zip(
            columns, _pull([output], inputs, [wrap(seed.reshape(output._a.shape))]), strict=True
        ):
            column.append(g)
    return [_stack(column, output._a.shape, x) for column, x in zip(columns, inputs, strict=True)]


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of ``func``, in the nesting of its output and of the
    arguments at ``argnums``.
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with enable_grad():
            inputs = _Inputs(args, argnums)
            output, aux = _split_aux(func(*inputs.args, **kwargs), has_aux, "jacrev")
            outputs, rebuild = flatten(output)
            tables = [inputs.result(_jacobian_rows(o, inputs.leaves)) for o in outputs]
        table = rebuild(tables)
        return (table, inputs.settle(aux)) if has_aux else table

    return wrapper


def _push_columns(outputs, inputs, k):
    """The derivative of all outputs by input ``k``: output shape × input shape."""
    x = inputs[k]
    columns = [[] for _ in outputs]
    for at in range(x._a.size):
        tangent = xp.zeros(x._a.size, x._a.dtype, like=x._a)
        tangent[at] = 1
        moved = _push(outputs, [x], [wrap(tangent.reshape(x._a.shape))])
        for column, t in zip(columns, moved, strict=True):
            column.append(t)
    out = []
    for column, o in zip(columns, outputs, strict=True):
        stacked = _stack(column, x._a.shape, o)
        n = x._a.ndim
        out.append(
            stacked.permute(*range(n, n + o._a.ndim), *range(n)) if n + o._a.ndim else stacked
        )
    return out


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """``jacrev``, computed column by column in forward mode."""

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with enable_grad():
            inputs = _Inputs(args, argnums)
            output, aux = _split_aux(func(*inputs.args, **kwargs), has_aux, "jacfwd")
            outputs, rebuild = flatten(output)
            by_input = [_push_columns(outputs, inputs.leaves, k) for k in range(len(inputs.leaves))]
        tables = []
        for k in range(len(outputs)):
            row = inputs.rebuild([_settle_pushed(columns[k], inputs.fresh) for columns in by_input])
            tables.append(row[0] if inputs.single else row)
        table = rebuild(tables)
        return (table, inputs.settle(aux)) if has_aux else table

    return wrapper


def hessian(func, argnums=0):
    """A function that gives the Hessian of ``func``: the Jacobian of its Jacobian."""
    return jacrev(jacrev(func, argnums), argnums)
