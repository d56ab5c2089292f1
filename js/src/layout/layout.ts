// Layout of a whole picture. What already stands stays where it is; what is new is laid out by itself
// and put where there is room, under what it is made from. With nothing standing this is a fresh layout.
import { assignLayers } from "./layers";
import { orderRows } from "./order";
import { placeRows } from "./place";
import { Room } from "./room";
import { buildRows } from "./rows";
import { APART, GAP, LANE, type LayoutInput, type LayoutOutput, SHELF } from "./types";

/** Kept neighbours may come this near when a name grows, before the picture is laid out anew. */
const TOUCH = 4;
/** Lanes beside standing items are looked for one by one, so only so many. */
const MOST_SIDE_LANES = 20_000;

export function layoutGraph(input: LayoutInput): LayoutOutput {
  const work = new Work(input);
  if (work.keep()) return work.finish(false);
  const blank: LayoutInput = {
    ...input,
    fixedX: new Float64Array(input.count).fill(Number.NaN),
    fixedLayer: new Int32Array(input.count).fill(-1),
    fixedBends: input.fixedBends.map(() => null),
    shelf: 0,
  };
  const anew = new Work(blank);
  anew.keep();
  return anew.finish(true);
}

class Work {
  private readonly x: Float64Array;
  private readonly layer: Int32Array;
  private readonly kept: Uint8Array;
  private readonly bends: (number[] | null)[];
  private readonly room = new Room();
  private shelf: number;
  private keptCount = 0;

  constructor(private readonly input: LayoutInput) {
    this.x = new Float64Array(input.count);
    this.layer = assignLayers(input);
    this.kept = new Uint8Array(input.count);
    this.bends = input.edges.length > 0 ? new Array(input.edges.length / 2).fill(null) : [];
    this.shelf = input.shelf;
  }

  /** Takes over what stands; false when standing items have grown into one another. */
  keep(): boolean {
    const { count, fixedX, fixedLayer, left, right } = this.input;
    for (let n = 0; n < count; n++) {
      if (Number.isNaN(fixedX[n]) || fixedLayer[n] !== this.layer[n]) continue;
      const [lo, hi] = [fixedX[n] - left[n], fixedX[n] + right[n]];
      if (!this.room.isFree(this.layer[n], lo, hi, TOUCH)) return false;
      this.kept[n] = 1;
      this.keptCount += 1;
      this.x[n] = fixedX[n];
      this.room.take(this.layer[n], lo, hi);
    }
    this.keepBends();
    return true;
  }

  finish(fresh: boolean): LayoutOutput {
    for (const part of this.newParts()) this.placePart(part);
    this.sideLanes();
    const { x, layer, bends, shelf } = this;
    return { x, layer, bends, shelf, fresh: fresh || this.keptCount === 0 };
  }

  private keepBends(): void {
    const { edges, fixedBends } = this.input;
    for (let e = 0; e < this.bends.length; e++) {
      const [source, target] = [edges[2 * e], edges[2 * e + 1]];
      const bends = fixedBends[e];
      if (!bends || !this.kept[source] || !this.kept[target]) continue;
      if (bends.length !== this.layer[target] - this.layer[source] - 1) continue;
      this.bends[e] = bends;
      this.takeLane(this.layer[source], bends);
    }
  }

  private takeLane(above: number, bends: number[]): void {
    bends.forEach((x, k) => {
      this.room.take(above + 1 + k, x - LANE / 2, x + LANE / 2);
    });
  }

  /** New items in connected groups, oldest first; items that touch nothing are one group. */
  private newParts(): number[][] {
    const { count, edges, order } = this.input;
    const parent = Int32Array.from({ length: count }, (_, n) => n);
    const linked = new Uint8Array(count);
    for (let e = 0; e < edges.length; e += 2) {
      const [a, b] = [edges[e], edges[e + 1]];
      linked[a] = 1;
      linked[b] = 1;
      if (!this.kept[a] && !this.kept[b]) unite(parent, a, b);
    }
    const parts = new Map<number, number[]>();
    for (let n = 0; n < count; n++) {
      if (this.kept[n]) continue;
      const key = linked[n] ? find(parent, n) : -1;
      const part = parts.get(key);
      if (part) part.push(n);
      else parts.set(key, [n]);
    }
    const lone = parts.get(-1);
    parts.delete(-1);
    const oldest = (part: number[]) => part.reduce((min, n) => Math.min(min, order[n]), Infinity);
    const sorted = [...parts.values()].map((part) => ({ part, age: oldest(part) }));
    sorted.sort((a, b) => a.age - b.age);
    const result = sorted.map((one) => one.part);
    if (lone) result.push(lone);
    return result;
  }

