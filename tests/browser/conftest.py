"""Real JupyterLab and Notebook 7, real kernel, real Chromium; skipped with a reason without one."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
}  # fmt: skip


def chromium():
    """The path of a Chromium, from CHROMIUM or the usual names, else None."""
    named = os.environ.get("CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-browser")
    return found or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The address of a JupyterLab of our own and the folder that it serves."""
    with _serving("jupyterlab", tmp_path_factory.mktemp("lab")) as served:
        yield served


@pytest.fixture(scope="session")
def notebook7(tmp_path_factory):
    """The same of Notebook 7."""
    with _serving("notebook", tmp_path_factory.mktemp("notebook7")) as served:
        yield served


@contextmanager
def _serving(app, root):
    pytest.importorskip(app, reason=f"{app} is not installed")
    if chromium() is None:
        pytest.skip("no Chromium found (set CHROMIUM to its path)")
    if not (ROOT / "gradviz" / "static" / "widget.js").is_file():
        pytest.skip("the view's JavaScript is not built")
    (root / "notebooks").mkdir()
    process, port = _start(app, root)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url, process, root / "lab.log")
        yield url + ("/lab/tree" if app == "jupyterlab" else "/notebooks"), root / "notebooks"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


def _start(app, root):
    for name, value in SETTINGS.items():
        file = root / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value))
    folders = {
        "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython", "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "spaces",
    }  # fmt: skip
    environment = os.environ | {name: str(root / folder) for name, folder in folders.items()}
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    )
    environment.pop("GRADVIZ_LANG", None)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", app, "--no-browser", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--allow-root",
        f"--ServerApp.root_dir={root / 'notebooks'}", "--expose-app-in-browser",
        "--LabApp.extension_manager=readonly", "--ServerApp.terminals_enabled=False",
    ]  # fmt: skip
    log = open(root / "lab.log", "w")  # noqa: SIM115
    started = subprocess.Popen(
        command, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    return started, port


def _wait_for(url, process, log):
    for _ in range(900):
        try:
            urllib.request.urlopen(url + "/api/status", timeout=1)
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
    raise AssertionError("JupyterLab did not start:\n" + log.read_text())


@pytest.fixture(scope="session")
def browser():
    """A Chromium that all tests share."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if chromium() is None:
        pytest.skip("no Chromium found (set CHROMIUM to its path)")
    with playwright.sync_playwright() as started:
        chrome = started.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield chrome
        chrome.close()


@pytest.fixture
def notebook(lab, opener):
    """A function that opens a notebook of the given cells in JupyterLab."""
    return opener(*lab)


@pytest.fixture
def opener(browser):
    """For an address and a folder: a function that opens notebooks there; pages are closed in the
    end.
    """
    from tests.browser.notebook import Notebook

    opened = []

    def at(url, folder):
        def open_notebook(cells, name="test.ipynb", theme="light", locale="en-US"):
            viewport = {"width": 1440, "height": 960}
            context = browser.new_context(viewport=viewport, locale=locale)
            book = Notebook(context, url, folder, name)
            opened.append(book)
            book.open(cells, theme)
            return book

        return open_notebook

    yield at
    for book in opened:
        book.close()
