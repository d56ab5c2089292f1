"""A notebook in a browser: run cells, wait for them, look at outputs and at gradviz's view."""

import json
import time

READY = """async () => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.context.ready; await panel.sessionContext.ready;
  const kernel = panel.sessionContext.session.kernel; await kernel.info;
  while (kernel.status !== 'idle') await new Promise(done => setTimeout(done, 20));
}"""
RUN = """number => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  panel.content.activeCellIndex = number; panel.content.deselectAll();
  app.commands.execute('notebook:run-cell');
}"""
RUN_TO_END = """async ([number, timeout]) => {
  const app = window.jupyterapp, panel = app.shell.currentWidget;
  panel.content.activeCellIndex = number; panel.content.deselectAll();
  const late = new Promise((_, fail) =>
    setTimeout(() => fail(new Error(`cell ${number} did not end`)), timeout));
  await Promise.race([app.commands.execute('notebook:run-cell'), late]);
}"""
# The last one is Notebook 7.6 itself, as it starts.
HARMLESS = ("favicon", "ResizeObserver loop", "debugger state", "(reading 'schema')")


class Notebook:
    """One open notebook. ``errors`` are the messages that the browser's console called errors."""

    def __init__(self, context, url, folder, name):
        self.context, self.page = context, context.new_page()
        self.url, self.file = url, folder / name
        self.origin = "/".join(url.split("/")[:3])
        self.errors, self.requests = [], []
        self.page.on("console", lambda m: m.type == "error" and self.errors.append(m.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, cells, theme="light"):
        """Write a notebook of ``cells`` and wait until its kernel is ready."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}}
        book["cells"] = [_cell(number, source) for number, source in enumerate(cells)]
        self.file.write_text(json.dumps(book))
        self.goto()
        name, light = ("Dark", "false") if theme == "dark" else ("Light", "true")
        self.page.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})",
            f"JupyterLab {name}",
        )
        self.page.wait_for_selector(f"body[data-jp-theme-light={light}]", state="attached")

    def goto(self):
        """Load the page (again)."""
        self.page.goto(f"{self.url}/{self.file.name}?reset")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=90_000)
        self.page.evaluate(READY)

    def close(self):
        """End the kernel, close the page; no error may have been written to the console."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        self.context.close()

    def serious_errors(self):
        """Console errors but for the browser's own small talk."""
        return [e for e in self.errors if not any(part in e for part in HARMLESS)]

    def cell(self, number):
        """The element of a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number)

    def output(self, number):
        """The text of a cell's outputs."""
        return "\n".join(self.cell(number).locator(".jp-OutputArea-output").all_text_contents())

    def start(self, number):
        """Run a cell; returns at once."""
        self.page.evaluate(RUN, number)

    def run(self, number, timeout=90):
        """Run a cell and wait for its end."""
        self.page.evaluate(RUN_TO_END, [number, timeout * 1000])
        self.wait(number, timeout)

    def wait(self, number, timeout=90):
        """Until the prompt of a cell is a number."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if self._prompt(number).strip("[]: \u00a0").isdigit():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"cell {number} did not end: {self.output(number)!r}")

    def busy(self, number):
        """True while the cell is marked as running."""
        return "*" in self._prompt(number)

    def save(self):
        """Save the notebook."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.save()")

    def restart(self):
        """Restart the kernel without asking."""
        self.page.evaluate(
            "async () => { const s = window.jupyterapp.shell.currentWidget.sessionContext;"
            " await s.session.kernel.restart(); }"
        )
        self.page.evaluate(READY)

    def _prompt(self, number):
        return self.cell(number).locator(".jp-InputPrompt").first.text_content() or ""


def _cell(number, source):
    """A code cell that has not run."""
    fresh = {"metadata": {}, "execution_count": None, "outputs": []}
    return {"cell_type": "code", "id": f"cell-{number}", "source": source} | fresh
