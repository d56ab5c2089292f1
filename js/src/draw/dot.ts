// The graph as text that other programs draw: Graphviz's language, and Mermaid's.
import type { GraphStore } from "../model/store";
import { Flag, type NodeRow } from "../model/types";
import { plain } from "./text";
import { LIGHT, type Tokens } from "./tokens";

/** Names are data: quotes and backslashes are escaped, what is unseen is made visible. */
const quoted = (text: string): string =>
  `"${plain(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** What could end a label or begin markup is written by its number. */
const numbered = (text: string): string =>
  `"${plain(text).replace(/[^\w .,:()×·[\]-]/gu, (letter) => `#${letter.codePointAt(0)};`)}"`;

export function toDot(store: GraphStore, c: Tokens): string {
  const lines = ["digraph gradviz {", '  node [fontname="monospace", fontsize=11];'];
  for (const row of store.nodes.values()) {
    const [fill, line] = coloursOf(row, c);
    const look =
      row.kind === "untracked"
        ? 'shape=box, style="rounded,dashed"'
        : `shape=${isLeaf(row) ? "box" : "ellipse"}, style=filled, fillcolor=${quoted(fill)}`;
    const label = quoted(nameOf(row));
    lines.push(`  ${idOf(row.id)} [label=${label}, ${look}, color=${quoted(line)}];`);
  }
  for (const edge of [...store.inputs.values()].flat()) {
    const style = edge.cut ? " [style=dotted]" : "";
    lines.push(`  ${idOf(edge.source)} -> ${idOf(edge.target)}${style};`);
  }
  return [...lines, "}", ""].join("\n");
}

/** In light colours: where it will stand is not known. */
export function toMermaid(store: GraphStore): string {
  const lines = ["flowchart TD"];
  for (const row of store.nodes.values()) {
    const label = numbered(nameOf(row));
    const shape = row.kind === "operation" ? `([${label}])` : `[${label}]`;
    const [fill, line] = coloursOf(row, LIGHT);
    const look =
      row.kind === "untracked"
        ? "stroke-dasharray:4"
        : `fill:${fill},stroke:${line},color:${LIGHT.text}`;
    lines.push(`  ${idOf(row.id)}${shape}`, `  style ${idOf(row.id)} ${look}`);
  }
  for (const edge of [...store.inputs.values()].flat())
    lines.push(`  ${idOf(edge.source)} ${edge.cut ? "-.->" : "-->"} ${idOf(edge.target)}`);
  return [...lines, ""].join("\n");
}

const isLeaf = (row: NodeRow): boolean => row.kind === "leaf" || row.kind === "parameter";

function coloursOf(row: NodeRow, c: Tokens): [string, string] {
  if (isLeaf(row)) return [c.leaf, c.leafLine];
  return row.flags & Flag.root ? [c.root, c.rootLine] : [c.op, c.opLine];
}

const nameOf = (row: NodeRow): string =>
  [row.label, row.kind === "operation" ? row.op : "", row.shape]
    .filter((part) => part !== "")
    .join(" ");

const idOf = (id: number): string => (id < 0 ? `x${-id}` : `n${id}`);
