"""Dual numbers: values are PyTorch's."""

import pytest

import gradviz as torch
from gradviz.autograd import forward_ad as fw


def tangents(functions):
    x = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)
    v = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        return [fw.unpack_dual(f(dual)).tangent for f in functions]


def test_tangents_follow_elementwise_views_and_products():
    found = tangents(
        [lambda d: d * d, lambda d: d.sum(), lambda d: d[1:], lambda d: d @ d, lambda d: d.max()]
    )
    assert [t.tolist() for t in found] == [[1.0, 4.0, 12.0], 6.0, [2.0, 3.0], 17.0, 3.0]


def test_an_in_place_operation_changes_the_tangent_and_nobody_elses():
    x, v = torch.ones(2), torch.tensor([1.0, 2.0])
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        copy = dual.clone()
        copy.mul_(3)
        assert fw.unpack_dual(copy).tangent.tolist() == [3.0, 6.0]
        assert fw.unpack_dual(dual).tangent.tolist() == [1.0, 2.0]


def test_forward_over_reverse():
    p = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        dual = fw.make_dual(p, torch.ones(2))
        tangent = fw.unpack_dual((dual**3).sum()).tangent
        (g,) = torch.autograd.grad(tangent, p)
    assert g.tolist() == [6.0, 12.0]


def test_a_level_ends_with_its_tangents():
    x = torch.ones(1)
    with fw.dual_level():
        dual = fw.make_dual(x, x)
    assert fw.unpack_dual(dual).tangent is None
    with pytest.raises(RuntimeError, match="no level exists"):
        fw.make_dual(x, x)
    with fw.dual_level(), pytest.raises(RuntimeError, match="Nested forward mode AD"):
        fw.enter_dual_level()


def test_the_shape_of_a_tangent_is_checked():
    with fw.dual_level(), pytest.raises(RuntimeError, match="different size than that"):
        fw.make_dual(torch.ones(2), torch.ones(3))
