"""Saving and loading: what comes back, what is refused, files of others."""

import io
import json
import pickle
import zipfile
from collections import OrderedDict

import pytest

import gradviz as torch


def round_trip(value):
    stream = io.BytesIO()
    torch.save(value, stream)
    stream.seek(0)
    return torch.load(stream)


def test_tensors_in_containers_come_back():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    saved = {
        "w": w,
        "same": [w, (1, 2.5, None, True, "text")],
        "odd": float("inf"),
        "state": OrderedDict(a=torch.tensor([True, False])),
        3: torch.float16,
        "half": torch.ones(2, dtype=torch.bfloat16),
        "size": torch.Size([2, 3]),
        "empty": torch.zeros(0, 3),
    }
    back = round_trip(saved)
    assert back["w"].tolist() == [1.0, 2.0] and back["w"].requires_grad and back["w"].is_leaf
    assert back["same"][0] is back["w"] and back["same"][1] == (1, 2.5, None, True, "text")
    assert back["odd"] == float("inf") and isinstance(back["state"], OrderedDict)
    assert back["state"]["a"].tolist() == [True, False] and back[3] is torch.float16
    assert back["half"].dtype is torch.bfloat16 and isinstance(back["size"], torch.Size)
    assert tuple(back["empty"].shape) == (0, 3)


def test_a_module_and_its_optimizer_resume(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "c.st"
    )
    back = torch.load(tmp_path / "c.st")
    other = torch.nn.Linear(3, 2)
    other.load_state_dict(back["model"])
    assert torch.equal(other.weight, model.weight)
    assert (
        back["optimizer"]["state"][0]["exp_avg"].tolist()
        == optimizer.state_dict()["state"][0]["exp_avg"].tolist()
    )


def test_what_is_no_data_is_refused():
    with pytest.raises(TypeError, match=r"cannot save .*Linear at model"):
        torch.save({"model": torch.nn.Linear(1, 1)}, io.BytesIO())


@pytest.mark.parametrize(
    "raw",
    [b"12345678", b"\xff" * 20, (2).to_bytes(8, "little") + b"[]", pickle.dumps({"a": 1})],
)
def test_broken_files_say_so(raw):
    with pytest.raises(pickle.UnpicklingError, match="not a safetensors file"):
        torch.load(io.BytesIO(raw))


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda t, b: t.load(5), AttributeError, "'int' object has no attribute 'seek'"),
        (lambda t, b: t.load(b, mmap=True), ValueError, "f must be a file path"),
        (lambda t, b: t.load(b, "cuda"), RuntimeError, "Attempting to deserialize object on a"),
        (lambda t, b: t.load(b, "foo"), RuntimeError, "don't know how to restore data location"),
        (lambda t, b: t.load(b, None, pickle, weights_only=True), RuntimeError, "Can not safely"),
        (lambda t, b: t.save(1, 5), AttributeError, "expected 'f' to be string, path, or a"),
        (lambda t, b: t.save(1, "/none/such"), RuntimeError, "Parent directory /none does not"),
    ],
)
@pytest.mark.parametrize("module", ["gradviz", "torch"])
def test_files_and_places_that_are_refused(module, ask, error, said):
    t = pytest.importorskip(module, reason="PyTorch is not installed: nothing to compare with")
    stream = io.BytesIO()
    t.save({"x": t.ones(2)}, stream)
    stream.seek(0)
    with pytest.raises(error, match=said):
        ask(t, stream)


def test_offsets_outside_the_file_are_refused():
    header = json.dumps({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    with pytest.raises(pickle.UnpicklingError, match="offsets of 'x' do not fit"):
        torch.load(io.BytesIO(len(header).to_bytes(8, "little") + header))


def test_a_plain_safetensors_file_is_a_dict():
    header = json.dumps({"x": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    raw = len(header).to_bytes(8, "little") + header + b"\x01\0\0\0\x02\0\0\0"
    assert torch.load(io.BytesIO(raw))["x"].tolist() == [1, 2]


class Attack:
    """Something that would run a command when unpickled."""

    def __reduce__(self):
        return (print, ("this must never be printed",))


def checkpoint(value):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(value, protocol=2))
    return io.BytesIO(stream.getvalue())


def test_a_checkpoint_with_code_is_refused_and_not_run(capsys):
    with pytest.raises(pickle.UnpicklingError, match="only tensors and containers are read"):
        torch.load(checkpoint({"x": Attack()}))
    assert "must never" not in capsys.readouterr().out


def test_a_checkpoint_of_plain_values():
    value = {"epoch": 3, "lr": [0.1, None, True], "name": "net", "t": (1, 2, 3, 4)}
    assert torch.load(checkpoint(value)) == value


def test_checkpoints_of_pytorch():
    real = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    weights = {"w": real.arange(6.0).view(2, 3).t(), "p": real.nn.Parameter(real.ones(2)), "n": 4}
    stream = io.BytesIO()
    real.save(weights, stream)
    back = torch.load(io.BytesIO(stream.getvalue()))
    assert (
        back["w"].tolist() == weights["w"].tolist() and back["p"].requires_grad and back["n"] == 4
    )
