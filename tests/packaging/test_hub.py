"""A JupyterHub of two people, each at an address of their own below another one:

pytest -m slow tests/packaging/test_hub.py
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.browser.conftest import browser  # noqa: F401
from tests.browser.notebook import HARMLESS

from .clean import Clean, answers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PEOPLE = ("ann", "bo")
CONFIG = """
import os
c.JupyterHub.bind_url = "http://127.0.0.1:{port}/class/"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{homes}/{{username}}"
c.Spawner.args = ["--allow-root"]
c.Spawner.environment = {{"PATH": os.environ["PATH"]}}
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


@pytest.fixture
def hub(root, tmp_path):
    """The address of a hub, and the folder with the homes of ``PEOPLE``, each with the lessons."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    clean = Clean(root, tmp_path)
    clean.install(".[lab]", "jupyterhub>=5")
    npm = ["npm", "install", "--prefix", str(tmp_path), "--no-save", "configurable-http-proxy"]
    if subprocess.run(npm, capture_output=True).returncode:
        pytest.skip("the proxy cannot be had from npm")
    homes = tmp_path / "homes"
    for person in PEOPLE:
        shutil.copytree(root / "examples", homes / person)
    port, hub, api = free_ports(3)
    proxy = str(tmp_path / "node_modules" / ".bin" / "configurable-http-proxy")
    file = tmp_path / "jupyterhub_config.py"
    file.write_text(CONFIG.format(port=port, hub=hub, api=api, proxy=proxy, homes=homes))
    with open(tmp_path / "hub.log", "w") as log:
        process = subprocess.Popen(
            ["jupyterhub", "-f", file], cwd=tmp_path, env=clean.environment,
            executable=clean.venv / "bin" / "jupyterhub", stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    url = f"http://127.0.0.1:{port}/class"
    try:
        end = time.monotonic() + 120
        while not answers(f"{url}/hub/login"):
            assert process.poll() is None and time.monotonic() < end, Path(log.name).read_text()
            time.sleep(0.2)
        yield url, homes
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def begin(context, url, person):
    """The page of a person who has logged in and opened lesson 01; its console errors."""
    page, errors = context.new_page(), []
    page.on("console", lambda m: m.type == "error" and errors.append(m.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{url}/hub/login")
    page.fill("#username_input", person)
    page.fill("#password_input", "any")
    page.click("#login_submit")
    page.wait_for_url(f"**/user/{person}/**", timeout=120_000)
    page.goto(f"{url}/user/{person}/lab/tree/01_first_graph.ipynb")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=120_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=120_000)
    return page, errors


def run_with_view(page):
    """The first cells, with a docked view asked for in the first and a text between the two."""
    page.locator(".jp-Notebook .jp-CodeCell").first.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\n%gradviz")
    for _ in range(3):
        page.keyboard.press("Shift+Enter")
    page.locator("[data-testid=gv-count]").first.wait_for(state="attached", timeout=60_000)


def test_two_people_have_live_views_under_addresses_of_their_own(browser, hub):  # noqa: F811
    url, homes = hub
    for person in PEOPLE:
        context = browser.new_context(viewport={"width": 1440, "height": 960})
        page, errors = begin(context, url, person)
        run_with_view(page)
        seven = page.locator("[data-testid=gv-count][data-total='7']")
        seven.first.wait_for(state="attached", timeout=60_000)
        page.locator(".jp-Notebook .jp-CodeCell").nth(1).locator(".cm-content").click()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text("lesson.compare(2, 2)")
        page.keyboard.press("Control+Enter")
        end = time.monotonic() + 60
        while not (homes / person / "gradviz-progress.json").is_file():
            assert time.monotonic() < end, "progress was not written to the person's own folder"
            page.wait_for_timeout(200)
        assert [e for e in errors if not any(part in e for part in HARMLESS)] == []
        context.close()
