"""grad, vjp, jvp, Jacobians and Hessians as function transforms.

Each works on copies of its inputs that are tracked within the outer graph, so transforms nest: the
derivative of a derivative is taken by the same code.
"""

from __future__ import annotations

import functools

from ..engine.backward import grad as gradients
from ..engine.modes import enable_grad
from ..engine.tensor import Tensor
from ..ops import FUNCTIONS as ops
from .tree import flatten, map_tree


def _tracked(x):
    """A tensor that gradients can be taken for, joined to what ``x`` came from."""
    if not isinstance(x, Tensor) or not (x.is_floating_point() or x.is_complex()):
        return x
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


def _zeros_for_none(found, inputs):
    return [ops["zeros_like"](x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def _split_aux(result, has_aux, name):
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{name}(f): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return result


def _outside(tree, nested):
    """Results leave the graph unless an outer transform, or the user, still differentiates."""
    return tree if nested else map_tree(lambda x: x.detach() if isinstance(x, Tensor) else x, tree)


def _is_nested(args):
    return any(isinstance(x, Tensor) and x.requires_grad for x in flatten(args)[0])


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that returns (gradient for the arguments ``argnums``, value of ``func``); the
    value must be a scalar.
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        nested = _is_nested((args, kwargs))
        with enable_grad():
            given = list(args)
            for n in numbers:
                given[n] = map_tree(_tracked, given[n])
            output, aux = _split_aux(func(*given, **kwargs), has_aux, "grad_and_value")
            _check_scalar(output)
            leaves, restore = flatten(tuple(given[n] for n in numbers))
            found = _gradient(output, leaves)
        result = restore(found)
        result = result[0] if isinstance(argnums, int) else result
        result, output = _outside((result, output), nested)
        return (result, (output, aux)) if has_aux else (result, output)

    return wrapper


def _gradient(output, leaves):
    wanted = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]
    if output.requires_grad and wanted:
        found = iter(
            _zeros_for_none(gradients(output, wanted, create_graph=True, allow_unused=True), wanted)
        )
    else:
        found = iter([ops["zeros_like"](x) for x in wanted])
    return [next(found) if isinstance(x, Tensor) and x.requires_grad else x for x in leaves]


def _check_scalar(output):
    if not isinstance(output, Tensor):
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a single tensor, got "
            f"{type(output)}"
        )
    if output.dim() != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor "
            "with "
            f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )


def grad(func, argnums=0, has_aux=False):
    """A function that returns the gradient of the scalar ``func`` for the arguments ``argnums``."""
    inner = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        found = inner(*args, **kwargs)
        return (found[0], found[1][1]) if has_aux else found[0]

    return wrapper


def vjp(func, *primals, has_aux=False):
    """(outputs, function from cotangents to gradients of the primals)."""
    nested = _is_nested(primals)
    with enable_grad():
        leaves, restore = flatten(tuple(map_tree(_tracked, p) for p in primals))
        outputs, aux = _split_aux(func(*restore(leaves)), has_aux, "vjp")
    outs, rebuild = flatten(outputs)

    def vjp_fn(cotangents, retain_graph=True, create_graph=None):
        seeds, _ = flatten(cotangents)
        further = nested or _is_nested((cotangents,))
        kept = [(o, s) for o, s in zip(outs, seeds, strict=True) if o.requires_grad]
        wanted = [x for x in leaves if isinstance(x, Tensor) and x.requires_grad]
        if kept:
            with enable_grad():
                found = gradients(
                    [o for o, _ in kept],
                    wanted,
                    [s for _, s in kept],
                    retain_graph=True,
                    create_graph=further,
                    allow_unused=True,
                )
        else:
            found = [None] * len(wanted)
        filled = iter(_zeros_for_none(found, wanted))
        result = restore(
            [next(filled) if isinstance(x, Tensor) and x.requires_grad else x for x in leaves]
        )
        return result

    shown = _outside(rebuild(outs), nested)
    return (shown, vjp_fn, aux) if has_aux else (shown, vjp_fn)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(outputs, J·tangents): by two backward passes, so that it nests with everything else."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    nested = _is_nested((primals, tangents))
    with enable_grad():
        leaves, restore = flatten(tuple(map_tree(_tracked, p) for p in primals))
        directions, _ = flatten(tangents)
        outputs, aux = _split_aux(func(*restore(leaves)), has_aux, "jvp")
        outs, rebuild = flatten(outputs)
        found = [_directional(o, leaves, directions) for o in outs]
    result = _outside((rebuild(outs), rebuild(found)), nested)
    return (*result, aux) if has_aux else result


