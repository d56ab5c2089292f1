"""Arrays handed from process to process of one machine through a folder; nothing listens.

A message is one file, linked once for every receiver, who removes its link after reading. A rank
holds a lock on a file of its own as long as it lives, so that the others notice when it is gone.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

from ..backend import xp
from .transport import Pending, Ready, Transport

# on Windows a rank that is gone is noticed by the timeout only
fcntl = None if sys.platform == "win32" else import_module("fcntl")


class Folder(Transport):
    """The processes that share ``path``; only the person who owns the folder can read it."""

    def __init__(self, path, rank, size):
        super().__init__(rank, size)
        self._numbers = defaultdict(int)
        self.path, self._lock = _entered(Path(path), rank)
        if fcntl is not None:
            fcntl.lockf(self._lock, fcntl.LOCK_EX)

    def _next(self, *what):
        self._numbers[what] += 1
        return self._numbers[what]

    def _message(self, tag, source, to, number):
        return self.path / f"{tag}.{source}.{to}.{number}.npy"

    def send(self, array, to, tag):
        if not to:
            return Ready()
        written = self.path / f"part.{self.rank}.{self._next('part')}"
        with open(written, "wb") as file:
            xp.save(file, array.view("u1"), allow_pickle=False)
        for rank in to:
            number = self._next("sent", rank, tag)
            os.link(written, self._message(tag, self.rank, rank, number))
        written.unlink()
        return Ready()

    def receive(self, like, source, tag):
        if source is None:
            return _Letter(self, like, None, tag)
        return _Letter(self, like, source, tag, self._next("received", source, tag))

    def part(self, ranks, name):
        if self.rank not in ranks:
            return None
        return Folder(self.path / name, ranks.index(self.rank), len(ranks))

    def check(self, waited):
        for rank in waited:
            if rank is not None and self._gone(rank):
                raise RuntimeError(f"rank {rank} ended before it had sent what is waited for")

    def _gone(self, rank):
        name = self.path / f"alive.{rank}"
        if fcntl is None or not name.exists():
            return False
        with open(name, "r+") as file, contextlib.suppress(OSError):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def close(self):
        """Say goodbye; the last one to leave removes the folder."""
        self._lock.close()
        (self.path / f"left.{self.rank}").touch()
        if all((self.path / f"left.{r}").exists() for r in range(self.size)):
            shutil.rmtree(self.path, ignore_errors=True)


def _entered(path, rank):
    """The folder and this rank's file in it. What an earlier job that broke off left is passed
    by."""
    for attempt in itertools.count():
        place = path.with_name(f"{path.name}.{attempt}") if attempt else path
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileExistsError):
            return place, open(place / f"alive.{rank}", "x")  # noqa: SIM115 (held until close)


class _Letter(Pending):
    """A message that is to come."""

    def __init__(self, folder, like, source, tag, number=None):
        self._folder, self._like, self._tag, self._number = folder, like, tag, number
        self.source, self._found = source, None

    def poll(self):
        if self._found is None:
            for name, source, number in self._candidates():
                with contextlib.suppress(FileNotFoundError):
                    self._found = self._read(name)
                    self.source = source
                    if self._number is None:
                        self._folder._numbers["received", source, self._tag] = number
                    break
        return self._found is not None

    def _candidates(self):
        folder, number = self._folder, self._number
        for source in folder._others() if self.source is None else [self.source]:
            wanted = number or folder._numbers["received", source, self._tag] + 1
            yield folder._message(self._tag, source, folder.rank, wanted), source, wanted

    def _read(self, name):
        with open(name, "rb") as file:
            raw = xp.load(file, allow_pickle=False)
        name.unlink()
        if raw.size != self._like.nbytes:
            raise RuntimeError(
                f"rank {self._folder.rank} expected {self._like.nbytes} bytes, got {raw.size}"
            )
        return raw.view(self._like.dtype)

    def value(self):
        return self._found

    def missing(self):
        return () if self._found is not None else (self.source,)
