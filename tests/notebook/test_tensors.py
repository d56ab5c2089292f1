"""A tensor as the last line of a cell."""

import pytest

import gradviz as torch
from gradviz.backend import twin
from gradviz.notebook.tensors import html


@pytest.mark.parametrize(
    "tensor",
    [
        torch.ones(3, 4),
        torch.ones(1000),
        torch.zeros(0, 5),
        torch.ones(50, 50, dtype=torch.complex64),
        torch.ones(1).expand(2100, 2100),
    ],
)
def test_text_is_enough(tensor):
    assert html(tensor) is None


def test_a_large_tensor_has_a_heat_map_and_its_text():
    x = torch.arange(2000.0, requires_grad=True).reshape(40, 50)
    page = x._repr_html_()
    assert "<svg" in page and "40 × 50" in page and "grad_fn=&lt;" in page
    weight = torch.nn.Linear(100, 30).weight
    assert "Parameter containing:" in weight._repr_html_()
    assert torch.ones(40, 50, dtype=torch.bfloat16)._repr_html_()
    with twin.installed():
        assert "device=&#x27;cuda:0&#x27;" in torch.ones(40, 50, device="cuda")._repr_html_()


def test_what_is_printed_whole_needs_none():
    torch.set_printoptions(threshold=10_000)
    try:
        assert html(torch.ones(40, 50)) is None
    finally:
        torch.set_printoptions(profile="default")


def test_a_name_is_never_markup():
    evil = type(
        "<img src=x onerror=alert(1)>",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: x.clone()),
            "backward": staticmethod(lambda ctx, g: g),
        },
    )
    page = evil.apply(torch.ones(40, 50, requires_grad=True))._repr_html_()
    assert "<img" not in page and "&lt;img" in page


def test_showing_pins_nothing():
    import gc
    import weakref

    x = torch.ones(40, 50)
    found = weakref.ref(x)
    x._repr_html_()
    del x
    gc.collect()
    assert found() is None


def test_ipython_takes_it():
    from IPython.core.formatters import DisplayFormatter

    formatter = DisplayFormatter()
    formatter.active_types = ["text/plain", "text/html"]
    data, _ = formatter.format(torch.ones(40, 50))
    assert data["text/plain"].startswith("tensor([[1., 1.") and "<svg" in data["text/html"]
    data, _ = formatter.format(torch.ones(2))
    assert set(data) == {"text/plain"}
