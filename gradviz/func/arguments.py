"""The arguments and outputs of a function that is being transformed: which are differentiated,
tensors of our own in their place, and what is refused.
"""

from __future__ import annotations

import functools

from ..engine.dtypes import of
from ..engine.forward_mode import carry
from ..engine.leaves import depends_only_on
from ..engine.modes import local
from ..engine.node import new, serial
from ..engine.tensor import Tensor, as_leaf
from .batched import over_slices
from .tree import flatten, map_tree


# ---------------------------------------------------------------- inputs of our own
def _own(tensor, transform):
    """Another tensor in place of an input: joined to what it came from, otherwise a leaf."""
    _require_tensor(tensor)
    return over_slices(lambda x: _own_one(x, transform), tensor, tracked=True)


def _own_one(tensor, transform):
    if tensor.requires_grad:
        return tensor.view_as(tensor)
    if of(tensor._a).category < 2:
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    made = new(Tensor)
    made._a, made._g, made._v = tensor._a, None, None
    return carry(as_leaf(made, transform), tensor)


def _require_tensor(x):
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")


def places(argnums, count):
    """The positions that ``argnums`` names among ``count`` arguments; RuntimeError for anything
    else.
    """
    if isinstance(argnums, int):
        return [_place(argnums, count)]
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    for k in argnums:
        if not isinstance(k, int):
            raise RuntimeError(f"argnum must be int, got: {type(k)}")
    found = [_place(k, count) for k in argnums]
    if len(set(found)) < len(found):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(found)}")
    return found


def _place(k, count):
    if not -count <= k < count:
        raise RuntimeError(f"Got argnum={k}, but only {count} positional inputs")
    return k % count


def all_of(primals):
    """``argnums`` for all of them."""
    return tuple(range(len(primals)))


class Inputs:
    """The arguments of a call, those at ``argnums`` replaced by ``replace(tensor, these inputs)``,
    tracked tensors of our own unless given. ``open`` while the function runs; ``recorded``: whether
    results may keep a graph.
    """

    def __init__(self, args, argnums, replace=_own, level=None, recorded=True):
        self.open, self.recorded = True, recorded
        self.born, self.depth, self.level = serial(), local.transforms, level
        self.originals = {}  # by the ids of our own inputs
        self.single = isinstance(argnums, int)
        at = places(argnums, len(args)) if args or argnums != () else []
        self.args = [
            map_tree(functools.partial(self._replaced, replace if k in at else _itself), a)
            for k, a in enumerate(args)
        ]
        local.tracking = (*local.tracking, self)
        self.chosen = tuple(args[k] for k in at)
        self.leaves, self.rebuild = flatten(tuple(self.args[k] for k in at))

    def _replaced(self, replace, x):
        made = replace(x, self)
        if isinstance(made, Tensor):
            over_slices(lambda own, x: self.originals.setdefault(id(own), x), made, x)
        return made

    def settle(self, tree):
        """``tree`` without the graph, where that hangs on our own inputs only."""
        return map_tree(self._settled, tree)

    def _settled(self, x):
        return over_slices(self._settled_one, x)

    def _settled_one(self, x):
        if not isinstance(x, Tensor) or not x.requires_grad:
            return x
        if not self.recorded or depends_only_on(x, self):
            return carry(x.detach(), x, self)
        return x

    def result(self, leaves):
        """``leaves`` in the nesting of the arguments at ``argnums``, settled."""
        made = self.settle(self.rebuild(list(leaves)))
        return made[0] if self.single else made


def _itself(x, _):
    return x


# ---------------------------------------------------------------- outputs
def split_aux(output, has_aux, call):
    """(output, aux) of what the function gave; ``call`` is how the transform was called."""
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    for x in flatten(output[1])[0]:
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return output


def require_tensors(output, call):
    """(tensors of ``output``, rebuild); RuntimeError unless there are some, and nothing else."""
    leaves, rebuild = flatten(output)
    if not leaves or output is None:
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {leaves})"
        )
    for x in leaves:
        if not isinstance(x, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(x)}"
            )
    return leaves, rebuild


def require_real(tensors, name, what):
    """RuntimeError for a complex one among the inputs or outputs of a whole Jacobian."""
    for k, x in enumerate(tensors):
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what}s to be real but received complex tensor at "
                f"flattened input idx: {k}"
            )


def require_number(output):
    """RuntimeError unless ``output`` is a real tensor of no dimensions."""
    start = "grad_and_value(f)(*args): Expected f(*args) to return a"
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{start} Tensor, got {type(output)}")
    if output._a.ndim:
        raise RuntimeError(
            f"{start} scalar Tensor, got tensor with {output._a.ndim} dims. Maybe you wanted to "
            "use the vjp or jacrev APIs instead?"
        )
    if output.is_complex():
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {output.dtype}"
        )
