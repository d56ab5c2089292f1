"""What files keep of tensors beyond their numbers: memory they share, their class, their device."""

import collections
import io
import pickle

import pytest

import gradviz as torch
from gradviz.backend import twin


def there_and_back(obj, module=torch, **options):
    stream = io.BytesIO()
    module.save(obj, stream)
    return torch.load(io.BytesIO(stream.getvalue()), **options)


def real_torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed: nothing to read")


@pytest.mark.parametrize("module", ["gradviz", "torch"])
def test_views_share_memory_again(module):
    source = torch if module == "gradviz" else real_torch()
    t = source.arange(6.0)
    back = there_and_back({"a": t, "b": t[2:], "c": t.view(2, 3).t(), "d": source.ones(2)}, source)
    back["a"][2] = 9.0
    assert back["b"].tolist() == [9.0, 3.0, 4.0, 5.0] and back["c"].stride() == (1, 3)
    assert back["c"].tolist() == [[0.0, 3.0], [1.0, 4.0], [9.0, 5.0]]
    assert back["d"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("module", ["gradviz", "torch"])
def test_what_surrounds_tensors(module):
    source = torch if module == "gradviz" else real_torch()
    model = source.nn.BatchNorm1d(2)
    held = {
        "weight": source.nn.Parameter(source.ones(2)),
        "frozen": source.nn.Parameter(source.ones(2), requires_grad=False),
        "short": source.ones(2, dtype=source.bfloat16),
        "wide": source.ones(2, dtype=source.uint16),
        "state": model.state_dict(),
        "kind": source.float32,
        "where": source.device("cpu"),
        "number": 1 + 2j,
        "none": source.zeros(0, 3),
    }
    back = there_and_back(held, source)
    assert isinstance(back["weight"], torch.nn.Parameter) and back["weight"].requires_grad
    assert isinstance(back["frozen"], torch.nn.Parameter) and not back["frozen"].requires_grad
    assert back["short"].dtype is torch.bfloat16 and back["wide"].dtype is torch.uint16
    assert isinstance(back["state"], collections.OrderedDict)
    assert back["state"]._metadata == {"": {"version": 2}}
    assert back["kind"] is torch.float32 and back["where"] == torch.device("cpu")
    assert back["number"] == 1 + 2j and back["none"].shape == (0, 3)
    torch.nn.BatchNorm1d(2).load_state_dict(back["state"])


def test_more_of_pytorchs_checkpoints():
    real = real_torch()
    noted = real.ones(1)
    noted.note = "kept"
    weight = real.nn.Parameter(real.ones(1))
    weight.note = "kept too"
    back = there_and_back(
        {
            "conj": (real.ones(2) * 1j).conj(),
            "noted": noted,
            "weight": weight,
            "meta": real.ones(2, 3, device="meta").t(),
            "layout": real.strided,
            "array": bytearray(b"ab"),
            "count": collections.Counter("aab"),
            "bytes": b"ab\xff",
            "set": {1, 2},
            "result": real.ones(1, requires_grad=True) * 2,
            "expanded": real.ones(1).expand(3),
        },
        real,
    )
    assert back["conj"].tolist() == [-1j, -1j] and back["noted"].note == "kept"
    assert back["count"] == collections.Counter("aab") and back["bytes"] == b"ab\xff"
    assert back["weight"].note == "kept too" and isinstance(back["weight"], torch.nn.Parameter)
    assert back["meta"].is_meta and back["meta"].stride() == (1, 3)
    assert back["layout"] is torch.strided and back["array"] == b"ab"
    assert back["set"] == {1, 2} and back["result"].requires_grad
    assert back["expanded"].stride() == (0,)


def test_what_is_refused_says_why():
    real = real_torch()
    for held, words in (
        (real.nn.Linear(1, 1), "torch.nn.modules.linear.Linear"),
        (real.eye(2).to_sparse(), "only tensors and containers are read"),
        (real.ones(2).to(real.float8_e4m3fn), "float8_e4m3fn"),
        (collections.defaultdict(list), "collections.defaultdict"),
    ):
        with pytest.raises(pickle.UnpicklingError, match=words):
            there_and_back(held, real)


def test_checkpoints_from_before_zip_archives():
    real = real_torch()
    t = real.arange(6.0)
    stream = io.BytesIO()
    held = {"a": t, "b": t.view(2, 3).t()[1:], "s": real.ones(2, dtype=real.bfloat16), "n": [1]}
    real.save(held, stream, _use_new_zipfile_serialization=False)
    raw = stream.getvalue()
    back = torch.load(io.BytesIO(raw))
    back["a"][1] = 9.0
    assert back["b"].tolist() == [[9.0, 4.0], [2.0, 5.0]] and back["n"] == [1]
    assert back["s"].dtype is torch.bfloat16
    for length in range(2, len(raw), 50):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
            torch.load(io.BytesIO(raw[:length]))
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        torch.load(io.BytesIO(pickle.dumps(1, protocol=2)))


def test_devices():
    with twin.installed():
        model = torch.nn.Linear(2, 1).cuda()
        stream = io.BytesIO()
        torch.save({"x": torch.arange(3.0, device="cuda"), "m": model.state_dict()}, stream)
        raw = stream.getvalue()

        def read(**options):
            return torch.load(io.BytesIO(raw), **options)["x"].device.type

        assert read() == "cuda"
        for there in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, name: storage):
            assert read(map_location=there) == "cpu"
        assert read(map_location=lambda storage, name: None) == "cuda"
        with pytest.raises(TypeError, match="map_location should be"):
            read(map_location=3.5)
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="deserialize object on a CUDA device"):
            read()
    assert read(map_location="cpu") == "cpu"
