"""A checkout and an environment of their own, for what people do on a machine that has neither."""

import os
import shutil
import subprocess
import sys
import urllib.request

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "node_modules", "__pycache__", "build", "dist", "screenshots", ".*_cache"
)  # fmt: skip


class Clean:
    """``checkout`` and ``venv`` below ``folder``; without ``static`` the front end is not built."""

    def __init__(self, root, folder, python=sys.executable, static=True):
        self.checkout, self.venv = folder / "checkout", folder / "venv"
        shutil.copytree(root, self.checkout, ignore=LEFT_OUT)
        if not static:
            shutil.rmtree(self.checkout / "gradviz" / "static", ignore_errors=True)
        subprocess.run([python, "-m", "venv", self.venv], check=True)
        private = ("PYTHONPATH", "GRADVIZ_SKIP_JS", "GRADVIZ_LANG", "IPYTHONDIR")
        kept = {
            k: v for k, v in os.environ.items() if k not in private and not k.startswith("JUPYTER")
        }
        path = os.pathsep.join([str(self.venv / "bin"), kept["PATH"]])
        self.environment = kept | {"PATH": path}

    def run(self, *command, **environment):
        """The output of a command in the checkout; it must succeed."""
        done = subprocess.run(
            command, cwd=self.checkout, env=self.environment | environment,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def install(self, *what):
        """``pip install``."""
        self.run("python", "-m", "pip", "install", "--quiet", *what)


def answers(url):
    """Whether a server answers there."""
    try:
        urllib.request.urlopen(url, timeout=1).close()
    except OSError:
        return False
    return True
