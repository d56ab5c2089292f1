"""Where a backward begins and what it is asked for: roots with their gradients, inputs, the errors
of
both.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..backend import xp
from .accumulator import AccumulateGrad, expected
from .dispatch import wrap
from .errors import advised
from .node import LEAF, Node, Nowhere, Output, array_below
from .operands import expands
from .operation import RAW, TENSOR
from .tensor import Size, Tensor

_SCALARS_ONLY = "grad can be implicitly created only for scalar outputs"


def as_tuple(x):
    """One tensor or gradient edge, or a sequence of them, as a tuple."""
    return (x,) if isinstance(x, Tensor) or hasattr(x, "_fields") else tuple(x)


def inputs_of(inputs, function):
    """The ``inputs`` of a call as a tuple: one, several, or the values of a dict. TypeError for
    another mapping, RuntimeError for none.
    """
    __tracebackhide__ = True
    if type(inputs) is dict:
        inputs = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    inputs = as_tuple(inputs)
    if not inputs:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return inputs


def edge_of(x):
    """The edge of a root or input, a tensor or a GradientEdge; None when it has none."""
    if isinstance(x, Tensor):
        g = x._g
        return x if g is LEAF else None if g.__class__ is Nowhere else g
    if isinstance(x.node, AccumulateGrad):
        return x.node.variable
    if not isinstance(x.node, Node):
        raise RuntimeError(
            "GradientEdge's first object must be an autograd.graph.Node but got "
            f"{type(x.node).__name__}"
        )
    return Output(x.node, x.output_nr) if x.node.dtype.__class__ is tuple else x.node


def is_edge(x):
    """Whether ``x`` can be a root or an input: a tensor or a GradientEdge."""
    return isinstance(x, Tensor) or hasattr(x, "output_nr")


def capture_key(x):
    """How a sweep names the input ``x``: a leaf, or (node, output number)."""
    if not is_edge(x):
        raise RuntimeError(
            f"all inputs have to be Tensors or GradientEdges, but got {type(x).__name__}"
        )
    edge = edge_of(x)
    if edge is None:
        if isinstance(x, Tensor) and x.requires_grad:
            return x
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    if edge._kind == 1 and edge.node._kind == 0:
        return (edge.node, edge.nr)
    if edge._kind == 0:
        return (edge, 0)
    return edge.node if edge._kind == 1 else edge


def roots_of(tensors, seeds, as_tensors):
    """(edge, gradient) of each root; gradients are tensors or arrays."""
    __tracebackhide__ = True
    if seeds is None and len(tensors) == 1 and tensors[0].__class__ is Tensor:
        t = tensors[0]
        shape, dtype = t._a.shape, t._a.dtype
        seed, edge = _implicit_seed(t, shape, dtype), _root_edge(t, 0)
        if edge._kind or edge.shape != shape or edge.dtype is not dtype:
            return [(edge, _fitted(edge, seed, 0, as_tensors))]
        return [(edge, seed if as_tensors else seed._a)]
    for t in tensors:
        if not is_edge(t):
            raise AssertionError("Expected output to be a torch.Tensor")
    if isinstance(seeds, Tensor) or seeds is None:
        seeds = (seeds,) * (1 if isinstance(seeds, Tensor) else len(tensors))
    seeds = tuple(seeds)
    made = [_seed(t, seed, tensors, seeds) for t, seed in zip(tensors, seeds, strict=False)]
    if len(seeds) < len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(seeds)} gradients")
    edges = [_root_edge(t, k) for k, t in enumerate(tensors)]
    return [
        (edge, _fitted(edge, seed, k, as_tensors))
        for k, (edge, seed) in enumerate(zip(edges, made, strict=True))
    ]


def _fitted(edge, seed, k, as_tensors):
    """The gradient of a root as its node takes it: that of a tensor that has other sizes by now may
    not fit.
    """
    shape, dtype = _taken(edge, seed._a.dtype)
    F, g = (TENSOR, seed) if as_tensors else (RAW, seed._a)
    if g.shape != shape:
        if not expands(shape, g.shape):
            raise RuntimeError(
                f"invalid gradient at index {k} - got {list(g.shape)} but expected shape "
                f"compatible with {list(shape)}"
            )
        g = F.sum_to(g, shape)
    return g if seed._a.dtype == dtype else F.cast(g, dtype)


def _taken(edge, given=None):
    """Shape and dtype of the gradients that go along an edge."""
    if edge._kind == 2 or edge._kind == 1 and edge.node._kind == 2:
        return expected(edge, given)
    if edge._kind == 1:
        return edge.node.shape[edge.nr], edge.node.dtype[edge.nr]
    return edge.shape, edge.dtype


def _root_edge(t, k):
    __tracebackhide__ = True
    edge = edge_of(t)
    if edge is None:
        text = f"element {k} of tensors does not require grad and does not have a grad_fn"
        raise advised(RuntimeError(text), "no_graph", shape=t._a.shape)
    return edge


def _shape_and_dtype(t):
    return (t._a.shape, t._a.dtype) if isinstance(t, Tensor) else _taken(edge_of(t))


def _seed(t, seed, tensors, seeds):
    __tracebackhide__ = True
    shape, dtype = _shape_and_dtype(t)
    if seed is None:
        return _implicit_seed(t, shape, dtype)
    if not isinstance(seed, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(seed).__name__}")
    if seed._a.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{_at(seeds, seed)}] has a shape of "
            f"{Size(seed._a.shape)} and output[{_at(tensors, t)}] has a shape of {Size(shape)}."
        )
    if (seed._a.dtype.kind == "c") != (dtype.kind == "c"):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{_at(seeds, seed)}] has a dtype of {seed.dtype} and "
            f"output[{_at(tensors, t)}] has a dtype of {_dtype_of(dtype)}."
        )
    return seed


def _at(several, one):
    """Where ``one`` is; beyond the first by comparing elements, with the errors of that."""
    return several.index(one)


def _dtype_of(np_dtype):
    from . import dtypes

    return dtypes.from_np(np_dtype)


def _implicit_seed(t, shape, dtype):
    __tracebackhide__ = True
    if not isinstance(t, Tensor) or t.requires_grad:
        size = 1
        for n in shape:
            size *= n
        if size != 1:
            raise advised(RuntimeError(_SCALARS_ONLY), "not_scalar", shape=shape)
        if dtype.kind == "c":
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"{_dtype_of(dtype)}"
            )
    if not shape and t.__class__ is Tensor and t._a.__class__ is xp.ndarray:
        return wrap(_one[dtype].copy())
    return wrap(
        xp.ones(shape, dtype, like=t._a if isinstance(t, Tensor) else array_below(edge_of(t)))
    )


class _Ones(dict):
    """A 0-d one a dtype: to copy it takes a fifth of the time of making it."""

    def __missing__(self, dtype):
        self[dtype] = found = xp.ones((), dtype)
        return found


_one = _Ones()


def check_batched(outputs, seeds):
    """RuntimeError unless each of ``seeds`` is a batch of gradients for its output."""
    __tracebackhide__ = True
    for t, seed in zip(outputs, seeds, strict=False):
        shape, _ = _shape_and_dtype(t)
        if seed is None:
            continue
        first = seed[0]
        if first._a.shape != shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{_at(seeds, seed)}] has a shape of {Size(first._a.shape[1:])} and "
                f"output[{_at(outputs, t)}] has a shape of {Size(shape)}. If you only want some "
                "tensors in `grad_output` to be considered batched, consider using vmap."
            )
