// The graph in Graphviz's language.
import type { GraphStore } from "../model/store";
import { plain } from "./text";
import type { Tokens } from "./tokens";

/** Names are data: quotes and backslashes are escaped, what is unseen is made visible. */
const quoted = (text: string): string =>
  `"${plain(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

export function toDot(store: GraphStore, c: Tokens): string {
  const lines = ["digraph gradviz {", '  node [fontname="monospace", fontsize=11];'];
  for (const row of store.nodes.values()) {
    const name = [row.label, row.kind === "operation" ? row.op : "", row.shape];
    const leaf = row.kind === "leaf" || row.kind === "parameter";
    const [fill, line] = leaf
      ? [c.leaf, c.leafLine]
      : row.flags & 8
        ? [c.root, c.rootLine]
        : [c.op, c.opLine];
    const look =
      row.kind === "untracked"
        ? 'shape=box, style="rounded,dashed"'
        : `shape=${leaf ? "box" : "ellipse"}, style=filled, fillcolor=${quoted(fill)}`;
    const label = quoted(name.filter((part) => part !== "").join(" "));
    lines.push(`  ${idOf(row.id)} [label=${label}, ${look}, color=${quoted(line)}];`);
  }
  for (const edge of [...store.inputs.values()].flat()) {
    const style = edge.cut ? " [style=dotted]" : "";
    lines.push(`  ${idOf(edge.source)} -> ${idOf(edge.target)}${style};`);
  }
  return [...lines, "}", ""].join("\n");
}

const idOf = (id: number): string => (id < 0 ? `x${-id}` : `n${id}`);
