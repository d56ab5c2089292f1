"""The lessons as a JupyterLite site: JupyterLab and Python run in the reader's browser, and any web
server that hands out files will do.

    python -m pip install '.[lite]'
    python binder/lite.py [FOLDER]    (default: build/lite)

Pyodide and its NumPy and SciPy are fetched by the reader's browser from Pyodide's own address when
a lesson first needs them; gradviz and what else it needs are part of the site.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALL = "%pip install -q gradviz-notebook\n"
# What Pyodide does not bring; the versions are those of EXTENSIONS, the page's parts.
PURE = ("anywidget", "comm", "graphviz", "ipywidgets", "jupyterlab_widgets", "psygnal")
# Whatever else lies in the environment stays out of the site.
EXTENSIONS = (
    "@jupyterlite/pyodide-kernel-extension",
    "@jupyter-widgets/jupyterlab-manager",
    "anywidget",
)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "lite")
    out = parser.parse_args(arguments).folder.resolve()
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        lessons(work / "lessons")
        wheels(work / "wheels")
        build(work, out)
    print(f"{out}: open lab/index.html?path=01_first_graph.ipynb on a web server")


def lessons(folder):
    """The notebooks in both languages, each of which installs gradviz first, and their lists."""
    folder.mkdir()
    for file in (ROOT / "examples").glob("*.md"):
        shutil.copy(file, folder)
    for file in (ROOT / "examples").glob("*.ipynb"):
        book = json.loads(file.read_text(encoding="utf-8"))
        first = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
        first["source"] = [INSTALL, *first["source"]]
        text = json.dumps(book, ensure_ascii=False, indent=1)
        (folder / file.name).write_text(text + "\n", encoding="utf-8")


def wheels(folder):
    """The wheel of this checkout, and those of ``PURE``."""
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
    wanted = [f"{name}=={version(name)}" for name in PURE]
    pure = ["--platform=any", "--implementation=py", "--abi=none", "--only-binary=:all:"]
    command = [*pip, "download", "-q", "--no-deps", *pure, "-d", folder, *wanted]
    subprocess.run(command, check=True)


def build(work, out):
    """The site in ``out``."""
    options = ["--ignore-sys-prefix", "federated_extensions", "--no-sourcemaps", "--apps", "lab"]
    for name in EXTENSIONS:
        installed = Path(sys.prefix, "share", "jupyter", "labextensions", name)
        options += ["--LiteBuildConfig.federated_extensions", installed]
    for file in (work / "wheels").iterdir():
        options += ["--piplite-wheels", file]
    options += ["--contents", work / "lessons", "--output-dir", out]
    command = [sys.executable, "-m", "jupyter", "lite", "build", *map(str, options)]
    subprocess.run(command, check=True, cwd=work)


if __name__ == "__main__":
    sys.exit(main())
