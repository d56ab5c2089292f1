"""Before and after each cell: IPython's events told to the session. A handler never raises."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps

from IPython.core.error import UsageError

from gradviz.backend.memory import heap
from gradviz.texts import text
from gradviz.watch.holders import Roots
from gradviz.watch.places import persons_modules

from .session import Session

log = logging.getLogger("gradviz")


def guarded(handler):
    """``handler`` that says one line, once, instead of raising into the person's cell."""

    @wraps(handler)
    def call(self, *arguments):
        try:
            return handler(self, *arguments)
        except KeyboardInterrupt:
            return None
        except Exception as error:
            log.debug("a handler failed", exc_info=True)
            self.complain(error)

    return call


class Cells:
    """Listens to ``shell``'s cells for its ``session``; ``ended(findings)`` is called after each.

    ``number`` counts them; ``plain_client`` is True when the client names no cells, only runs them;
    ``frames()`` gives the locals of functions that are looked at as well.
    """

    def __init__(self, shell, ended):
        self.shell, self.ended = shell, ended
        self.session = Session(self.cell_of)
        self.plain_client = True
        self.number = self.count = 0
        self.frames: Callable[[], list] = list
        self._depth = 0
        self._adopted = False
        self._complained = False

    def register(self):
        """Begin to listen. The cell that loads us has begun already."""
        self.shell.events.register("pre_run_cell", self.before)
        self.shell.events.register("post_run_cell", self.after)
        self.adopt()

    def unregister(self):
        """Stop listening."""
        self.shell.events.unregister("pre_run_cell", self.before)
        self.shell.events.unregister("post_run_cell", self.after)

    @guarded
    def adopt(self):
        """Follow the cell that is already running."""
        self._depth, self._adopted = 1, True
        self.count = self.shell.displayhook.prompt_count
        cell_id = running_cell(self.shell)
        self.plain_client = cell_id is None
        self.session.begin(self.count, cell_id, last_input(self.shell))

    @guarded
    def before(self, info):
        """A cell begins; one inside another (a magic that runs a cell) is part of it."""
        if self._adopted and self._depth == 1:
            self._depth, self._adopted = 0, False
        self._depth += 1
        self.number += self._depth == 1
        if self._depth == 1 and not info.silent:
            self.plain_client = getattr(info, "cell_id", None) is None
            self.count = self._count_of(info)
            self.session.begin(self.count, info.cell_id, info.raw_cell or "")

    @guarded
    def after(self, result):
        """A cell has ended."""
        self._depth = max(0, self._depth - 1)
        self._adopted = False
        if self._depth == 0 and self.session.running:
            error = result.error_before_exec or result.error_in_exec
            asked_wrongly = isinstance(error, UsageError)
            roots = roots_of(self.shell)
            roots.frames = self.frames()
            findings = self.session.end(roots, None if asked_wrongly else error)
            self.ended(findings)
            heap.give_back()

    def cell_of(self, filename: str) -> int | None:
        """The execution count of the cell whose code has this file name; None for other code."""
        found = getattr(self.shell.compile, "_filename_map", {}).get(filename)
        return None if found is None else min(found, self.count)

    def _count_of(self, info):
        """IPython 9.16 and later count a cell before it runs; the prompt knows."""
        shell = self.shell
        return shell.displayhook.prompt_count if info.store_history else shell.execution_count

    def complain(self, error):
        """One line for the first trouble of our own."""
        if not self._complained:
            self._complained = True
            print(text("notebook.trouble", error=type(error).__name__), file=sys.stderr)


def last_input(shell) -> str:
    """The text of the cell that is running, as typed."""
    typed = getattr(shell.history_manager, "input_hist_raw", None) or [""]
    return typed[-1]


def running_cell(shell) -> str | None:
    """The name that the client gave the cell that is running; None without a client or a name."""
    parent = shell.get_parent() if hasattr(shell, "get_parent") else None
    metadata = parent.get("metadata") if isinstance(parent, dict) else None
    return (metadata or {}).get("cellId")


def roots_of(shell) -> Roots:
    """Everything of the shell that can hold a tensor: its namespace, outputs and tracebacks."""
    last = getattr(shell, "last_execution_result", None)
    hook = getattr(shell, "displayhook", None)
    tracebacks = [
        ("sys.last_traceback", getattr(sys, "last_traceback", None)),
        ("get_ipython().InteractiveTB.tb", getattr(shell.InteractiveTB, "tb", None)),
    ]
    return Roots(
        user_ns=shell.user_ns,
        out=shell.user_ns.get("Out", {}),
        last_result=getattr(last, "result", None),
        display=getattr(getattr(hook, "exec_result", None), "result", None),
        tracebacks=[(label, tb) for label, tb in tracebacks if tb is not None],
        modules=persons_modules(),
        own=frozenset(
            name
            for name in ("_", "__", "___")
            if name in shell.user_ns and getattr(hook, name, None) is not shell.user_ns[name]
        ),
        shell=shell,
    )
