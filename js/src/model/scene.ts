// What is drawn: items and links, made from the store. A leaf is drawn once per use, next to what uses it,
// and all its drawings share one identity.
import { BUDGET, type Choices, callSites, type Folding, fold } from "./fold";
import type { GraphStore } from "./store";
import { type EdgeRow, Flag, has, type NodeRow } from "./types";

export interface Item {
  key: string;
  /** The node it stands for; of a group, its newest member. */
  row: NodeRow;
  /** Nodes folded into it, in order of creation; null for a single node. */
  members: number[] | null;
  /** Group key, or the call site by which a single operation could be folded. */
  site: string;
  /** Order of creation: the layout's first key. */
  order: number;
  /** A drawing of a leaf that sits beside the operation that uses it. */
  leaf: boolean;
  /** Another drawing of a leaf that is drawn before: its gradient is the same, not a further one. */
  again: boolean;
  title: string;
  flags: number;
  savedTotal: number;
  savedAlive: number;
  hooks: number;
  /** A folded loop: its members feed one another. */
  loops: boolean;
  /** Of a folded loop: the iteration that it stands for, from 1; 0: its newest member. */
  turn: number;
  /** That iteration did not come here. */
  absent: boolean;
}

export interface Link {
  source: number;
  target: number;
  slot: number;
  cut: string;
  gradNorm: number | null;
  /** Goes back to an earlier item of a folded loop. */
  back: boolean;
  times: number;
}

export interface Scene {
  items: Item[];
  links: Link[];
  /** Items by node: several for a leaf that is used several times. */
  byNode: Map<number, number[]>;
  byKey: Map<string, number>;
  /** How often each call site occurs, so that a person can fold it. */
  repeats: Map<string, number>;
  shown: number;
  total: number;
  folded: number;
}

export const EMPTY_SCENE: Scene = {
  items: [],
  links: [],
  byNode: new Map(),
  byKey: new Map(),
  repeats: new Map(),
  shown: 0,
  total: 0,
  folded: 0,
};

/** More than there can be items: a pair of them is one whole number. */
const PAIR = 2 ** 26;
/** Unused leaves beyond this many are one item. */
const LONELY = 200;
/** How many edges away from a node its surroundings reach. */
const HOPS = 3;
/** From this many leaves of a kind on, those of one operation are one item. */
const CROWD = 50;

export function buildScene(store: GraphStore, choices: Choices, budget = BUDGET): Scene {
  return new Builder(store, choices, budget).build();
}

class Builder {
  private readonly items: Item[] = [];
  private readonly links: Link[] = [];
  private readonly byKey = new Map<string, number>();
  private readonly itemOf = new Map<number, number>();
  /** Links of folded items, by their pair of ends. */
  private readonly linkAt = new Map<number, number>();
  private readonly used = new Set<number>();
  /** Leaves already counted in a folded drawing, by item. */
  private readonly covered = new Map<number, Set<number>>();
  private readonly repeats = new Map<string, number>();
  private readonly crowds = new Map<string, boolean>();

  constructor(
    private readonly store: GraphStore,
    private readonly choices: Choices,
    private readonly budget: number,
  ) {}

  build(): Scene {
    const rows = [...this.store.nodes.values()].sort((a, b) => this.orderOf(a) - this.orderOf(b));
    const near = this.surroundings();
    const operations = rows.filter((row) => this.isStep(row) && (!near || near.has(row.id)));
    const sites = callSites(operations);
    const folding = fold(operations, sites, (row) => this.cost(row), this.choices, this.budget);
    for (const site of sites) this.repeats.set(site, (this.repeats.get(site) ?? 0) + 1);
    operations.forEach((row, n) => {
      this.addStep(row, folding, sites[n]);
    });
    for (const row of operations) this.addInputs(row);
    if (!near) this.addUnused(rows);
    return this.finish(rows.length, near !== null);
  }

  /** The operations a few edges around the node that was asked for, and that node; null: all. */
  private surroundings(): Set<number> | null {
    const { near, by } = this.choices;
    const { nodes, inputs } = this.store;
    if (by !== "near" || near == null || !nodes.has(near)) return null;
    const uses = new Map<number, number[]>();
    for (const [target, edges] of inputs) {
      for (const { source } of edges) {
        const at = uses.get(source);
        if (at) at.push(target);
        else uses.set(source, [target]);
      }
    }
    const found = new Set([near]);
    let edge = [near];
    for (let hop = 0; hop < HOPS; hop++) {
      edge = edge
        .flatMap((id) => [
          ...(inputs.get(id) ?? []).map((one) => one.source),
          ...(uses.get(id) ?? []),
        ])
        .filter((id) => !found.has(id));
      // What a shared leaf is used for elsewhere is not near.
      for (const id of edge) found.add(id);
      edge = edge.filter((id) => nodes.has(id) && this.isStep(nodes.get(id)!));
    }
    return found;
  }

