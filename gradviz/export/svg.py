"""The still picture as SVG, in the look of the live view. Every text is data, never markup."""

from __future__ import annotations

import math
import re
from html import escape

from gradviz.texts import text
from gradviz.watch.model import OPERATION, UNTRACKED
from gradviz.watch.plain import clean

from .picture import Picture, columns, title, with_norm

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LIGHT = {
    "back": "#ffffff", "text": "#1f2328", "dim": "#59636e", "line": "#9aa1ac",
    "leaf": "#dbeafe", "leaf-line": "#2563eb", "op": "#f3f4f6", "op-line": "#9aa1ac",
    "root": "#dcfce7", "root-line": "#15803d", "saved": "#f59e0b", "grad": "#7c3aed",
    "leak": "#c026d3", "error": "#dc2626",
}  # fmt: skip
DARK = {
    "back": "#111418", "text": "#e6e9ed", "dim": "#a3acb7", "line": "#6b7684",
    "leaf": "#17304f", "leaf-line": "#60a5fa", "op": "#272d35", "op-line": "#6b7684",
    "root": "#12351f", "root-line": "#4ade80", "saved": "#fbbf24", "grad": "#a78bfa",
    "leak": "#e879f9", "error": "#f87171",
}  # fmt: skip
RULES = """
.back{fill:var(--back)} text{fill:var(--text);font:13px ui-monospace,Menlo,Consolas,monospace}
.dim{fill:var(--dim);font-size:11.5px} .op{fill:var(--dim)}
.b{stroke-width:1.3} .leaf{fill:var(--leaf);stroke:var(--leaf-line)}
.operation{fill:var(--op);stroke:var(--op-line)}
.root{fill:var(--root);stroke:var(--root-line);stroke-width:2.6}
.untracked{fill:var(--back);stroke:var(--line);stroke-dasharray:5 4}
.failed{fill:var(--op);stroke:var(--error);stroke-width:2.4}
.bad{stroke:var(--error);stroke-width:2.4}
.halo{fill:none;stroke:var(--leak);opacity:.4;stroke-width:7}
.halo.fault{stroke:var(--error)} .badge.fault{fill:var(--error)}
.e{fill:none;stroke:var(--line);stroke-width:1.4} .cut{stroke-dasharray:2 4} .tip{fill:var(--line)}
.g{fill:none;stroke:var(--grad);stroke-dasharray:6 4} .gtip{fill:var(--grad)}
.saved{fill:var(--saved);stroke:var(--saved)} .freed{fill:var(--back);stroke:var(--saved)}
.badge{fill:var(--leak)} .mark{fill:#fff;font-weight:700;font-size:11px}
"""
LEGEND, BOW = 34, 7.0
SHOWN_SAVED = 6
ERRORS = "GV5"


def svg(picture: Picture) -> str:
    """A whole SVG document."""
    legend, legend_width = _legend(picture)
    width = max(picture.width, legend_width, 280)
    height = picture.height + LEGEND + (20 if picture.shown < picture.total else 0)
    shift = (width - picture.width) / 2
    roots = {node.id for node in picture.roots}
    body = [f'<g transform="translate({shift:.1f},0)">']
    body += [_line(line) for line in picture.lines]
    body += [_box(box, box.node.root or box.node.id in roots) for box in picture.boxes]
    body += ["</g>", _notes(picture, width, picture.height), legend]
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        f"<title>{_inert(text('notebook.title'))}</title><style>{_style()}</style>"
        f'<rect class="back" width="100%" height="100%"/>{"".join(body)}</svg>'
    )


def _style():
    light = ";".join(f"--{name}:{colour}" for name, colour in LIGHT.items())
    dark = ";".join(f"--{name}:{colour}" for name, colour in DARK.items())
    return f"svg{{{light}}}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}{RULES}"


def _inert(said):
    return escape(FORBIDDEN.sub("\ufffd", clean(said)), quote=True)


def _box(box, is_root):
    node = box.node
    left, top = box.x - box.width / 2, box.y - box.height / 2
    kind = _kind(node, is_root)
    radius = box.height / 2 if node.kind == OPERATION else 6
    bad = node.failed or node.clashes or not math.isfinite(node.grad_norm or 0)
    frame = f'width="{box.width:.1f}" height="{box.height:.1f}" rx="{radius:.0f}"'
    at = f'x="{left:.1f}" y="{top:.1f}"'
    fault = " fault" if _at_fault(node) else ""
    halo = f'<rect class="halo{fault}" {at} {frame}/>' if node.findings else ""
    parts = [
        f"<g><title>{_inert(_tip(node))}</title>{halo}",
        f'<rect class="b {kind}{" bad" if bad else ""}" {at} {frame}/>',
        _words(box),
        _saved(box),
    ]
    if node.findings or node.failed or node.clashes:
        parts.append(_mark(left + box.width - 4, top + 3, fault if node.findings else " fault"))
    return "".join([*parts, "</g>"])


def _at_fault(node):
    """What is said of it explains an error; it is not that it is kept."""
    return bool(node.findings) and all(rule.startswith(ERRORS) for rule in node.findings)


def _kind(node, is_root):
    if node.failed:
        return "failed"
    if is_root and node.kind == OPERATION:
        return "root"
    if node.kind == OPERATION or node.kind == UNTRACKED:
        return node.kind
    return "leaf"


