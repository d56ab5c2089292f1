"""The sdist builds, the wheel builds from it, and an install from the wheel is complete."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import gradviz

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "node_modules", "__pycache__", "dist", "screenshots", ".*_cache"
)


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder with both distributions, built from a copy of the checkout without the network."""
    static = ROOT / "gradviz" / "static"
    if not all((static / name).is_file() for name in ("widget.js", "page.js")):
        pytest.skip("the front end is not built: `npm ci && npm run build` in js/")
    copy = tmp_path_factory.mktemp("checkout") / "gradviz"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    return build(copy, tmp_path_factory.mktemp("dist"), GRADVIZ_SKIP_JS="1")


def build(folder, out, **environment):
    """Both distributions of a folder, the wheel from the sdist; the folder that they are in."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(folder)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def rebuilt(dist, tmp_path_factory):
    """The same from the unpacked sdist, with nothing on PATH and every file of another date."""
    (file,) = dist.glob("gradviz_notebook-*.tar.gz")
    with tarfile.open(file) as archive:
        archive.extractall(folder := tmp_path_factory.mktemp("unpacked"), filter="data")
    (checkout,) = folder.iterdir()
    for each in checkout.rglob("*"):
        os.utime(each, (1e9, 1e9))
    nothing = tmp_path_factory.mktemp("no_node")
    return build(checkout, tmp_path_factory.mktemp("again"), PATH=str(nothing), TZ="Asia/Tokyo")


@pytest.fixture(scope="module")
def sdist_names(dist):
    (file,) = dist.glob("gradviz_notebook-*.tar.gz")
    with tarfile.open(file) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.fixture(scope="module")
def wheel(dist):
    (file,) = dist.glob("gradviz_notebook-*-py3-none-any.whl")
    return file


@pytest.fixture(scope="module")
def wheel_names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def catalogue():
    return {str(file.relative_to(ROOT)) for file in (ROOT / "gradviz" / "texts").glob("*/*.toml")}


def test_the_sdist_carries_bundle_texts_and_sources(sdist_names):
    wanted = catalogue() | {
        "gradviz/static/widget.js",
        "gradviz/static/page.js",
        "gradviz/py.typed",
        "js/package.json",
        "js/package-lock.json",
        ".ci/hatch_build.py",
        "LICENSE",
        "README.md",
        "examples/02_digits.ipynb",
    }
    assert wanted <= sdist_names
    assert any(name.startswith("js/src/") for name in sdist_names)
    assert not any("node_modules" in name for name in sdist_names)


def test_the_wheel_carries_bundle_texts_and_examples(wheel_names):
    wanted = catalogue() | {
        "gradviz/static/widget.js",
        "gradviz/static/page.js",
        "gradviz/py.typed",
        "gradviz/examples/02_digits.ipynb",
        "gradviz/examples/02_digits.zh.ipynb",
    }
    assert wanted <= wheel_names
    tops = {name.split("/")[0] for name in wheel_names}
    assert tops == {"gradviz", f"gradviz_notebook-{gradviz.__version__}.dist-info"}


def test_an_install_from_the_wheel_works_away_from_the_checkout(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = (
        "import sys; sys.path.insert(0, 'site')\n"
        "import gradviz, gradviz.texts\n"
        "assert gradviz.__file__.startswith(sys.argv[1]), gradviz.__file__\n"
        "assert gradviz.texts.sections()\n"
        "x = gradviz.tensor(3.0, requires_grad=True); (x * x).backward()\n"
        "print(x.grad.item())"
    )
    command = [sys.executable, "-I", "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == "6.0", done.stderr


def test_the_metadata_name_and_extras():
    assert PROJECT["name"] == "gradviz-notebook"
    assert {"lab", "test", "cuda12", "cuda13", "fast"} <= set(PROJECT["optional-dependencies"])
    assert PROJECT["scripts"] == {"gradviz": "gradviz.cli.main:main"}


def test_a_build_from_the_sdist_needs_no_node_and_gives_the_same_bytes(dist, rebuilt):
    first, second = (
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
        for folder in (dist, rebuilt)
    )
    assert len(first) == 2 and first == second


def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size < 2_000_000


def test_nothing_of_this_machine_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        found = [n for n in archive.namelist() if str(ROOT).encode() in archive.read(n)]
    assert found == []
