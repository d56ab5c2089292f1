"""Files that are cut off, damaged or hostile: PyTorch's errors, and nothing has happened."""

import io
import json
import pickle
import random
import re
import zipfile

import pytest

import gradviz as torch
from tests.serialization.test_files import checkpoint


def saved():
    stream = io.BytesIO()
    model = torch.nn.Linear(3, 2)
    torch.save({"model": model.state_dict(), "notes": ["text", (1, 2.5)]}, stream)
    return stream.getvalue()


def damaged(raw, rng):
    """A few bytes changed, left out or added."""
    raw = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(raw))
        how = rng.randrange(3)
        if how == 0:
            raw[at] = rng.randrange(256)
        elif how == 1:
            del raw[at : at + 8]
        else:
            raw[at:at] = rng.randbytes(3)
    return bytes(raw)


def refused_or_read(raw):
    """Whether it was read; any other error than PyTorch's fails the test."""
    try:
        torch.load(io.BytesIO(raw))
    except (EOFError, RuntimeError, pickle.UnpicklingError) as error:
        assert re.search(
            "^(Ran out|PytorchStreamReader|Weights only|Expected one of|Invalid magic)", str(error)
        )
        return False
    return True


def test_every_shortened_file_is_refused_and_the_model_stays():
    raw = saved()
    model = torch.nn.Linear(3, 2)
    before = [p.tolist() for p in model.parameters()]
    for length in range(len(raw)):
        with pytest.raises((EOFError, pickle.UnpicklingError), match="Ran out|Weights only"):
            model.load_state_dict(torch.load(io.BytesIO(raw[:length]))["model"])
    assert [p.tolist() for p in model.parameters()] == before


def test_damaged_safetensors():
    rng, raw = random.Random(0), saved()
    read = [refused_or_read(damaged(raw, rng)) for _ in range(400)]
    assert any(read) and not all(read)


def test_damaged_checkpoints():
    plain = {"a": [1, (2, 3.5)], "b": {"c": None, "d": "text"}}
    raw, rng = checkpoint(plain).getvalue(), random.Random(1)
    program = pickle.dumps(plain, protocol=2)
    for _ in range(200):
        refused_or_read(damaged(raw, rng))
        refused_or_read(archive(damaged(program, rng)))


def archive(program, **entries):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("a/data.pkl", program)
        for name, content in entries.items():
            file.writestr(f"a/data/{name}", content)
    return stream.getvalue()


def tensor(size, stride, offset=0, count=4):
    """A program that builds one tensor on a storage of ``count`` floats."""
    storage = f"(S'storage'\nctorch\nFloatStorage\nS'key'\nS'cpu'\nI{count}\nt"
    numbers = ["(" + "".join(f"I{n}\n" for n in of) + "t" for of in (size, stride)]
    arguments = f"({storage}QI{offset}\n{''.join(numbers)}I00\nt"
    program = f"ctorch._utils\n_rebuild_tensor_v2\n{arguments}R."
    return archive(program.encode(), key=b"\0" * 4 * count)


def test_a_tensor_may_not_leave_its_storage():
    assert torch.load(io.BytesIO(tensor((2, 2), (2, 1)))).tolist() == [[0.0, 0.0]] * 2
    for size, stride, offset in (
        ((5,), (1,), 0),
        ((2,), (-1,), 0),
        ((2,), (-100000,), 0),
        ((2,), (1,), -1),
        ((-2,), (1,), 0),
        ((2, 2), (1,), 0),
    ):
        with pytest.raises(pickle.UnpicklingError, match="damaged"):
            torch.load(io.BytesIO(tensor(size, stride, offset)))


def test_nests_that_would_exhaust_the_stack():
    deep = b")" + b"\x85" * 100_000
    assert not refused_or_read(archive(b"\x80\x02}" + deep + b"K\x01s."))
    header = (b"[" * 100_000).ljust(100_008)
    assert not refused_or_read(len(header).to_bytes(8, "little") + header)


def test_archives_that_unpack_to_more_than_they_are():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/data.pkl", b"\x80\x02" + b"N0" * 1_000_000 + b"N.")
    with pytest.raises(pickle.UnpicklingError, match="holds more than its size"):
        torch.load(io.BytesIO(stream.getvalue()))


@pytest.mark.parametrize(
    "told",
    [
        '{"tensor": "b"}',
        '{"tensor": "a", "window": [[9], [1], 0]}',
        '{"tensor": "a", "window": [[1], [-1], 0]}',
        '{"tensor": "a", "requires_grad": true}',
        '{"dict": [[{"list": []}, {"value": 1}]]}',
    ],
)
def test_descriptions_that_lie(told):
    header = {"a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}}
    text = json.dumps({**header, "__metadata__": {"gradviz": told}}).encode()
    with pytest.raises(pickle.UnpicklingError, match="description of its containers is broken"):
        torch.load(io.BytesIO(len(text).to_bytes(8, "little") + text + b"\0" * 4))


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"a": ("F32", [1], [0, 4]), "b": ("F32", [1], [0, 4])}, "overlap"),
        ({"a": ("F32", [1.0], [0, 4])}, "broken"),
        ({"a": ("F32", [-1], [0, -4])}, "broken"),
        ({"a": ("F99", [1], [0, 4])}, "broken"),
        ({"a": ("F32", [2], [0, 8])}, "do not fit"),
        ({"a": ("F32", [0, 2**70], [0, 0])}, "broken"),
        ({"a": ("F32", [0], [0, 0])}, "belong to no tensor"),
        ({"a": ("F32", [2], [0, 8]), "__metadata__": ("1", 2, 3)}, "object of texts"),
    ],
)
def test_entries_of_safetensors(entries, said):
    names = ("dtype", "shape", "data_offsets")
    header = {k: dict(zip(names, entry, strict=True)) for k, entry in entries.items()}
    text = json.dumps(header).encode()
    with pytest.raises(pickle.UnpicklingError, match=said):
        torch.load(io.BytesIO(len(text).to_bytes(8, "little") + text + b"\0" * 4))
