"""Which kernels attention may take."""

import pytest

import gradviz as torch
from gradviz.nn.attention import SDPBackend, sdpa_kernel
from gradviz.nn.functional import scaled_dot_product_attention


def node(*shape):
    q = torch.ones(shape, requires_grad=True)
    return type(scaled_dot_product_attention(q, q, q).grad_fn).__name__


def test_the_kernel_asked_for():
    fused = "ScaledDotProductFlashAttentionForCpuBackward0"
    with sdpa_kernel(SDPBackend.MATH):
        assert node(1, 1, 2, 4) == "UnsafeViewBackward0"
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            assert node(1, 1, 2, 4) == fused
            assert node(1, 2, 4) == "UnsafeViewBackward0"
        assert node(1, 1, 2, 4) == "UnsafeViewBackward0"
    assert node(1, 1, 2, 4) == fused


@pytest.mark.parametrize(
    "backends, shape, said",
    [
        (SDPBackend.FLASH_ATTENTION, (1, 2, 4), "No available kernel"),
        (SDPBackend.CUDNN_ATTENTION, (1, 1, 2, 4), "No viable backend"),
        ([], (1, 1, 2, 4), "No viable backend"),
    ],
)
def test_none_that_fits(backends, shape, said):
    with sdpa_kernel(backends), pytest.raises(RuntimeError, match=said):
        node(*shape)


def test_what_is_no_kernel():
    with pytest.raises(AssertionError, match="instance of SDPBackend"), sdpa_kernel("math"):
        pass
