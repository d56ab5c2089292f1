"""The ``_saved_*`` and ``_raw_saved_*`` attributes and input metadata of every node below every
expression of the table, side by side with PyTorch.
"""

import pytest

import gradviz
from tests.differential import compare, layers, table

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)

# Attributes that are known to differ, and why.
NUMBER = "a Python number is kept in the dtype of the tensor it met"
COMPOSITE = "PyTorch puts this together from other dimensions"
FACTORS = "factors of a matrix differ in sign or order"
DIFFERENT = {
    ("PowBackward0", "_saved_exponent"): NUMBER,
    ("LinalgVectorNormBackward0", "_saved_ord"): NUMBER,
    ("LinalgVectorNormBackward0", "_saved_dim"): COMPOSITE,
    ("UnsqueezeBackward0", "_saved_dim"): COMPOSITE,
    ("DiagEmbedBackward0", "_saved_dim1"): COMPOSITE,
    ("DiagEmbedBackward0", "_saved_dim2"): COMPOSITE,
    ("PermuteBackward0", "_saved_dims"): COMPOSITE,
    ("CatBackward0", "_saved_dim"): COMPOSITE,
    ("SliceScatterBackward0", "_saved_end"): COMPOSITE,
    ("LinalgDetBackward0", "_saved_LU"): FACTORS,
    ("LinalgSlogdetBackward0", "_saved_LU"): FACTORS,
    ("LinalgEighBackward0", "_saved_eigenvectors"): FACTORS,
}


def shown(x):
    """A saved value, so that both engines' compare."""
    if hasattr(x, "detach"):
        numbers = compare.numbers(x)
        kind = x.requires_grad, tuple(x.shape), str(x.dtype).split(".")[-1]
        return [*kind, numbers] if numbers.size < 50 else [*kind]
    if isinstance(x, (tuple, list)):
        return [type(x).__name__, *map(shown, x)]
    return x if x is None or isinstance(x, (bool, int, float)) else str(x).split(".")[-1]


def attributes(node):
    names = [n for n in dir(node) if n.startswith(("_saved_", "_raw_saved_"))]
    found = {
        n: type(getattr(node, n)).__name__ if n.startswith("_raw") else shown(getattr(node, n))
        for n in names
    }
    outputs = [(tuple(m.shape), str(m.dtype).split(".")[-1]) for m in node._input_metadata]
    return found | {"_input_metadata": [list(map(str, o)) for o in outputs]}


def same(a, b):
    if hasattr(a, "dtype") and hasattr(b, "dtype"):
        return a.shape == b.shape and compare.same_numbers(a, b, 10)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-6 * max(1, abs(a))
    return type(a) is type(b) and a == b


def differing(a, b, met):
    """(class, attribute) of what differs below two nodes; where their names differ, the graphs are
    another test's.
    """
    stack, out = [(a, b)], []
    while stack:
        a, b = stack.pop()
        if a is None or b is None or id(a) in met or type(a).__name__ != type(b).__name__:
            continue
        met[id(a)] = a
        first, second = attributes(a), attributes(b)
        for name in first.keys() | second.keys():
            if not same(first.get(name, "absent"), second.get(name, "absent")):
                out.append((type(a).__name__, name))
        pairs = zip(a.next_functions, b.next_functions, strict=False)
        stack += [(x, y) for (x, _), (y, _) in pairs]
    return out


def different(expression):
    """(class, attribute) of what differs below the results of one expression."""
    given = {n: compare.INPUTS[n] for n in compare.names_in(expression)}
    results = [compare.evaluate(e, expression, given, True)[1] for e in (torch, gradviz)]
    if any(isinstance(r, Exception) for r in results):
        return []
    pairs = zip(
        compare.flatten(results[0], torch.Tensor),
        compare.flatten(results[1], gradviz.Tensor),
        strict=True,
    )
    return [
        what
        for a, b in pairs
        if getattr(a, "grad_fn", None) is not None and b.grad_fn is not None
        for what in differing(a.grad_fn, b.grad_fn, {})
        if what not in DIFFERENT
    ]


@pytest.mark.parametrize("family", sorted(set(table.FAMILIES) - {"factories", "misuse", "fourier"}))
def test_attributes(family):
    wrong = {}
    for expression in table.FAMILIES[family]:
        if expression not in table.LOOSE and expression not in table.DIFFERENT:
            wrong |= dict.fromkeys(different(expression), expression)
    assert not wrong


# Layers of which something else is kept than in PyTorch, and why.
STATISTICS = "statistics and buffers are kept in another form"
OTHERWISE = {
    "NativeGroupNormBackward0": STATISTICS,
    "CtcLossBackward0": STATISTICS,
    "EmbeddingBagBackward0": STATISTICS,
    "AffineGridGeneratorBackward0": "the grid before the transformation is kept",
    "SafeSoftmaxBackward0": "the dimension is counted from the front",
}


@pytest.mark.parametrize("expression", layers.LAYERS)
def test_attributes_of_layers(expression):
    assert not [what for what in different(expression) if what[0] not in OTHERWISE]
