"""Normal numbers are those of PyTorch 2.13 on x86, to the last bit: what it drew, written down."""

import hashlib

import pytest

import gradviz as torch

DRAWN = {
    "torch.randn(6)": "45d68e2f2568a1a8",
    "torch.randn(100003)": "e459248ff11d36f5",
    "torch.randn(1000, dtype=torch.float64)": "bb8cc80aa6ef7a5b",
    "torch.empty(5000).normal_(1.5, 0.3)": "0f8fbbae8f270f28",
    "torch.empty(13).normal_(1.5, 0.3)": "b5ed4edfad9c2022",
    "torch.nn.init.kaiming_normal_(torch.empty(30, 20))": "b8bfa29ad005973c",
}


def fingerprint(values):
    """The first of the SHA-256 of the bytes."""
    return hashlib.sha256(values.numpy().tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("draw", DRAWN)
def test_numbers_are_those_that_were_written_down(draw):
    torch.manual_seed(1234)
    assert fingerprint(eval(draw)) == DRAWN[draw]  # noqa: S307