  /** Order of creation; what stands where a value left the graph comes after what it came from. */
  private orderOf(row: NodeRow): number {
    const edges = row.id < 0 ? this.store.inputs.get(row.id) : undefined;
    return edges ? Math.max(...edges.map((edge) => edge.source)) + 0.25 : row.id;
  }

  /** Whether a node has its own place in the flow: an operation, or a value cut out of a graph. */
  private isStep(row: NodeRow): boolean {
    return row.kind === "operation" || (this.store.inputs.get(row.id)?.length ?? 0) > 0;
  }

  private cost(row: NodeRow): number {
    const leaves = new Set<string | number>();
    for (const edge of this.store.inputs.get(row.id) ?? []) {
      const source = this.store.nodes.get(edge.source);
      if (source && !this.isStep(source)) leaves.add(this.crowdOf(source, row) || source.id);
    }
    return 1 + leaves.size;
  }

  /** The key under which the leaves of this kind that `user` takes are drawn together; else empty. */
  private crowdOf(leaf: NodeRow, user: NodeRow): string {
    const edges = this.store.inputs.get(user.id) ?? [];
    if (edges.length < CROWD || this.choices.by === "none") return "";
    const key = `f:${leaf.kind}@${user.id}`;
    let crowd = this.crowds.get(key);
    if (crowd === undefined) {
      const alike = edges.filter((edge) => this.store.nodes.get(edge.source)?.kind === leaf.kind);
      crowd = alike.length >= CROWD;
      this.crowds.set(key, crowd);
    }
    return crowd && !this.choices.opened.has(key) ? key : "";
  }

  private addStep(row: NodeRow, folding: Folding, site: string): void {
    const group = folding.get(row.id);
    const key = group ?? String(row.id);
    const at = this.byKey.get(key);
    if (at === undefined) {
      const item = single(key, row, group ?? site, this.orderOf(row), false);
      if (group !== undefined) item.members = [row.id];
      this.itemOf.set(row.id, this.put(item));
    } else {
      join(this.items[at], row);
      this.itemOf.set(row.id, at);
    }
  }

  private addInputs(row: NodeRow): void {
    const target = this.itemOf.get(row.id)!;
    for (const edge of this.store.inputs.get(row.id) ?? []) {
      const source = this.store.nodes.get(edge.source);
      if (!source) continue;
      const known = this.itemOf.get(source.id);
      if (known === undefined && this.isStep(source)) continue;
      this.link(known ?? this.leafFor(source, edge, target, row), target, edge);
    }
  }

  /** The drawing of `leaf` beside `target`. */
  private leafFor(leaf: NodeRow, edge: EdgeRow, target: number, row: NodeRow): number {
    const again = this.used.has(leaf.id);
    this.used.add(leaf.id);
    const user = this.items[target];
    const crowd = this.crowdOf(leaf, row);
    const stem = user.members ? `${edge.slot}:${leaf.kind}` : String(leaf.id);
    const once = this.choices.once && !user.members;
    const key = crowd || (once ? `${leaf.id}@` : `${stem}@${user.key}`);
    const at = this.byKey.get(key);
    if (at === undefined) {
      const opened = `f:${leaf.kind}@${row.id}`;
      const site = crowd || (this.crowds.get(opened) ? opened : "");
      const item = single(key, leaf, site, user.order - 0.5, true);
      item.again = again;
      if (crowd) item.members = [leaf.id];
      return this.put(item);
    }
    if (user.members || crowd) this.cover(at, leaf, again);
    return at;
  }

  private cover(at: number, leaf: NodeRow, again: boolean): void {
    const item = this.items[at];
    const covered = this.covered.get(at) ?? new Set([item.row.id]);
    this.covered.set(at, covered);
    if (covered.has(leaf.id)) return;
    covered.add(leaf.id);
    item.members ??= [item.row.id];
    item.again &&= again;
    join(item, leaf);
  }

