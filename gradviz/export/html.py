"""One self-contained page: the interactive graph, its data and its script; no network."""

from __future__ import annotations

from html import escape
from importlib.resources import files

from gradviz.texts import language, text
from gradviz.watch.model import SCHEMA
from gradviz.watch.plain import dumps

from .picture import Picture, choose
from .svg import svg

NODES, DETAILS = 20_000, 400
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:"
)
UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def bundle(trace, detail=None, target: int | None = None, lang: str | None = None) -> dict:
    """The frozen twin of docs/protocol.md.

    ``detail(id)`` tells about a node (default: what ``trace`` has). ``target`` limits it to one
    node's graph. At most 20,000 nodes, details of the 400 nearest.
    """
    starts, chosen, total = choose(trace, target, NODES)
    near = choose(trace, target, DETAILS)[1]
    told = {i: detail(i) if detail else trace.details.get(i) for i in sorted(near)}
    edges = [e for e in trace.edges.values() if e.source in chosen and e.target in chosen]
    status = _at_rest(trace) | {"shown": len(chosen), "total": total}
    return {
        "schema": SCHEMA,
        "title": text("notebook.title", lang),
        "language": lang or language(),
        "nodes": [trace.nodes[i] for i in sorted(chosen)],
        "edges": edges,
        "details": {i: one for i, one in told.items() if one is not None},
        "findings": list(trace.findings),
        "status": status,
    }


def _at_rest(trace):
    """The status with no cell running: the cell that writes the page is left out."""
    done = {cell.count for cell in trace.cells if cell.ended is not None}
    status = trace.status()
    cells = [cell for cell in status["cells"] if cell["count"] in done]
    state = "idle" if status["state"] == "running" else status["state"]
    return status | {"state": state, "cells": cells, "cell": max(done, default=None)}


def page(trace, detail=None, target: int | None = None, lang: str | None = None) -> str:
    """A whole HTML document. Without the built script it shows the still picture."""
    lang = lang or language()
    data = dumps(bundle(trace, detail, target, lang)).translate(UNSAFE)
    still = svg(Picture.of(trace, target))
    title = escape(text("notebook.title", lang))
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{title}</title>\n"
        "<style>html,body{margin:0;height:100%}#gradviz{height:100%}</style>\n</head>\n<body>\n"
        f"{_body(still)}\n"
        f'<script type="application/json" id="gradviz-data">{data}</script>\n'
        f'<script id="gradviz-script">{_script()}</script>\n</body>\n</html>\n'
    )


def _body(still):
    if _script():
        return f'<div id="gradviz"></div>\n<noscript>{still}</noscript>'
    return f'<div id="gradviz">{still}</div>'


def _script():
    file = files("gradviz") / "static" / "page.js"
    if not file.is_file():
        return ""
    return file.read_text(encoding="utf-8").replace("</script", "<\\/script")
