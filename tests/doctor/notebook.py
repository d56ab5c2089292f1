"""A notebook without a shell: runs cells one after another, watched, and asks the doctor after
each.
"""

import ast
import gc

from gradviz.doctor import examine
from gradviz.notebook import alias
from gradviz.sources.engine import EngineSource
from gradviz.watch.holders import Roots
from gradviz.watch.places import persons_modules
from gradviz.watch.recorder import Recorder


class Notebook:
    """``run(text)`` executes a cell as IPython would (``Out``, ``_``, tracebacks) and returns the
    findings.
    """

    def __init__(self):
        self.ns, self.out, self.count = {"__name__": "__main__"}, {}, 0
        self.cells, self.traceback, self.error = {}, None, None
        self.recorder = Recorder()
        self.source = EngineSource(self.recorder, self.cells.get)
        self.source.attach()
        self.findings, self.before = [], set(persons_modules())

    def close(self):
        self.source.detach()
        self.ns.clear()
        self.out.clear()

    def run(self, text, cell_id=None):
        self.count += 1
        name = f"<cell {self.count} of {id(self)}>"
        self.cells[name] = self.count
        self.recorder.begin_cell(self.count, cell_id, text)
        self.error = None
        collects = gc.isenabled()
        gc.disable()  # so that it does not depend on chance what a cycle still holds
        self.source.begin()
        try:
            self._execute(text, name)
        except BaseException as error:
            self.error, self.traceback = error, error.__traceback__.tb_next.tb_next
        finally:
            self.source.end()
        self._settle()
        if collects:
            gc.enable()
        return self.findings

    def _execute(self, text, name):
        tree = ast.parse(text.lstrip("\n"))  # as IPython does
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.ns)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), self.ns)
            if value is not None and not text.rstrip().endswith(";"):
                self.out[self.count] = self.ns["_"] = self.ns[f"_{self.count}"] = value

    def _settle(self):
        tracebacks = [("sys.last_traceback", self.traceback)] if self.traceback is not None else []
        shown = any(self.ns.get("_") is value for value in self.out.values())
        own = frozenset() if shown else frozenset(("_", "__", "___"))
        modules = tuple(m for m in persons_modules() if m not in self.before)
        roots = Roots(self.ns, self.out, tracebacks=tracebacks, own=own, modules=modules)
        self.source.drain(float("inf"))
        found = self.source.settle(roots, self.error)
        self.recorder.end_cell(type(self.error).__name__ if self.error else "")
        self.findings = examine(self.recorder, self.source, roots, found=found)
        assert not self.source.watcher.errors, self.source.watcher.errors


def run(*cells):
    """The findings after all ``cells``."""
    alias.install()
    book = Notebook()
    try:
        for cell in cells:
            book.run(cell)
        return book.findings
    finally:
        book.close()


def kinds(findings, severity=None):
    """Kinds of the findings that are more than a remark (or of one severity)."""
    return [
        f.kind for f in findings if (f.severity == severity if severity else f.severity != "info")
    ]
