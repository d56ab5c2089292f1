"""What every test shares: a quiet, private environment, and the rule about browser tests."""

import gc
import os
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Before anything imports Jupyter or IPython: nothing of the person's own configuration takes part.
_private = tempfile.TemporaryDirectory(prefix="gradviz-tests-")
for _name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
    os.environ[_name] = os.path.join(_private.name, _name.lower())
os.environ["GRADVIZ_LANG"] = "en"


@pytest.fixture(scope="session")
def root():
    """The top folder of the checkout."""
    return ROOT


@pytest.fixture(autouse=True, scope="module")
def what_other_files_left_is_not_searched():
    """Collections look only at what the tests of this file made, not at all that was before. What
    is garbage goes first: workers of a loader end only with it.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nobody_looks_on(monkeypatch):
    """Each test begins as a process does: no hook and no Function was ever seen, so that sweeps
    take their short way until the test itself makes one.
    """
    from gradviz.engine.modes import state

    monkeypatch.setattr(state, "onlookers", False)


@pytest.fixture(autouse=True)
def torch_is_torch():
    """A test may let ``import torch`` mean gradviz; for the next one it means PyTorch again."""
    before = _torch_modules()
    yield
    ours = [one for one in sys.meta_path if type(one).__module__ == "gradviz.notebook.alias"]
    for finder in ours:
        sys.meta_path.remove(finder)
    if ours:
        for name in _torch_modules():
            del sys.modules[name]
        sys.modules.update(before)


def _torch_modules():
    return {name: sys.modules[name] for name in list(sys.modules) if name.split(".")[0] == "torch"}


def pytest_collection_modifyitems(config, items):
    """Everything in tests/browser needs a browser; long training runs only when it is asked for."""
    asked = "slow" in (config.option.markexpr or "")
    for item in items:
        if item.get_closest_marker("slow") and not asked:
            item.add_marker(pytest.mark.skip(reason="a long run: pytest -m slow"))
        if (ROOT / "tests" / "browser") in item.path.parents:
            item.add_marker(pytest.mark.browser)


def _browser_required():
    return os.environ.get("GRADVIZ_REQUIRE_BROWSER") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With GRADVIZ_REQUIRE_BROWSER=1 a browser test that would skip fails."""
    report = yield
    expected = hasattr(report, "wasxfail") or not item.get_closest_marker("browser")
    if report.skipped and _browser_required() and not expected:
        report.outcome = "failed"
        report.longrepr = f"a browser test may not skip here: {call.excinfo.value}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """The same for a whole file of browser tests."""
    report = yield
    path = getattr(collector, "path", ROOT)
    if report.skipped and _browser_required() and (ROOT / "tests" / "browser") in path.parents:
        report.outcome = "failed"
        report.longrepr = f"{path.name}: browser tests may not skip here"
    return report


def pytest_unconfigure(config):
    """Python's last collections would look through everything that thousands of tests left."""
    gc.freeze()
