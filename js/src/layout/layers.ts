// Which row each item stands in: below everything it is made from, as near as possible to what uses it.
import type { LayoutInput } from "./types";

/** Compact neighbours: those of item n are `list[start[n]] … list[start[n + 1] - 1]`. */
export interface Neighbours {
  start: Int32Array;
  list: Int32Array;
}

export function neighbours(count: number, from: Int32Array, to: Int32Array): Neighbours {
  const start = new Int32Array(count + 1);
  for (let e = 0; e < from.length; e++) start[from[e] + 1] += 1;
  for (let n = 0; n < count; n++) start[n + 1] += start[n];
  const next = start.slice(0, count);
  const list = new Int32Array(from.length);
  for (let e = 0; e < from.length; e++) list[next[from[e]]++] = to[e];
  return { start, list };
}

export function ends(edges: Int32Array): { source: Int32Array; target: Int32Array } {
  const count = edges.length / 2;
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  for (let e = 0; e < count; e++) {
    source[e] = edges[2 * e];
    target[e] = edges[2 * e + 1];
  }
  return { source, target };
}

/** Longest path in order of creation; items already placed keep their row while that is still possible. */
export function assignLayers(input: LayoutInput): Int32Array {
  const { count, order, leaf, edges, fixedLayer } = input;
  const { source, target } = ends(edges);
  const ups = neighbours(count, target, source);
  const downs = neighbours(count, source, target);
  const steps = sorted(count, order).filter((n) => leaf[n] === 0);
  const layer = new Int32Array(count).fill(0);
  for (const n of steps) {
    const least = leastLayer(n, ups, leaf, layer);
    layer[n] = Math.max(least, fixedLayer[n]);
  }
  pullDown(steps, ups, downs, leaf, layer, fixedLayer);
  for (let n = 0; n < count; n++)
    if (leaf[n] === 1) layer[n] = leafLayer(n, downs, layer, fixedLayer);
  return layer;
}

function sorted(count: number, order: Float64Array): number[] {
  const all = Array.from({ length: count }, (_, n) => n);
  return all.sort((a, b) => order[a] - order[b] || a - b);
}

function leastLayer(n: number, ups: Neighbours, leaf: Uint8Array, layer: Int32Array): number {
  let least = 0;
  for (let k = ups.start[n]; k < ups.start[n + 1]; k++) {
    const up = ups.list[k];
    least = Math.max(least, leaf[up] === 1 ? 1 : layer[up] + 1);
  }
  return least;
}

/** A new operation whose inputs do not hold it up stands just above its first use: edges stay short. */
function pullDown(
  steps: number[],
  ups: Neighbours,
  downs: Neighbours,
  leaf: Uint8Array,
  layer: Int32Array,
  fixedLayer: Int32Array,
): void {
  for (let k = steps.length - 1; k >= 0; k--) {
    const n = steps[k];
    const uses = downs.start[n + 1] - downs.start[n];
    if (fixedLayer[n] >= 0 || uses === 0 || uses < stepInputs(n, ups, leaf)) continue;
    let first = Number.MAX_SAFE_INTEGER;
    for (let j = downs.start[n]; j < downs.start[n + 1]; j++) {
      first = Math.min(first, layer[downs.list[j]]);
    }
    layer[n] = Math.max(layer[n], first - 1);
  }
}

function stepInputs(n: number, ups: Neighbours, leaf: Uint8Array): number {
  let inputs = 0;
  for (let k = ups.start[n]; k < ups.start[n + 1]; k++) if (leaf[ups.list[k]] === 0) inputs += 1;
  return inputs;
}

function leafLayer(
  n: number,
  downs: Neighbours,
  layer: Int32Array,
  fixedLayer: Int32Array,
): number {
  if (downs.start[n] === downs.start[n + 1]) return Math.max(0, fixedLayer[n]);
  return Math.max(0, layer[downs.list[downs.start[n]]] - 1);
}
