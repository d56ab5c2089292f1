"""Binder's files say what its builder expects. (The image itself cannot be built in a test.)"""

import re
import tomllib

from packaging.requirements import Requirement

# What Binder's base image already brings, so that requirements.txt need not.
BASE = {"ipywidgets", "ipython", "jupyterlab", "ipykernel", "nbclient", "nbconvert", "nbformat"}
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
