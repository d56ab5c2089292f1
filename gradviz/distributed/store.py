"""Arrays handed from process to process through a folder.

Every exchange has a key. A process writes its array under the key and its rank (atomically, by
renaming) and waits for
those of the others. What it wrote under a key is removed when it has come two keys further: by then
everybody has read it.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from ..backend import xp


class Folder:
    """The folder of one group of processes."""

    def __init__(self, path, rank, size, timeout=300.0):
        self.path, self.rank, self.size, self.timeout = Path(path), rank, size, timeout
        self.path.mkdir(parents=True, exist_ok=True)
        self._written = []

    def _name(self, key, rank):
        return self.path / f"{key}.{rank}.npy"

    def write(self, key, array):
        """Offer an array to the others."""
        target = self._name(key, self.rank)
        half = target.with_suffix(f".{os.getpid()}.part")
        with open(half, "wb") as file:
            xp.save(file, array, allow_pickle=False)
        os.replace(half, target)
        self._written.append(target)
        while len(self._written) > 2:
            self._written.pop(0).unlink(missing_ok=True)

    def read(self, key, rank):
        """Wait for the array of another process; RuntimeError when it does not come."""
        name, end, pause = self._name(key, rank), time.monotonic() + self.timeout, 1e-4
        while True:
            try:
                with open(name, "rb") as file:
                    return xp.load(file, allow_pickle=False)
            except FileNotFoundError:
                if time.monotonic() > end:
                    raise RuntimeError(
                        f"Timed out after {self.timeout:g} s waiting for rank {rank}"
                    ) from None
            time.sleep(pause)
            pause = min(pause * 2, 5e-3)

    def exchange(self, key, array):
        """The arrays of all processes, by rank."""
        self.write(key, array)
        return [array if r == self.rank else self.read(key, r) for r in range(self.size)]

    def close(self):
        """Say goodbye; the last one to leave removes the folder."""
        (self.path / f"left.{self.rank}").touch()
        if all((self.path / f"left.{r}").exists() for r in range(self.size)):
            shutil.rmtree(self.path, ignore_errors=True)