  private placePart(part: number[]): void {
    const { edges } = this.input;
    const local = new Map<number, number>(part.map((n, k) => [n, k]));
    const inside: number[] = [];
    const own: number[] = [];
    let wish = 0;
    let weight = 0;
    let linked = false;
    const anchors: [number, number, number][] = [];
    for (const e of this.edgesOf(part)) {
      const [a, b] = [edges[2 * e], edges[2 * e + 1]];
      const [la, lb] = [local.get(a), local.get(b)];
      linked = true;
      if (la !== undefined && lb !== undefined) {
        inside.push(la, lb);
        own.push(e);
      } else if (la !== undefined) anchors.push([la, b, 1]);
      else if (lb !== undefined) anchors.push([lb, a, this.input.leaf[a] ? 1 : 8]);
    }
    const placed = linked ? this.layered(part, inside) : this.grid(part);
    for (const [k, to, pull] of anchors) {
      wish += pull * (this.x[to] - placed.x[k]);
      weight += pull;
    }
    if (weight > 0) this.settle(part, placed, own, wish / weight);
    else this.append(part, placed, own);
  }

  private readonly incident: { start: Int32Array; list: Int32Array } | null = null;

  /** Edges that touch the items of a part. */
  private edgesOf(part: number[]): number[] {
    const table = this.incident ?? this.indexEdges();
    const seen = new Set<number>();
    for (const n of part) {
      for (let k = table.start[n]; k < table.start[n + 1]; k++) seen.add(table.list[k]);
    }
    return [...seen].sort((a, b) => a - b);
  }

  private indexEdges() {
    const { count, edges } = this.input;
    const start = new Int32Array(count + 1);
    for (const n of edges) start[n + 1] += 1;
    for (let n = 0; n < count; n++) start[n + 1] += start[n];
    const next = start.slice(0, count);
    const list = new Int32Array(edges.length);
    for (let e = 0; e < edges.length; e++) list[next[edges[e]]++] = e >> 1;
    const table = { start, list };
    Object.assign(this, { incident: table });
    return table;
  }

  private layered(part: number[], inside: number[]): Placed {
    const pick = <T>(values: ArrayLike<T>) => part.map((n) => values[n]);
    const base = part.reduce((least, n) => Math.min(least, this.layer[n]), Infinity);
    const rows = buildRows({
      count: part.length,
      order: Float64Array.from(pick(this.input.order)),
      leaf: Uint8Array.from(pick(this.input.leaf)),
      left: Float64Array.from(pick(this.input.left)),
      right: Float64Array.from(pick(this.input.right)),
      layer: Int32Array.from(pick(this.layer), (layer) => layer - base),
      edges: Int32Array.from(inside),
    });
    orderRows(rows);
    return { x: placeRows(rows), firstLane: rows.firstLane };
  }

  /** Items that touch nothing: a block, a few to the row. */
  private grid(part: number[]): Placed {
    const { left, right, order } = this.input;
    part.sort((a, b) => order[a] - order[b]);
    const columns = Math.min(12, Math.max(3, Math.ceil(Math.sqrt(part.length))));
    const top = this.room.depth() === 0 || part.length > 6 ? 0 : this.layer[part[0]];
    const x = new Float64Array(part.length);
    let at = 0;
    for (let c = 0; c < Math.min(columns, part.length); c++) {
      let [wide, far] = [0, 0];
      for (let k = c; k < part.length; k += columns) {
        wide = Math.max(wide, left[part[k]]);
        far = Math.max(far, right[part[k]]);
      }
      for (let k = c; k < part.length; k += columns) x[k] = at + wide;
      at += wide + far + GAP;
    }
    part.forEach((n, k) => {
      this.layer[n] = top + Math.floor(k / columns);
    });
    return { x, firstLane: new Int32Array(0) };
  }

  /** Beside everything that stands, on the current shelf. */
  private append(part: number[], placed: Placed, own: number[]): void {
    let right = this.room.rightFrom(this.shelf);
    if (right > SHELF) {
      this.shelf = this.room.depth() + 1;
      right = Number.NEGATIVE_INFINITY;
    }
    if (this.shelf > 0) for (const n of part) this.layer[n] += this.shelf;
    let lo = Infinity;
    part.forEach((n, k) => {
      lo = Math.min(lo, placed.x[k] - this.input.left[n]);
    });
    const from = right === Number.NEGATIVE_INFINITY ? 0 : right + APART;
    const shift = Math.round(from - lo);
    part.forEach((n, k) => {
      this.put(n, placed.x[k] + shift);
    });
    this.ownBends(placed, own, shift);
  }