def _directional(output, leaves, directions):
    """J·v for one output: the gradient of (Jᵀ·u)·v with respect to u."""
    pairs = [
        (x, d)
        for x, d in zip(leaves, directions, strict=True)
        if isinstance(x, Tensor) and x.requires_grad
    ]
    if not output.requires_grad:
        return ops["zeros_like"](output)
    through = ops["zeros_like"](output).requires_grad_()
    back = gradients(output, [x for x, _ in pairs], through, create_graph=True, allow_unused=True)
    kept = [
        (b, d) for b, (_, d) in zip(back, pairs, strict=True) if b is not None and b.requires_grad
    ]
    if not kept:
        return ops["zeros_like"](output)
    (found,) = gradients(
        [b for b, _ in kept], through, [d for _, d in kept], create_graph=True, allow_unused=True
    )
    return ops["zeros_like"](output) if found is None else found


def linearize(func, *primals):
    """(outputs, function from tangents to J·tangents at these primals)."""
    outputs = func(*primals)

    def jvp_fn(*tangents):
        return jvp(func, primals, tangents)[1]

    return outputs, jvp_fn


def _jacobian(func, argnums, has_aux, rows):
    @functools.wraps(func)
    def wrapper(*args):
        numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        nested = _is_nested(args)
        with enable_grad():
            given = list(args)
            for n in numbers:
                given[n] = map_tree(_tracked, given[n])
            outputs, aux = _split_aux(func(*given), has_aux, "jacrev")
            leaves, restore = flatten(tuple(given[n] for n in numbers))
            outs, rebuild = flatten(outputs)
            blocks = [restore(rows(o, leaves)) for o in outs]
        picked = [b[0] if isinstance(argnums, int) else b for b in blocks]
        result = _outside(rebuild(picked), nested)
        return (result, aux) if has_aux else result

    return wrapper


def _rows(output, leaves):
    """One row of the Jacobian an element of ``output``."""
    columns = [[] for _ in leaves]
    for element in output.reshape(-1):
        for k, g in enumerate(_gradient(element, leaves)):
            columns[k].append(g)
    return [
        ops["stack"](column).view(*output.shape, *x.shape)
        if column
        else x.new_zeros((*output.shape, *x.shape))
        for column, x in zip(columns, leaves, strict=True)
    ]


def _columns(output, leaves):
    """One column of the Jacobian an element of the inputs."""
    found = []
    for k, x in enumerate(leaves):
        columns = []
        for j in range(x.numel()):
            unit = ops["zeros_like"](x)
            unit.view(-1)[j] = 1
            directions = [unit if i == k else ops["zeros_like"](y) for i, y in enumerate(leaves)]
            columns.append(_directional(output, leaves, directions))
        found.append(ops["stack"](columns, -1).view(*output.shape, *x.shape))
    return found


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that returns the Jacobian of ``func``, a row at a time (backward)."""
    return _jacobian(func, argnums, has_aux, _rows)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that returns the Jacobian of ``func``, a column at a time (directional
    derivatives).
    """
    return _jacobian(func, argnums, has_aux, _columns)


def hessian(func, argnums=0):
    """A function that returns the Hessian of the scalar ``func``."""
    return jacfwd(jacrev(func, argnums), argnums)
