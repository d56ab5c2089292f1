"""The graph in Graphviz's language, for papers and slides; the only user of its package."""

from __future__ import annotations

from gradviz.watch.model import OPERATION, UNTRACKED
from gradviz.watch.plain import clean

from .picture import choose, second_line, title
from .svg import LIGHT

LIMIT = 1500


def dot(trace, target: int | None = None, limit: int = LIMIT):
    """A ``graphviz.Digraph`` of the graph of node ``target`` (default: of the newest results)."""
    import graphviz

    starts, chosen, total = choose(trace, target, limit)
    graph = graphviz.Digraph("gradviz", node_attr={"fontname": "monospace", "fontsize": "11"})
    for i in sorted(chosen):
        node = trace.nodes[i]
        graph.node(f"n{i}", graphviz.escape(_label(node)), **_look(node, node.root or i in starts))
    for edge in trace.edges.values():
        if edge.source in chosen and edge.target in chosen:
            style = "dotted" if edge.cut else "solid"
            graph.edge(f"n{edge.source}", f"n{edge.target}", color=LIGHT["line"], style=style)
    if len(chosen) < total:
        graph.attr(label=f"{len(chosen)} / {total}")
    return graph


def _label(node):
    first = " ".join(part for part in title(node) if part)
    return clean(
        "".join(c if c.isprintable() else "\ufffd" for c in f"{first} {second_line(node)}")
    )


def _look(node, is_root):
    if node.kind == UNTRACKED:
        return {"shape": "box", "style": "rounded,dashed", "color": LIGHT["line"]}
    if node.kind != OPERATION:
        return _filled("box", "leaf")
    return _filled("ellipse", "root" if is_root else "op")


def _filled(shape, token):
    colours = {"fillcolor": LIGHT[token], "color": LIGHT[f"{token}-line"]}
    return {"shape": shape, "style": "filled,rounded" if shape == "box" else "filled"} | colours