  /** Under its anchors: operations and lanes as one block, then each leaf where there is room for it. */
  private settle(part: number[], placed: Placed, own: number[], wish: number): void {
    const { leaf, left, right, order } = this.input;
    const block = new Map<number, { lo: number; hi: number }>();
    const widen = (layer: number, lo: number, hi: number) => {
      const span = block.get(layer);
      if (!span) block.set(layer, { lo, hi });
      else {
        span.lo = Math.min(span.lo, lo);
        span.hi = Math.max(span.hi, hi);
      }
    };
    part.forEach((n, k) => {
      if (!leaf[n]) widen(this.layer[n], placed.x[k] - left[n], placed.x[k] + right[n]);
    });
    this.eachLane(placed, own, (layer, x) => {
      widen(layer, x - LANE / 2, x + LANE / 2);
    });
    const shift = Math.round(this.room.shiftFor(block, wish));
    const leaves: number[] = [];
    part.forEach((n, k) => {
      if (leaf[n]) leaves.push(k);
      else this.put(n, placed.x[k] + shift);
    });
    this.ownBends(placed, own, shift);
    leaves.sort((a, b) => order[part[a]] - order[part[b]] || placed.x[a] - placed.x[b]);
    for (const k of leaves) {
      const n = part[k];
      this.put(n, this.room.nearest(this.layer[n], placed.x[k] + shift, left[n], right[n]));
    }
  }

  private eachLane(placed: Placed, own: number[], visit: (layer: number, x: number) => void): void {
    const { edges } = this.input;
    own.forEach((e, j) => {
      const first = placed.firstLane[j];
      if (first < 0) return;
      const above = this.layer[edges[2 * e]];
      const crossed = this.layer[edges[2 * e + 1]] - above - 1;
      for (let k = 0; k < crossed; k++) visit(above + 1 + k, placed.x[first + k]);
    });
  }

  private ownBends(placed: Placed, own: number[], shift: number): void {
    const { edges } = this.input;
    own.forEach((e, j) => {
      const first = placed.firstLane[j];
      if (first < 0) return;
      const above = this.layer[edges[2 * e]];
      const crossed = this.layer[edges[2 * e + 1]] - above - 1;
      const bends = Array.from({ length: crossed }, (_, k) => placed.x[first + k] + shift);
      this.bends[e] = bends;
      this.takeLane(above, bends);
    });
  }

  private put(n: number, x: number): void {
    this.x[n] = Math.round(x);
    this.room.take(this.layer[n], this.x[n] - this.input.left[n], this.x[n] + this.input.right[n]);
  }

  /** Lanes of new edges from standing items: in each row the free place nearest to a straight line. */
  private sideLanes(): void {
    const { edges } = this.input;
    let left = MOST_SIDE_LANES;
    for (let e = 0; e < this.bends.length; e++) {
      const [source, target] = [edges[2 * e], edges[2 * e + 1]];
      const crossed = this.layer[target] - this.layer[source] - 1;
      if (this.bends[e] || crossed < 1 || !this.kept[source] || crossed > left) continue;
      left -= crossed;
      const bends: number[] = [];
      for (let k = 1; k <= crossed; k++) {
        const wish = this.x[source] + ((this.x[target] - this.x[source]) * k) / (crossed + 1);
        const near = k > 1 ? bends[k - 2] : wish;
        const layer = this.layer[source] + k;
        bends.push(this.room.nearest(layer, (wish + near) / 2, LANE / 2, LANE / 2, LANE));
      }
      this.bends[e] = bends;
      this.takeLane(this.layer[source], bends);
    }
  }
}

interface Placed {
  x: Float64Array;
  firstLane: Int32Array;
}

function find(parent: Int32Array, n: number): number {
  let root = n;
  while (parent[root] !== root) root = parent[root];
  for (let at = n; parent[at] !== root; ) {
    const next = parent[at];
    parent[at] = root;
    at = next;
  }
  return root;
}

function unite(parent: Int32Array, a: number, b: number): void {
  const [x, y] = [find(parent, a), find(parent, b)];
  if (x !== y) parent[Math.max(x, y)] = Math.min(x, y);
}
