"""A large tensor in a notebook: its numbers as a heat map, their summary, the printed form below.

Every text is data, never markup. The colours are those of the live view, light or dark as the
notebook is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from html import escape

from gradviz.texts import text
from gradviz.watch.model import Stats
from gradviz.watch.plain import clean

from .words import figure

STEPS = 10
WIDE, HIGH, LARGEST, SMALLEST = 384, 192, 12, 3  # pixels: of the map, and of a cell
LIGHT = "--neg:#2166ac;--zero:#f7f7f7;--pos:#b2182b;--bad:#dc2626;--dim:#5f6875;--edge:#d0d4da"
DARK = "--neg:#67a9cf;--zero:#30363d;--pos:#ef8a62;--bad:#f87171;--dim:#9aa4b2;--edge:#444c56"
NOT_A_NUMBER = "x"


def _style():
    steps = "".join(
        f".gv-tensor .{sign}{k}{{fill:color-mix(in srgb,var({side}) {100 * k // STEPS}%,"
        "var(--zero))}"
        for sign, side in (("p", "--pos"), ("n", "--neg"))
        for k in range(1, STEPS + 1)
    )
    dark = "body[data-jp-theme-light=false] .gv-tensor,body.vscode-dark .gv-tensor"
    light = "body[data-jp-theme-light=true] .gv-tensor,body.vscode-light .gv-tensor"
    return (
        f".gv-tensor{{{LIGHT}}}"
        f"@media(prefers-color-scheme:dark){{.gv-tensor{{{DARK}}}}}"
        f"{light}{{{LIGHT}}}{dark}{{{DARK}}}"
        ".gv-tensor p{margin:4px 0;font-size:12px}.gv-tensor p span{margin-right:12px}"
        ".gv-tensor i{font-style:normal;color:var(--dim)}.gv-tensor b{color:var(--bad)}"
        ".gv-tensor svg{display:block;border:1px solid var(--edge);border-radius:3px}"
        f".gv-tensor .z{{fill:var(--zero)}}.gv-tensor .{NOT_A_NUMBER}{{fill:currentColor}}"
        ".gv-tensor .bar{display:flex;align-items:center;gap:8px;margin:4px 0 8px;font-size:11px}"
        ".gv-tensor .bar u{flex:1;height:5px;border-radius:3px;"
        "background:linear-gradient(90deg,var(--neg),var(--zero),var(--pos))}"
        f"{steps}"
    )


def tensor_html(stats: Stats, printed: str) -> str:
    """The heat map of ``stats`` with its summary, and ``printed`` below."""
    rows = stats.heat or []
    width = max((len(row) for row in rows), default=1)
    size = max(SMALLEST, min(LARGEST, WIDE // width, HIGH // max(len(rows), 1)))
    across, down = size * width, max(size * len(rows), 2 * SMALLEST)
    most = _most(rows)
    label = f"{_shape(stats)} {stats.dtype}. " + ", ".join(
        f"{name} {value}" for name, value in _figures(stats)
    )
    return (
        f'<div class="gv-tensor"><style>{_style()}</style>{_summary(stats)}'
        f'<svg width="{across}" height="{down}" viewBox="0 0 {width} {len(rows)}" '
        'preserveAspectRatio="none" shape-rendering="crispEdges" role="img" '
        f'aria-label="{_inert(label)}">{_cells(rows, most)}</svg>'
        f'<div class="bar" style="width:{max(across, 160)}px"><code>{_inert(figure(-most))}</code>'
        f"<u></u><code>{_inert(figure(most))}</code></div>"
        f"<pre>{_inert(printed)}</pre></div>"
    )


def _cells(rows, most):
    """One path a colour: a thousand cells stay few elements."""
    places = defaultdict(list)
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            places[_colour(value, most)].append(f"M{x} {y}h1v1h-1z")
    return "".join(f'<path class="{c}" d="{"".join(d)}"/>' for c, d in sorted(places.items()))


def _colour(value, most):
    if value is None or math.isnan(value):
        return NOT_A_NUMBER
    share = 1.0 if math.isinf(value) else abs(value) / most if most else 0.0
    step = round(share * STEPS)
    return "z" if step == 0 else f"{'p' if value > 0 else 'n'}{step}"


def _most(rows):
    """The largest finite amount."""
    return max(
        (abs(x) for row in rows for x in row if x is not None and math.isfinite(x)), default=0.0
    )


def _figures(stats):
    return [
        (text(f"ui.inspect.{name}"), figure(value))
        for name in ("minimum", "mean", "maximum", "norm")
        if (value := getattr(stats, name)) is not None
    ]


def _summary(stats):
    said = "".join(
        f"<span><i>{_inert(name)}</i> <code>{_inert(value)}</code></span>"
        for name, value in _figures(stats)
    )
    bad = [
        text(f"ui.inspect.{name}", n=f"{count:,}")
        for name, count in (("nan", stats.nan), ("inf", stats.inf))
        if count
    ]
    if bad:
        said += f"<b>{_inert(' · '.join(bad))}</b>"
    return (
        f"<p><span><code>{_inert(_shape(stats))}</code> <i>{_inert(stats.dtype)}</i></span>"
        f"{said}</p>"
    )


def _shape(stats):
    return " × ".join(map(str, stats.shape))


def _inert(value):
    return escape(clean(value), quote=True)
