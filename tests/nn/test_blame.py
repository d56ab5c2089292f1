"""An error in a layer names the layer, what it got and what it wants."""

import traceback

import pytest

import gradviz as torch
from gradviz import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.encoder.layers[1].linear1 = nn.Linear(7, 16)
        self.head = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ModuleList([nn.BatchNorm2d(5)])[0])

    def forward(self, x, image):
        return self.encoder(x), self.head(image)


def note(function):
    with pytest.raises(Exception) as caught:  # noqa: PT011 (several types)
        function()
    said = caught.value.__notes__
    assert sum("it got" in one for one in said) == 1
    return said[-1]


def test_the_path_leads_to_the_layer():
    said = note(lambda: Model()(torch.ones(2, 5, 8), None))
    assert said == (
        "In encoder.layers.1.linear1: Linear(in_features=7, out_features=16, bias=True): it got "
        "(2, 5, 8) float32, it wants (…, 7)."
    )


def test_paths_in_containers_and_with_hooks():
    model = Model()
    model.head[1].register_forward_hook(lambda *a: None)
    said = note(lambda: model.head(torch.ones(1, 3, 6, 6)))
    assert said.startswith("In 1: BatchNorm2d(5") and said.endswith("it wants (N, 5, …).")


@pytest.mark.parametrize(
    ("layer", "x", "wants"),
    [
        (nn.Linear(3, 2), torch.ones(2, 4), "(…, 3)"),
        (nn.Conv1d(3, 2, 1), torch.ones(1, 4, 5), "(N, 3, W)"),
        (nn.LayerNorm((2, 3)), torch.ones(3, 3), "(…, 2, 3)"),
        (nn.GroupNorm(2, 4), torch.ones(3, 6), "(N, 4, …)"),
        (nn.LSTM(3, 2), torch.ones(5, 1, 4), "(L, N, 3)"),
        (nn.GRUCell(3, 2), torch.ones(5, 4), "(N, 3)"),
        (nn.Embedding(5, 2), torch.tensor([7]), "0 … 4"),
    ],
)
def test_what_a_layer_wants(layer, x, wants):
    said = note(lambda: layer(x))
    assert said.startswith(f"In {type(layer).__name__}(") and f"it wants {wants}." in said


def test_the_message_stays_and_a_broken_repr_does_not_hide_it():
    class Odd(nn.Module):
        def extra_repr(self):
            raise KeyError("odd")

        def forward(self, x):
            return x @ x

    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied") as caught:
        nn.Sequential(Odd())(torch.ones(2, 3))
    assert "In 0: Odd: it got (2, 3)" in "".join(traceback.format_exception(caught.value))
