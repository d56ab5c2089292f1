"""Binder's files say what its builder expects. The image itself cannot be built in a test, but what
its builder does can be repeated in an environment of its own, which takes some minutes:

    pytest -m slow tests/packaging/test_binder.py
"""

import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement

from .clean import Clean

# What Binder's base image already brings, so that requirements.txt need not.
BASE = {"ipywidgets", "ipython", "jupyterlab", "ipykernel", "nbclient", "nbconvert", "nbformat"}
# The versions that Binder's builder pins in its base image, and the page's part of ipywidgets of
# that day. Extensions of the page made for a later JupyterLab write errors into its console.
PINNED = ["jupyterlab==4.4.9", "notebook==7.4.7", "ipykernel==7.0.1", "ipywidgets==8.1.7"]
PINNED += ["jupyterlab_widgets==3.0.15"]
# Of the test, not of the image.
TOOLS = ["pytest", "pytest-timeout", "playwright", "hypothesis", "pyyaml"]
NO_WHEEL = {"torch", "cupy-cuda12x", "cupy-cuda13x"}


def requirements(root):
    lines = (root / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_requirements_are_pinned_and_small(root):
    for requirement in requirements(root):
        (spec,) = requirement.specifier
        assert spec.operator == "=="
        assert requirement.name not in NO_WHEEL


def test_requirements_cover_what_the_package_needs(root):
    """postBuild installs gradviz without its dependencies, so they must be here or in the base."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    pinned = {r.name.lower(): next(iter(r.specifier)).version for r in requirements(root)}
    for need in map(Requirement, wanted):
        if need.name.lower() in BASE:
            continue
        assert need.name.lower() in pinned, f"{need.name} is missing"
        assert need.specifier.contains(pinned[need.name.lower()])


def test_post_build_installs_the_checkout_and_stops_at_an_error(root):
    script = (root / "binder" / "postBuild").read_text(encoding="utf-8")
    assert script.startswith("#!/bin/bash\n") and "set -euo pipefail" in script
    assert re.search(r"pip install .*--no-deps \.$", script, re.M)


def test_the_python_is_one_we_support(root):
    version = (root / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    major, minor = map(int, version.removeprefix("python-").split("."))
    assert (major, minor) >= (3, 11)


def test_the_badge_opens_an_example_that_exists(root):
    readme = (root / "README.md").read_text(encoding="utf-8")
    (path,) = re.findall(r"mybinder\.org/v2/[^)\s]*urlpath=lab/tree/([^)\s]+)", readme)
    assert (root / path).is_file()


def interpreter(root):
    """The Python that runtime.txt names, where it is installed, else this one."""
    named = (root / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().replace("-", "")
    found = shutil.which(named)
    works = found and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0
    return found if works else sys.executable


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_environment_of_the_image_runs_the_view(root, tmp_path):
    """Base, requirements.txt, postBuild, then the view in JupyterLab, as Binder does it."""
    clean = Clean(root, tmp_path, interpreter(root), static=False)
    clean.install(*PINNED)
    clean.install("-r", "binder/requirements.txt")
    clean.run("bash", "binder/postBuild")
    listed = clean.run("python", "-m", "pip", "list", "--format=freeze")
    for requirement in (*PINNED, "gradviz-notebook"):
        assert requirement in listed.replace("gradviz_notebook", "gradviz-notebook")
    assert "torch==" not in listed
    clean.run("python", "-m", "pip", "check")
    # what was installed is tested, not the checkout beside it
    for each in (clean.checkout / "gradviz").iterdir():
        if each.name != "static":
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    clean.install(*TOOLS)
    chosen = "-k", "leak or selecting or grows"
    said = clean.run("python", "-m", "pytest", "-q", "tests/browser/test_view.py", *chosen)
    assert re.search(r"\d+ passed", said) and "skipped" not in said, said
