// The order within rows: barycentre sweeps, keeping the order with the fewest crossings.
import type { Neighbours } from "./layers";
import type { Rows } from "./rows";

const SWEEPS = 8;
/** Larger graphs get fewer sweeps: time is bounded, and the first ones do most of the work. */
const MANY = 20_000;

export function orderRows(graph: Rows): void {
  const { rows } = graph;
  const position = new Float64Array(graph.count);
  const key = new Float64Array(graph.count);
  for (const row of rows) number(row, position);
  let best = crossings(graph, position);
  let kept = rows.map((row) => row.slice());
  const sweeps = graph.count > MANY ? SWEEPS / 2 : SWEEPS;
  for (let sweep = 0; sweep < sweeps && best > 0; sweep++) {
    const down = sweep % 2 === 0;
    const towards = down ? graph.ups : graph.downs;
    for (let k = 1; k < rows.length; k++) {
      sortRow(rows[down ? k : rows.length - 1 - k], towards, position, key);
    }
    const now = crossings(graph, position);
    if (now < best) {
      best = now;
      kept = rows.map((row) => row.slice());
    }
  }
  rows.forEach((row, n) => {
    row.set(kept[n]);
  });
}

function number(row: Int32Array, position: Float64Array): void {
  for (let k = 0; k < row.length; k++) position[row[k]] = k;
}

function sortRow(
  row: Int32Array,
  towards: Neighbours,
  position: Float64Array,
  key: Float64Array,
): void {
  for (const n of row) {
    const from = towards.start[n];
    const to = towards.start[n + 1];
    let sum = 0;
    for (let k = from; k < to; k++) sum += position[towards.list[k]];
    key[n] = from === to ? position[n] : sum / (to - from);
  }
  row.sort((a, b) => key[a] - key[b] || position[a] - position[b]);
  number(row, position);
}

function crossings(graph: Rows, position: Float64Array): number {
  let total = 0;
  for (let k = 0; k + 1 < graph.rows.length; k++) {
    total += between(graph.rows[k], graph.rows[k + 1].length, graph.downs, position);
  }
  return total;
}

/** Inversions among the lower ends, counted with a binary indexed tree. */
function between(
  upper: Int32Array,
  width: number,
  downs: Neighbours,
  position: Float64Array,
): number {
  if (upper.length < 2 || width < 2) return 0;
  const tree = new Int32Array(width + 1);
  let count = 0;
  let passed = 0;
  for (const n of upper) {
    const at = downs.start[n];
    const to = downs.start[n + 1];
    for (let k = at; k < to; k++) {
      let before = 0;
      for (let i = position[downs.list[k]] + 1; i > 0; i -= i & -i) before += tree[i];
      count += passed - before;
    }
    for (let k = at; k < to; k++) {
      for (let i = position[downs.list[k]] + 1; i <= width; i += i & -i) tree[i] += 1;
    }
    passed += to - at;
  }
  return count;
}
