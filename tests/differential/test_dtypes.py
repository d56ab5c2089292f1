"""The same table over other dtypes and shapes: wherever PyTorch computes, gradviz gives the
same.
"""

import numpy as np
import pytest
from compare import INPUTS, differences, evaluate, names_in
from table import DIFFERENT, FAMILIES, LOOSE, OTHER_DTYPES

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)


def _float32(a):
    return a.astype({"f": np.float32, "c": np.complex64}.get(a.dtype.kind, a.dtype))


def _integers(a):
    return np.rint(a * 3).astype(np.int64) if a.dtype.kind == "f" else a


def _complex(a):
    return a + 0.3j if a.dtype.kind == "f" else a


def _scalar(a):
    return a.ravel()[0].reshape(()) if a.size else a


def _empty(a):
    return a[:0] if a.ndim else a


def _columns_first(a):
    return np.asfortranarray(a) if a.ndim == 2 else a


KINDS = {
    "float32": _float32,
    "int64": _integers,
    "complex128": _complex,
    "0-d": _scalar,
    "empty": _empty,
    "transposed": _columns_first,
}
CASES = [
    (kind, family) for kind in KINDS for family in ("arithmetic", "unary", "reductions", "shapes")
]


def _compared(kind, expression):
    given = {n: KINDS[kind](INPUTS[n]) for n in names_in(expression)}
    if not given or any(_refused(expression, given, tracked) for tracked in (False, True)):
        return []
    found = differences(torch, gradviz, expression, given, order=1, loose=True)
    return [f"{expression}: {line}" for line in found]


def _refused(expression, given, tracked):
    return isinstance(evaluate(torch, expression, given, tracked)[1], Exception)


@pytest.mark.parametrize(("kind", "family"), CASES)
def test_as_in_pytorch(kind, family):
    skipped = {*DIFFERENT, *OTHER_DTYPES.get(kind, ()), *OTHER_DTYPES["all"]}
    expressions = [e for e in FAMILIES[family] if e not in skipped and e not in LOOSE]
    assert [line for e in expressions for line in _compared(kind, e)] == []
