// Moving through the graph along its edges, and finding things in it.
import type { Scene } from "./scene";

export type Direction = "up" | "down" | "left" | "right";

/** The item to go to from `from`: up to inputs, down to uses, sideways along a row. -1 when there is none. */
export function neighbour(
  scene: Scene,
  x: ArrayLike<number>,
  layer: ArrayLike<number>,
  from: number,
  direction: Direction,
): number {
  if (direction === "left" || direction === "right") {
    return sideways(x, layer, scene.items.length, from, direction === "left" ? -1 : 1);
  }
  const up = direction === "up";
  let best = -1;
  for (const link of scene.links) {
    if (link.back || (up ? link.target : link.source) !== from) continue;
    const to = up ? link.source : link.target;
    if (best < 0 || closer(scene, x, from, to, best)) best = to;
  }
  return best;
}

/** An operation before a leaf, then the nearest. */
function closer(
  scene: Scene,
  x: ArrayLike<number>,
  from: number,
  to: number,
  best: number,
): boolean {
  const a = scene.items[to].leaf;
  const b = scene.items[best].leaf;
  if (a !== b) return !a;
  return Math.abs(x[to] - x[from]) < Math.abs(x[best] - x[from]);
}

function sideways(
  x: ArrayLike<number>,
  layer: ArrayLike<number>,
  count: number,
  from: number,
  sign: number,
): number {
  let best = -1;
  for (let n = 0; n < count; n++) {
    const step = (x[n] - x[from]) * sign;
    if (n === from || layer[n] !== layer[from] || step <= 0) continue;
    if (best < 0 || step < (x[best] - x[from]) * sign) best = n;
  }
  return best;
}

/** Items whose name, operation, shape, module or place holds the words; best matches first. */
export function search(scene: Scene, query: string, limit = 50): number[] {
  const words = query.trim().toLowerCase();
  if (words === "") return [];
  const seen = new Set<number>();
  const ranked: [number, number][] = [];
  scene.items.forEach((item, n) => {
    const rank = rankOf(item.title, item.row, words);
    if (rank < 0 || seen.has(item.row.id)) return;
    seen.add(item.row.id);
    ranked.push([rank, n]);
  });
  ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return ranked.slice(0, limit).map(([, n]) => n);
}

function rankOf(
  title: string,
  row: { op: string; shape: string; module: string; cell: number; line: number; code: string },
  words: string,
): number {
  const name = title.toLowerCase();
  if (name === words) return 0;
  if (name.startsWith(words)) return 1;
  if (name.includes(words)) return 2;
  if (row.op.toLowerCase().includes(words)) return 3;
  const rest = `${row.shape} ${row.module} [${row.cell}]:${row.line} ${row.code}`.toLowerCase();
  return rest.includes(words) ? 4 : -1;
}
