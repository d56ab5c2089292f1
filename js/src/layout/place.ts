// Positions within rows: each vertex as near to its neighbours as the order and the room allow.

import type { Neighbours } from "./layers";
import type { Rows } from "./rows";
import { GAP, LANE } from "./types";

const PASSES = 8;
/** How strongly a vertex holds its place: a lane stays straight, an operation gives way to it, a leaf to both. */
const HOLD = { lane: 6000, step: 4000, leaf: 1 };

export function placeRows(graph: Rows): Float64Array {
  const x = new Float64Array(graph.count);
  for (const row of graph.rows) spread(row, graph, x);
  for (let pass = 0; pass < PASSES; pass++) {
    const down = pass % 2 === 0;
    for (let k = 0; k < graph.rows.length; k++) {
      const row = graph.rows[down ? k : graph.rows.length - 1 - k];
      settle(row, graph, down ? graph.ups : graph.downs, x);
    }
  }
  return x;
}

const PULL = { step: 8, lane: 2, leaf: 0.1 };

const isLane = (graph: Rows, n: number): boolean => n >= graph.items;

const hold = (graph: Rows, n: number): number =>
  isLane(graph, n) ? HOLD.lane : graph.leaf[n] === 1 ? HOLD.leaf : HOLD.step;

function distance(graph: Rows, a: number, b: number): number {
  const gap = isLane(graph, a) || isLane(graph, b) ? LANE : GAP;
  return graph.right[a] + gap + graph.left[b];
}

function spread(row: Int32Array, graph: Rows, x: Float64Array): void {
  if (row.length === 0) return;
  let at = 0;
  x[row[0]] = 0;
  for (let k = 1; k < row.length; k++) {
    at += distance(graph, row[k - 1], row[k]);
    x[row[k]] = at;
  }
  for (const n of row) x[n] -= at / 2;
}

/** Where the neighbours pull: operations count for more than lanes and leaves, so that the main line runs straight. */
function wish(n: number, graph: Rows, towards: Neighbours, x: Float64Array): number {
  let sum = 0;
  let weight = 0;
  for (let k = towards.start[n]; k < towards.start[n + 1]; k++) {
    const to = towards.list[k];
    const pull =
      graph.leaf[to] === 1
        ? PULL.leaf
        : isLane(graph, to) && !isLane(graph, n)
          ? PULL.lane
          : PULL.step;
    sum += pull * x[to];
    weight += pull;
  }
  return weight === 0 ? Number.NaN : sum / weight;
}

/** Isotonic regression: pools neighbours whose wishes collide, each block at the mean of its wishes. */
function settle(row: Int32Array, graph: Rows, towards: Neighbours, x: Float64Array): void {
  const count = row.length;
  const offset = new Float64Array(count);
  const blockAt = new Float64Array(count);
  const blockWeight = new Float64Array(count);
  const blockSize = new Int32Array(count);
  let blocks = 0;
  for (let k = 0; k < count; k++) {
    if (k > 0) offset[k] = offset[k - 1] + distance(graph, row[k - 1], row[k]);
    const wanted = wish(row[k], graph, towards, x);
    const free = Number.isNaN(wanted);
    let at = (free ? x[row[k]] : wanted) - offset[k];
    let weight = free ? 0.05 : hold(graph, row[k]);
    let size = 1;
    while (blocks > 0 && blockAt[blocks - 1] > at) {
      blocks -= 1;
      const sum = weight + blockWeight[blocks];
      at = (at * weight + blockAt[blocks] * blockWeight[blocks]) / sum;
      weight = sum;
      size += blockSize[blocks];
    }
    blockAt[blocks] = at;
    blockWeight[blocks] = weight;
    blockSize[blocks] = size;
    blocks += 1;
  }
  let k = 0;
  for (let b = 0; b < blocks; b++) {
    for (let j = 0; j < blockSize[b]; j++, k++) x[row[k]] = blockAt[b] + offset[k];
  }
}
