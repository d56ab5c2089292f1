// One connected graph as rows of vertices. An edge that crosses rows gets a lane in each: a thin vertex of its own.
import { ends, type Neighbours, neighbours } from "./layers";
import { LANE } from "./types";

/** Beyond this many lanes in all, long edges run straight: routing them would cost more than it shows. */
const MOST_LANES = 60_000;

export interface Part {
  count: number;
  order: Float64Array;
  leaf: Uint8Array;
  left: Float64Array;
  right: Float64Array;
  layer: Int32Array;
  edges: Int32Array;
}

export interface Rows {
  /** Items first, lanes after them. */
  count: number;
  items: number;
  layer: Int32Array;
  left: Float64Array;
  right: Float64Array;
  leaf: Uint8Array;
  ups: Neighbours;
  downs: Neighbours;
  rows: Int32Array[];
  /** First lane of each edge, -1 without; an edge's lanes are numbered upwards. */
  firstLane: Int32Array;
}

export function buildRows(part: Part): Rows {
  const { source, target } = ends(part.edges);
  const lanes = countLanes(part.layer, source, target);
  const count = part.count + lanes.total;
  const layer = extend(part.layer, new Int32Array(count));
  const left = extend(part.left, new Float64Array(count).fill(LANE / 2));
  const right = extend(part.right, new Float64Array(count).fill(LANE / 2));
  const leaf = extend(part.leaf, new Uint8Array(count));
  const from: number[] = [];
  const to: number[] = [];
  for (let e = 0; e < source.length; e++) {
    let last = source[e];
    for (let k = 0; k < lanes.crossed[e]; k++) {
      const lane = lanes.first[e] + k;
      layer[lane] = part.layer[source[e]] + 1 + k;
      from.push(last);
      to.push(lane);
      last = lane;
    }
    if (layer[target[e]] - layer[last] === 1) {
      from.push(last);
      to.push(target[e]);
    }
  }
  const ups = neighbours(count, Int32Array.from(to), Int32Array.from(from));
  const downs = neighbours(count, Int32Array.from(from), Int32Array.from(to));
  const rows = firstRows(part, count, layer, ups, downs);
  return {
    count,
    items: part.count,
    layer,
    left,
    right,
    leaf,
    ups,
    downs,
    rows,
    firstLane: lanes.first,
  };
}

function extend<T extends { set(values: T): void }>(values: T, into: T): T {
  into.set(values);
  return into;
}

function countLanes(layer: Int32Array, source: Int32Array, target: Int32Array) {
  const crossed = new Int32Array(source.length);
  const first = new Int32Array(source.length).fill(-1);
  let total = 0;
  for (let e = 0; e < source.length; e++) {
    crossed[e] = Math.max(0, layer[target[e]] - layer[source[e]] - 1);
    total += crossed[e];
  }
  if (total > MOST_LANES) return { crossed: crossed.fill(0), first, total: 0 };
  let next = layer.length;
  for (let e = 0; e < source.length; e++) {
    if (crossed[e] === 0) continue;
    first[e] = next;
    next += crossed[e];
  }
  return { crossed, first, total };
}

/** The order to start from: a walk from the oldest items along all edges, inputs in order of slot. */
function firstRows(
  part: Part,
  count: number,
  layer: Int32Array,
  ups: Neighbours,
  downs: Neighbours,
): Int32Array[] {
  let depth = 0;
  for (let n = 0; n < count; n++) depth = Math.max(depth, layer[n] + 1);
  const rows: number[][] = Array.from({ length: depth }, () => []);
  const seen = new Uint8Array(count);
  const starts = Array.from({ length: part.count }, (_, n) => n);
  starts.sort((a, b) => part.order[a] - part.order[b]);
  const stack: number[] = [];
  for (const start of starts) {
    stack.push(start);
    while (stack.length > 0) {
      const n = stack.pop()!;
      if (seen[n] === 1) continue;
      seen[n] = 1;
      rows[layer[n]].push(n);
      for (let k = downs.start[n + 1] - 1; k >= downs.start[n]; k--) stack.push(downs.list[k]);
      for (let k = ups.start[n + 1] - 1; k >= ups.start[n]; k--) stack.push(ups.list[k]);
    }
  }
  return rows.map((row) => Int32Array.from(row));
}
