"""The exported page: one file, nothing fetched, data that cannot become markup."""

import json
import re

import pytest

from gradviz.export import html
from gradviz.export.html import bundle, page
from gradviz.watch.model import Detail, Stats
from tests.traces import HOSTILE, chain, finding, small_net


@pytest.fixture
def script(monkeypatch):
    monkeypatch.setattr(html, "_script", lambda: "window.gradviz = 1;")


def data_of(content):
    found = re.search(
        r'<script type="application/json" id="gradviz-data">(.*?)</script>', content, re.S
    )
    return json.loads(found.group(1))


def test_the_data_is_the_frozen_twin(script):
    net = small_net()
    net.set_findings([finding()])
    stats = Stats((2,), "float32", mean=float("inf"), values=[1.0, float("nan")])
    data = data_of(page(net.trace, lambda i: Detail(i, value=stats)))
    assert data["schema"] == 1 and data["language"] == "en"
    assert [n["id"] for n in data["nodes"]] == list(range(1, 11))
    assert data["nodes"][2]["saved"][0]["state"] == "freed"
    assert data["details"]["6"]["value"]["values"] == [1.0, "NaN"]
    assert data["details"]["6"]["value"]["mean"] == "Infinity"
    assert data["findings"][0]["fix"]["zh"]
    assert data["status"]["shown"] == 10


def test_a_page_is_at_rest():
    net = small_net()
    net.begin_cell(1, None, "")
    net.end_cell()
    net.begin_cell(2, None, "")
    status = bundle(net.trace)["status"]
    assert (status["state"], status["cell"]) == ("idle", 1)
    assert [cell["count"] for cell in status["cells"]] == [1]


def test_hostile_text_cannot_leave_the_data(script):
    content = page(small_net(label=HOSTILE + "</script><!--").trace)
    assert content.count("</script>") == 2 and "alert(1)</" not in content
    assert data_of(content)["nodes"][0]["label"].startswith('"><script>')


def test_nothing_is_fetched(script):
    content = page(small_net().trace)
    assert "default-src 'none'" in content
    assert not re.findall(r'(?:src|href)="(?!data:)', content)


def test_without_the_script_the_picture_is_there(monkeypatch):
    monkeypatch.setattr(html, "_script", lambda: "")
    assert '<div id="gradviz"><svg' in page(small_net().trace)


def test_large_graphs_are_cut_and_say_so():
    found = bundle(chain(30_000).trace)
    assert len(found["nodes"]) == 20_000
    assert (found["status"]["shown"], found["status"]["total"]) == (20_000, 30_001)


def test_one_graph_only():
    assert [n.id for n in bundle(small_net().trace, target=5)["nodes"]] == [1, 2, 3, 4, 5]


def test_the_other_language(script):
    assert '<html lang="zh">' in page(small_net().trace, lang="zh")
