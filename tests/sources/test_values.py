"""Numbers of arrays."""

import math

import numpy as np

from gradviz.sources.values import HEAT, norm, stats


def test_small_arrays_show_their_values():
    found = stats(np.array([[1.0, -2.0], [0.0, 3.0]], np.float32), "float32")
    assert found.values == [[1.0, -2.0], [0.0, 3.0]] and found.heat is None
    assert (found.minimum, found.maximum, found.mean, found.zero) == (-2.0, 3.0, 0.5, 1)
    assert stats(np.array(2.5), "float64").values == 2.5


def test_large_arrays_show_a_heat_map_of_block_means():
    found = stats(np.arange(64 * 64, dtype=np.float32).reshape(64, 64), "float32")
    assert found.values is None and len(found.heat) == len(found.heat[0]) == HEAT
    assert found.heat[0][0] == np.mean([0, 1, 64, 65])
    assert len(stats(np.ones((3, 5, 40, 7)), "float64").heat) == HEAT


def test_what_is_not_a_number_is_counted():
    found = stats(np.array([np.nan, np.inf, -np.inf, 1.0]), "float64")
    assert (found.nan, found.inf, found.minimum, found.maximum) == (1, 2, 1.0, 1.0)
    assert stats(np.full(100, np.nan), "float64").minimum is None


def test_other_kinds():
    assert stats(np.array([], np.float32), "float32").norm is None
    assert stats(np.array([True, False]), "bool").mean == 0.5
    assert stats(np.array([3 + 4j]), "complex64").norm == 5.0
    assert stats(np.ones((0, 3)), "float32").shape == (0, 3)
    assert norm(np.array([3, 4])) == 5.0 and norm(np.array(["a"])) is None


def test_a_norm_that_is_not_a_number_is_said():
    values = np.array([np.nan, 1.0])
    assert math.isnan(norm(values)) and math.isnan(stats(values, "float64").norm)
    assert math.isnan(stats(values * 1j, "complex128").norm)
