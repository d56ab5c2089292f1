"""Runs notebooks in JupyterLite's own kernel, under this Python, without threads as in a browser:

    python lite_kernel.py NOTEBOOK…    (``pyodide_kernel`` on the path)

Prints a JSON list: what went wrong, and how many messages went to widgets.
"""

import asyncio
import json
import sys
import threading
import types


def without_threads(thread):
    raise RuntimeError("can't start new thread")


async def nothing_to_load(code):
    return []


threading.Thread.start = without_threads
sys.modules["pyodide_js"] = types.ModuleType("pyodide_js")
sys.modules["pyodide_js"].loadPackagesFromImports = nothing_to_load

import pyodide_kernel  # noqa: E402

SHELL = pyodide_kernel.ipython_shell


async def main(files):
    told, sent = [], []
    SHELL.send_comm = lambda *message: sent.append(message)
    for file in files:
        with open(file, encoding="utf-8") as stream:
            cells = [c for c in json.load(stream)["cells"] if c["cell_type"] == "code"]
        sent.clear()
        wrong = [one for cell in cells async for one in unannounced(cell)]
        told.append({"file": file, "wrong": wrong, "sent": len(sent)})
        SHELL.run_line_magic("unload_ext", "gradviz")
        SHELL.reset()
    print(json.dumps(told), file=sys.__stdout__)


async def unannounced(cell):
    """What a cell raises that it does not announce, or the other way round."""
    code = "".join(line for line in cell["source"] if not line.startswith("%pip"))
    done = await pyodide_kernel.kernel_instance.run(code)
    if (done["status"] == "error") != ("raises-exception" in cell["metadata"].get("tags", [])):
        yield [code, done.get("ename"), done.get("evalue")]


asyncio.run(main(sys.argv[1:]))
