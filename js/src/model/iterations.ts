// One iteration of a folded loop at a time: what it did, and in what it differs from another.
import { diffOf } from "./diff";
import { type Item, loopOf, type Scene } from "./scene";
import type { GraphStore } from "./store";
import type { NodeRow } from "./types";

/** The group of the loop that comes first in its body: each member of it begins an iteration. */
export function headOf(scene: Scene, item: Item): Item | null {
  if (!item.members || item.leaf || item.row.kind !== "operation") return null;
  return loopOf(scene, item).reduce((a, b) => (b.members![0] < a.members![0] ? b : a));
}

/** Whether a node belongs to iteration `at`, by its id; the last one has no end. */
const within = (head: Item, at: number) => {
  const [from, to] = [head.members![at], head.members![at + 1] ?? Number.POSITIVE_INFINITY];
  return (id: number) => id >= from && id < to;
};

/** The groups of the loop stand for what they are in iteration `at`; what it left out is absent. */
export function turn(scene: Scene, store: GraphStore, head: Item, at: number): void {
  const { cell } = head.row;
  const inside = within(head, at);
  for (const item of scene.items) {
    if (!item.members || item.leaf || item.row.cell !== cell) continue;
    const member = item.members.filter(inside).at(-1);
    item.absent = member === undefined;
    if (member === undefined) continue;
    item.row = store.nodes.get(member)!;
    item.turn = at + 1;
  }
  for (const link of scene.links) {
    const target = scene.items[link.target];
    if (target.turn === 0) continue;
    const edges = store.inputs.get(target.row.id) ?? [];
    const own = edges.filter((edge) => scene.byNode.get(edge.source)?.includes(link.source));
    link.gradNorm = own.reduce<number | null>(
      (most, { gradNorm }) => (gradNorm === null ? most : Math.max(most ?? 0, gradNorm)),
      null,
    );
  }
}

/** What only iteration `at` did, and what only `other` did: operation and line, no name twice. */
export function differ(
  scene: Scene,
  store: GraphStore,
  head: Item,
  at: number,
  other: number,
): { here: string[]; there: string[] } {
  const groups = scene.items.filter((item) => item.members && !item.leaf);
  const ids = groups.filter((item) => item.row.cell === head.row.cell).flatMap((x) => x.members!);
  const rows = (n: number) => ids.filter(within(head, n)).map((id) => store.nodes.get(id)!);
  const mine = rows(at);
  const { came, gone } = diffOf(rows(other), mine);
  const named = (rows: NodeRow[]) => [...new Set(rows.map(({ op, line }) => `${op}:${line}`))];
  return { here: named(mine.filter(({ id }) => came.has(id))), there: named(gone) };
}
