"""``gradviz demo --no-lab`` from the outside: a real kernel, findings, one page."""

import json
import re

import pytest

from tests.cli.test_check import gradviz

pytest.importorskip("nbclient", reason="nbclient is not installed")


def test_the_demo(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    page = tmp_path / "out.html"
    ended = gradviz("demo", "--no-lab", "--output", page, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert str(page) in ended.stdout
    assert "losses[" in ended.stdout and "In [" in ended.stdout and "write" in ended.stdout
    assert "100%" in ended.stderr
    data = re.search(
        r'id="gradviz-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S
    ).group(1)
    bundle = json.loads(data)
    assert len(bundle["nodes"]) > 10 and bundle["findings"]
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page.read_text(encoding="utf-8"))


def test_the_demo_in_chinese(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    page = tmp_path / "out.html"
    ended = gradviz("demo", "--no-lab", "--output", page, "--lang", "zh", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "被引用：losses[" in ended.stdout
    assert '<html lang="zh">' in page.read_text(encoding="utf-8")
