"""The JupyterLite site, built by its one command. What Pyodide brings is NumPy for a browser, which
is fetched from its address; so far as there is none, the rest is tried:

    pytest -m slow tests/packaging/test_lite.py
"""

import functools
import hashlib
import http.server
import json
import mimetypes
import shutil
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

from tests.browser.conftest import browser  # noqa: F401

from .clean import Clean

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PYODIDE = "https://cdn.jsdelivr.net/pyodide/"
# what the kernel asks for before the first cell runs, all of it plain Python
FIRST = (
    "asttokens decorator executing ipython jedi matplotlib-inline micropip parso prompt-toolkit "
    "pure-eval pygments six stack-data traitlets wcwidth"
)
# gradviz without its face, which needs NumPy: the watch, the rules, the pictures
WITHOUT_NUMPY = """%pip install -q --no-deps gradviz-notebook
import importlib.util, sys, types
face = types.ModuleType("gradviz")
face.__path__ = importlib.util.find_spec("gradviz").submodule_search_locations
sys.modules["gradviz"] = face
import gradviz.doctor.examine, gradviz.export.html, gradviz.export.svg, gradviz.texts
import gradviz.watch.recorder, gradviz.watch.trace
from gradviz.notebook.ticker import Ticker
clock = Ticker(print, 0.1)
clock.start()
print("loaded", clock.alive)"""


@pytest.fixture(scope="module")
def clean(root, tmp_path_factory):
    """An environment in which the site was built."""
    made = Clean(root, tmp_path_factory.mktemp("lite"))
    made.install(".[lite]")
    made.run("python", "binder/lite.py", "site")
    return made


@pytest.fixture(scope="module")
def site(clean):
    """The folder of the site, and the address of a server that does nothing but hand out files."""
    folder = clean.checkout / "site"

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}/lab/index.html"
        server.shutdown()


@pytest.fixture
def opened(browser, site):  # noqa: F811
    """``opened(lesson, answer)``: its page and what the console called errors; ``answer`` gets
    every request that leaves this machine.
    """
    contexts = []

    def open_lesson(name, answer):
        context = browser.new_context(viewport={"width": 1440, "height": 960})
        contexts.append(context)
        page, errors = context.new_page(), []
        page.on("console", lambda m: m.type == "error" and errors.append(m.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        context.route(lambda url: not url.startswith("http://127.0.0.1"), answer)
        page.goto(f"{site[1]}?path={name}")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
        return page, errors

    yield open_lesson
    for context in contexts:
        context.close()


def test_the_wheel_and_every_lesson_are_in_the_site(root, site):
    folder, _ = site
    index = json.loads((folder / "pypi" / "all.json").read_text(encoding="utf-8"))
    assert {"gradviz-notebook", "anywidget", "ipywidgets", "comm"} <= set(index)
    lessons = {file.name for file in (root / "examples").glob("*.ipynb")}
    listed = json.loads((folder / "api" / "contents" / "all.json").read_text(encoding="utf-8"))
    assert lessons <= {one["name"] for one in listed["content"]}
    for name in lessons:
        book = json.loads((folder / "files" / name).read_text(encoding="utf-8"))
        first = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
        assert first["source"][0] == "%pip install -q gradviz-notebook\n"


@pytest.mark.parametrize("name", ["01_first_graph.ipynb", "11_leak_clinic.zh.ipynb"])
def test_a_lesson_opens_and_lacks_only_its_kernel(opened, name):
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    page, errors = opened(name, refuse)
    page.get_by_text("Python (Pyodide)", exact=True).wait_for()
    page.wait_for_timeout(5000)
    assert "gradviz" in page.locator(".jp-Notebook .jp-CodeCell").first.text_content()
    assert page.locator(".jp-DirListing-item").count() >= 40
    assert asked and all(url.startswith(PYODIDE) for url in asked)
    assert [error for error in errors if PYODIDE not in error] == []


@pytest.fixture(scope="module")
def mirror(clean, tmp_path_factory):
    """Pyodide without its compiled packages: from npm, and what is plain Python from the index."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("pyodide")
    version = "from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION as it; print(it)"
    wanted = clean.run("python", "-c", version).strip()
    npm = ["npm", "install", "--prefix", str(folder), "--no-save", f"pyodide@{wanted}"]
    if subprocess.run(npm, capture_output=True).returncode:
        pytest.skip("Pyodide cannot be had from npm")
    core = folder / "node_modules" / "pyodide"
    lock = json.loads((core / "pyodide-lock.json").read_text())
    pure = [f"{name}=={lock['packages'][name]['version']}" for name in FIRST.split()]
    python = ["--python-version", lock["info"]["python"], "--only-binary=:all:", "--no-deps"]
    clean.run("python", "-m", "pip", "download", "-q", *python, "-d", str(core), *pure)
    for package in lock["packages"].values():
        file = core / package["file_name"]
        if file.is_file():
            package["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    (core / "pyodide-lock.json").write_text(json.dumps(lock))
    return core


def test_python_runs_in_the_page_as_far_as_numpy_is_not_needed(opened, mirror):
    types = {".mjs": "text/javascript", ".wasm": "application/wasm"}

    def answer(route):
        file = mirror / route.request.url.rpartition("/")[2]
        if not file.is_file():
            return route.abort()
        kind = types.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/zip"
        headers = {"content-type": kind, "access-control-allow-origin": "*"}
        return route.fulfill(path=str(file), headers=headers)

    page, errors = opened("01_first_graph.ipynb", answer)
    cell = page.locator(".jp-Notebook .jp-CodeCell").first
    ask(page, cell, WITHOUT_NUMPY)
    said = cell.locator(".jp-OutputArea-output")
    said.get_by_text("loaded False").wait_for(timeout=120_000)
    ask(page, cell, "del sys.modules['gradviz']\nimport gradviz")
    said.get_by_text("No module named 'numpy'").first.wait_for(timeout=60_000)
    assert [
        e for e in errors if "404" not in e
    ] == []  # JupyterLab looks for the files of a traceback


def ask(page, cell, code):
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)
    page.keyboard.press("Control+Enter")


def test_every_lesson_runs_in_the_kernel_of_the_site(root, clean, site, tmp_path):
    """Its Python part, on this machine's NumPy; the notebooks are those of the site."""
    (wheel,) = site[0].glob("extensions/**/pyodide_kernel-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "kernel")
    script = str(Path(__file__).with_name("lite_kernel.py"))
    lessons = sorted(map(str, (site[0] / "files").glob("[0-9]*.ipynb")))
    shutil.rmtree(clean.checkout / "gradviz")  # what was installed is what runs
    private = {"PYTHONPATH": str(tmp_path / "kernel"), "IPYTHONDIR": str(tmp_path)}
    progress = str(tmp_path / "progress.json")
    said = clean.run("python", script, *lessons, GRADVIZ_PROGRESS=progress, **private)
    told = json.loads(said.splitlines()[-1])
    assert len(told) == len(lessons) >= 40
    assert [one for one in told if one["wrong"]] == []
    assert all(one["sent"] for one in told)
