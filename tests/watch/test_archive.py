"""Traces in files: what was written is read, what is no trace is refused, nothing is run."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from gradviz.watch import archive
from gradviz.watch.archive import Archive, read, write
from gradviz.watch.model import Cell, Detail, Edge, Finding, Node, Place, Stats
from gradviz.watch.schema import schema
from gradviz.watch.trace import Trace


@pytest.fixture
def trace():
    made = Trace()
    made.nodes[3] = Node(3, "operation", "MulBackward0", "loss", (2,), "float32", place=Place(1, 2))
    made.edges[3, 0] = Edge(1, 3, grad_norm=float("inf"))
    made.cells = [Cell(1, "a", "x = 1", 1.0, 2.0, bytes={"saved": 8})]
    made.findings = [Finding("GV101", "leak.container", "warning", [], 1, 2, 3, 4, {}, {})]
    made.details[3] = Detail(3, Stats((2,), "float32", minimum=float("nan"), heat=[[1.0, None]]))
    return made


def test_what_is_written_is_read(trace, tmp_path):
    values = {3: np.arange(6.0).reshape(2, 3).T}
    path = write(tmp_path / "a.gvz", Archive(trace, values, {3: np.float16([1, 2])}))
    found = read(path)
    assert found.trace.nodes == trace.nodes and found.trace.findings == trace.findings
    assert found.trace.edges == trace.edges and found.trace.cells == trace.cells
    assert np.isnan(found.trace.details[3].value.minimum)
    np.testing.assert_array_equal(found.values[3], values[3])
    assert found.grads[3].dtype == np.float16 and found.named("loss") == 3
    with pytest.raises(KeyError):
        found.named("other")


def test_the_schema_describes_it(trace):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(json.dumps(trace.to_json())), schema())
    broken = trace.to_json()
    broken["nodes"][0]["id"] = "three"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(broken, schema())


def packed(tmp_path, **members):
    path = tmp_path / "b.gvz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a file ran code",))


def test_what_is_no_trace_is_refused(trace, tmp_path, monkeypatch):
    whole = json.dumps(trace.to_json())
    plain = tmp_path / "plain.gvz"
    plain.write_text("no archive")
    other = json.dumps(trace.to_json() | {"schema": 99})
    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    hostile = {"trace.json": whole, "values/3.npy": stream.getvalue()}
    bare = {"trace.json": whole, "values/3.npy": pickle.dumps(Trap())}
    for path in (
        plain,
        packed(tmp_path, other="x"),
        packed(tmp_path, **{"trace.json": "[]"}),
        packed(tmp_path, **{"trace.json": other}),
        packed(tmp_path, **hostile),
        packed(tmp_path, **bare),
    ):
        with pytest.raises(ValueError, match="."):
            read(path)
    bomb = packed(tmp_path, **{"trace.json": whole, "values/1.npy": b"0" * 100_000})
    monkeypatch.setattr(archive, "LARGEST", 50_000)
    with pytest.raises(ValueError, match="unpacks"):
        read(bomb)


def test_other_members_are_passed_over(trace, tmp_path):
    strange = {
        "trace.json": json.dumps(trace.to_json()),
        "../../evil.npy": b"x",
        "values/x.npy": b"",
    }
    assert read(packed(tmp_path, **strange)).values == {}