  private link(source: number, target: number, edge: EdgeRow): void {
    if (source === target) {
      this.items[target].loops = true;
      return;
    }
    const grouped = this.items[source].members !== null || this.items[target].members !== null;
    const pair = source * PAIR + target;
    const at = grouped ? this.linkAt.get(pair) : undefined;
    if (at !== undefined) {
      const link = this.links[at];
      link.times += 1;
      link.gradNorm = larger(link.gradNorm, edge.gradNorm);
      return;
    }
    const back = this.items[source].order >= this.items[target].order;
    const { slot, cut, gradNorm } = edge;
    if (grouped) this.linkAt.set(pair, this.links.length);
    this.links.push({ source, target, slot, cut, gradNorm, back, times: 1 });
  }

  private addUnused(rows: readonly NodeRow[]): void {
    const lonely = rows.filter((row) => !this.itemOf.has(row.id) && !this.used.has(row.id));
    const crowd = lonely.length > LONELY;
    for (const row of lonely) {
      const key = crowd ? `${row.kind}@` : `${row.id}@`;
      const at = this.byKey.get(key);
      if (at === undefined) {
        const item = single(key, row, "", row.id, true);
        if (crowd) item.members = [row.id];
        this.put(item);
      } else join(this.items[at], row);
    }
  }

  private put(item: Item): number {
    this.byKey.set(item.key, this.items.length);
    this.items.push(item);
    return this.items.length - 1;
  }

  private finish(known: number, part: boolean): Scene {
    const byNode = new Map<number, number[]>();
    const shown = new Set<number>();
    let folded = 0;
    this.items.forEach((item, n) => {
      if (!item.leaf) folded += item.members?.length ?? 0;
      for (const id of item.members ?? [item.row.id]) {
        const at = byNode.get(id);
        if (at) at.push(n);
        else byNode.set(id, [n]);
      }
      if (item.members) item.title = commonTitle(item, this.store);
      else shown.add(item.row.id);
    });
    const total = Math.max(known, this.store.status.total);
    return {
      items: this.items,
      links: this.links,
      byNode,
      byKey: this.byKey,
      repeats: this.repeats,
      shown: shown.size,
      total,
      folded: part ? folded : total - shown.size,
    };
  }
}

function single(key: string, row: NodeRow, site: string, order: number, leaf: boolean): Item {
  return {
    key,
    row,
    members: null,
    site,
    order,
    leaf,
    again: false,
    title: row.label,
    flags: row.flags,
    savedTotal: row.savedTotal,
    savedAlive: row.savedAlive,
    hooks: row.hooks,
    loops: false,
    turn: 0,
    absent: false,
  };
}

const EITHER =
  Flag.found | Flag.failed | Flag.root | Flag.retainsGrad | Flag.hasGrad | Flag.alive | Flag.clash;

function join(item: Item, row: NodeRow): void {
  const freed = item.flags & row.flags & Flag.freed;
  item.members!.push(row.id);
  item.row = row;
  item.flags = (row.flags & ~Flag.freed) | (item.flags & EITHER) | freed;
  item.savedTotal += row.savedTotal;
  item.savedAlive += row.savedAlive;
  item.hooks += row.hooks;
}

/** The name its members share, numbers aside; the module for a folded module. */
function commonTitle(item: Item, store: GraphStore): string {
  if (item.key.startsWith("m:")) return item.key.slice(2);
  if (item.key.startsWith("c:")) return `In [${item.key.slice(2)}]`;
  let common: string | null = null;
  for (const id of item.members!) {
    const label = store.nodes.get(id)?.label ?? "";
    const plain = label.replace(/\d+/g, "*");
    if (common === null) common = label;
    else if (common !== label && common.replace(/\d+/g, "*") !== plain) return "";
    else if (common !== label) common = plain;
  }
  return common ?? "";
}

/** NaN is the largest: it must not be lost in a folded link. */
const larger = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);

/** The groups of the loop that a folded item belongs to: they have as many members in the same cell. */
export function loopOf(scene: Scene, item: Item): Item[] {
  return scene.items.filter(
    (one) =>
      one.members?.length === item.members?.length &&
      one.row.kind === "operation" &&
      one.row.cell === item.row.cell,
  );
}

export const isRoot = (item: Item): boolean =>
  (item.flags & Flag.root) !== 0 && item.row.kind === "operation";

export const requiresGrad = (item: Item): boolean => has(item.row, Flag.requiresGrad);