def _words(box):
    name, op = title(box.node)
    shown = _inert(name)
    if op:
        shown += f'<tspan class="op">{" " if name else ""}{_inert(op)}</tspan>'
    return (
        f'<text x="{box.x:.1f}" y="{box.y - 2:.1f}" text-anchor="middle">{shown}</text>'
        f'<text class="dim" x="{box.x:.1f}" y="{box.y + 14:.1f}" text-anchor="middle">'
        f"{_inert(with_norm(box.node, box.value))}</text>"
    )


def _saved(box):
    foot, left = box.y + box.height / 2 - 5, box.x - box.width / 2 + 20
    return "".join(
        f'<rect class="{"freed" if saved.state == "freed" else "saved"}" '
        f'width="9" height="9" rx="1.5" x="{left + 13 * i:.1f}" y="{foot:.1f}"/>'
        for i, saved in enumerate(box.node.saved[:SHOWN_SAVED])
    )


def _mark(x, y, fault):
    return (
        f'<circle class="badge{fault}" cx="{x:.1f}" cy="{y:.1f}" r="9"/>'
        f'<text class="mark" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">!</text>'
    )


def _tip(node):
    name = " ".join(part for part in (node.label, node.op) if part)
    place = node.place
    if place is None:
        return name
    where = text("notebook.place.cell", cell=place.cell, line=place.line) if place.cell else ""
    return " · ".join(part for part in (name, where, place.code) if part)


def _line(line):
    cut = " cut" if line.edge.cut else ""
    points = line.points
    x, y = points[-1]
    drawn = f'<path class="e{cut}" d="{_path(points)}"/>' + _tip_shape("tip", x, y, -1)
    norm = line.edge.grad_norm
    if norm is None:
        return drawn
    beside = [(px + 9, py) for px, py in points]
    width = 1 + min(3.0, max(0.0, math.log10(norm) + 3) / 2) if norm > 0 else 1
    x, y = beside[0]
    drawn += f'<path class="g" stroke-width="{width:.1f}" d="{_path(beside, BOW)}"/>'
    return drawn + _tip_shape("gtip", x, y, 1)


def _path(points, bow=0.0):
    """A smooth line, vertical where it leaves and arrives; ``bow`` bends it away from its twin."""
    (x, y), parts = points[0], [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for nx, ny in points[1:]:
        middle = (y + ny) / 2 + (bow if nx < x else -bow if nx > x else 0.0)
        parts.append(f"C{x:.1f},{middle:.1f} {nx:.1f},{middle:.1f} {nx:.1f},{ny:.1f}")
        x, y = nx, ny
    return "".join(parts)


def _tip_shape(kind, x, y, way):
    """A small arrow head at (x, y); ``way`` -1 points down, 1 up."""
    return f'<path class="{kind}" d="M{x:.1f},{y:.1f}l-4.5,{way * 8}h9z"/>'


def _notes(picture, width, y):
    if not picture.total:
        said = text("notebook.picture.empty")
    elif picture.shown < picture.total:
        said = text("notebook.picture.left_out", shown=picture.shown, total=picture.total)
    else:
        return ""
    at = f'x="{width / 2:.0f}" y="{y:.0f}" text-anchor="middle"'
    return f'<text class="dim" {at}>{_inert(said)}</text>'


def _legend(picture):
    """Only what is in the picture; and how wide it is."""
    y = picture.height + LEGEND - 18 + (20 if picture.shown < picture.total else 0)
    x, parts = 24.0, []
    for name, sample in _samples(picture):
        said = text(f"notebook.legend.{name}")
        parts.append(f'<g transform="translate({x:.0f},{y:.0f})">{sample}</g>')
        parts.append(f'<text class="dim" x="{x + 28:.0f}" y="{y + 4:.0f}">{_inert(said)}</text>')
        x += 28 + 7 * columns(said) + 22
    return "".join(parts), x


def _samples(picture):
    roots = {node.id for node in picture.roots}
    kinds = {_kind(box.node, box.node.root or box.node.id in roots) for box in picture.boxes}
    for kind in ("leaf", "operation", "root", "failed", "untracked"):
        if kind in kinds:
            radius = 3 if kind in ("leaf", "untracked") else 7
            yield kind, f'<rect class="b {kind}" y="-7" width="22" height="14" rx="{radius}"/>'
    states = {saved.state == "freed" for box in picture.boxes for saved in box.node.saved}
    for freed, name in ((False, "saved"), (True, "freed")):
        if freed in states:
            yield name, f'<rect class="{name}" x="6" y="-5" width="9" height="9" rx="1.5"/>'
    if any(line.edge.grad_norm is not None for line in picture.lines):
        yield "gradient", '<path class="g" stroke-width="2" d="M0,0h22"/>'
    if any(line.edge.cut for line in picture.lines):
        yield "cut", '<path class="e cut" d="M0,0h22"/>'
    marked = [box.node for box in picture.boxes if box.node.findings]
    for fault, name in ((False, "kept"), (True, "fault")):
        if fault in {_at_fault(node) for node in marked}:
            kind = "halo fault" if fault else "halo"
            yield name, f'<rect class="{kind}" x="3" y="-5" width="16" height="9" rx="4"/>'
