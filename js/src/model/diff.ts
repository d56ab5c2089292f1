// What is another in a graph than it was: which operations came, which are gone.
import type { NodeRow } from "./types";

export interface Diff {
  /** Nodes of now that have no counterpart. */
  came: Set<number>;
  /** Operations of then that have none. */
  gone: NodeRow[];
}

/** Operations are alike when the same line did the same for the same module, for as many times. */
export function diffOf(before: Iterable<NodeRow>, now: Iterable<NodeRow>): Diff {
  const left = new Map<string, NodeRow[]>();
  for (const row of operations(before)) {
    const same = left.get(keyOf(row));
    if (same) same.push(row);
    else left.set(keyOf(row), [row]);
  }
  const came = new Set<number>();
  for (const row of operations(now)) if (!left.get(keyOf(row))?.shift()) came.add(row.id);
  return { came, gone: [...left.values()].flat() };
}

const operations = (rows: Iterable<NodeRow>): NodeRow[] =>
  [...rows].filter((row) => row.kind === "operation").sort((a, b) => a.id - b.id);

/** Not the cell's number: a cell that runs again has another. */
const keyOf = (row: NodeRow): string => `${row.op}\n${row.code || row.line}\n${row.module}`;
