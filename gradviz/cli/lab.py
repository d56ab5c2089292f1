"""``gradviz lab [PATH]``: open JupyterLab."""

from __future__ import annotations

import importlib.util
import os
import secrets
import socket
import subprocess
import sys
import webbrowser
from pathlib import Path

from gradviz.texts import text

from .arguments import chosen_language, help_of
from .examples import folder_of_examples


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument("path", nargs="?", type=Path, help=help_of("cli.lab.path"), metavar="PATH")


def command(options) -> int:
    """Open JupyterLab on a notebook or a folder; 2 when that cannot be."""
    path = options.path or folder_of_examples() or Path.cwd()
    if not path.exists():
        print(text("cli.lab.missing", path=path), file=sys.stderr)
        return 2
    return launch(path, "lab")


def launch(path: Path, asked: str) -> int:
    """Run JupyterLab on ``path`` until it ends; says where it is."""
    if not has("jupyterlab", asked):
        return 2
    path = path.resolve()
    root, shown = (path, "") if path.is_dir() else (path.parent, f"/tree/{path.name}")
    port, token = _free_port(), secrets.token_hex(16)
    browser = _browser()
    print(text("cli.lab.url", url=f"http://localhost:{port}/lab{shown}?token={token}"))
    if not browser:
        print(text("cli.lab.no_browser"))
    print(text("cli.lab.stop"), flush=True)
    command = [
        sys.executable, "-m", "jupyterlab",
        f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab{shown}", "--Application.log_level=WARN",
    ]  # fmt: skip
    if getattr(os, "geteuid", lambda: -1)() == 0:
        command.append("--allow-root")  # in a container there is often nobody else
    started = subprocess.Popen(
        command + ([] if browser else ["--no-browser"]),
        env=os.environ | chosen_language() | {"JUPYTER_TOKEN": token},
    )
    return _until_ended(started)


def _until_ended(started):
    """Wait; Ctrl-C ends it in order, with its kernels."""
    try:
        return started.wait()
    except KeyboardInterrupt:
        started.terminate()
        started.wait()
        return 0


def has(module: str, asked: str) -> bool:
    """True when ``module`` is installed; else says which extra brings it."""
    if importlib.util.find_spec(module) is not None:
        return True
    print(text("cli.needs_lab", command=asked, module=module), file=sys.stderr)
    return False


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _browser():
    """True when a browser can be opened here."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
