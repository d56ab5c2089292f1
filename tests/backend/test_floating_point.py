"""NumPy's floating-point warnings: never from gradviz, always from the person's own arrays."""

import warnings

import numpy as np

import gradviz


def test_operations_are_silent_whatever_the_filters():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = gradviz.tensor([0.0, -1.0, 1e38], requires_grad=True)
        (x.log() + x.exp() + x / x + x.sqrt()).sum().backward()
        assert x.grad is not None


def test_own_numpy_code_warns():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.array([1.0]) / np.array([0.0])
    (one,) = seen
    assert one.category is RuntimeWarning
    assert "divide by zero encountered" in str(one.message)
    assert one.filename == __file__
