// Folding: operations that came from the same place in a loop, or from the same module, become one item.
// Every operation is in at most one group, so what is shown and what is folded always add up.
import type { NodeRow } from "./types";

/** Above this many drawn items the view folds by itself, whatever it takes. */
export const BUDGET = 1500;
/** Above this many it folds what repeats, where that leaves no more than a share of them. */
export const READABLE = 200;
const WORTH = 4;
/** Where a person wants nothing folded. */
export const MOST_DRAWN = 12_000;
/** How many members opened groups show together; the earlier ones stay folded beside them. */
export const OPENED = 200;

export interface Choices {
  /** What a person wants folded together; what is too many is folded in any case. */
  by?: "auto" | "none" | "sites" | "modules" | "cells" | "near";
  /** With "near": the node around which the graph is shown. */
  near?: number | null;
  /** Each leaf is drawn once, not beside each operation that uses it. */
  once?: boolean;
  /** Groups that the person opened although the view folds by itself. */
  opened: ReadonlySet<string>;
  /** Groups that the person closed although there is room. */
  closed: ReadonlySet<string>;
}

/** Group of each folded operation; an operation that is not in the map is drawn by itself. */
export type Folding = Map<number, string>;

/** `operations` in order of creation and their `sites`; `cost` is how many items an operation draws (itself and its leaves). */
export function fold(
  operations: readonly NodeRow[],
  sites: string[],
  cost: (row: NodeRow) => number,
  choices: Choices,
  budget = BUDGET,
): Folding {
  const wanted = wantedKeys(operations, sites, choices);
  if (wanted) {
    const folding = groupsOf(operations, wanted, choices);
    if (itemsLeft(operations, folding, cost) <= budget) return folding;
  } else {
    const drawn = itemsLeft(operations, new Map(), cost);
    const plain = drawn <= READABLE || choices.by === "none";
    if (!plain && drawn <= budget && rolls(operations, sites, cost, drawn))
      return groupsOf(operations, sites, choices);
    if (drawn <= budget) return closedOnly(operations, sites, choices);
  }
  for (const keys of levels(operations, sites)) {
    const folding = groupsOf(operations, keys, choices);
    if (itemsLeft(operations, folding, cost) <= budget) return folding;
  }
  return window(operations, cost, budget);
}

/** Whether folding what repeats leaves a picture so much smaller that it is worth it. */
function rolls(
  operations: readonly NodeRow[],
  sites: string[],
  cost: (row: NodeRow) => number,
  drawn: number,
): boolean {
  const folding = groupsOf(operations, sites, { opened: new Set(), closed: new Set() });
  return itemsLeft(operations, folding, cost) * WORTH <= drawn;
}

/** Groups that a person asked for; null: as it fits. */
function wantedKeys(rows: readonly NodeRow[], sites: string[], { by }: Choices): string[] | null {
  if (by === "sites") return sites;
  if (by === "cells") return rows.map((row) => `c:${row.cell}`);
  if (by !== "modules") return null;
  return rows.map((row) => (row.module ? `m:${row.module}` : `one:${row.id}`));
}

/** The site key of each operation, for folding one by hand. */
export function callSites(operations: readonly NodeRow[]): string[] {
  const keys: string[] = new Array(operations.length);
  let start = 0;
  while (start < operations.length) {
    let end = start + 1;
    while (end < operations.length && sameLine(operations[start], operations[end])) end += 1;
    nameRun(operations, start, end, keys);
    start = end;
  }
  return keys;
}

const sameLine = (a: NodeRow, b: NodeRow): boolean => a.cell === b.cell && a.line === b.line;

/** Names the members of one run on one line, so that the same step of each iteration has the same name. */
function nameRun(rows: readonly NodeRow[], start: number, end: number, keys: string[]): void {
  const period = periodOf(rows, start, end);
  const seen = new Map<string, number>();
  const short = end - start <= 64;
  const place = `s:${rows[start].cell}:${rows[start].line}:`;
  for (let n = start; n < end; n++) {
    const row = rows[n];
    if (period > 0 && n >= start + period && row.module === rows[n - period].module) {
      // The very same text again: making and hashing a new one is what a long loop would spend its time on.
      keys[n] = keys[n - period];
      continue;
    }
    const module = row.module === "" ? "" : row.module.replace(/\d+/g, "*");
    if (period > 0) {
      keys[n] = `${place}${row.op}:${(n - start) % period}:${module}`;
      continue;
    }
    const times = seen.get(row.op) ?? 0;
    seen.set(row.op, times + 1);
    keys[n] = `${place}${row.op}:${short ? times : 0}:${module}`;
  }
}

/** Length of the shortest sequence of operations that the run repeats at least twice; 0 if none. */
function periodOf(rows: readonly NodeRow[], start: number, end: number): number {
  const length = end - start;
  if (length < 2) return 0;
  const border = new Int32Array(length + 1);
  border[0] = -1;
  for (let n = 0; n < length; n++) {
    let at = border[n];
    while (at >= 0 && rows[start + at].op !== rows[start + n].op) at = border[at];
    border[n + 1] = at + 1;
  }
  const period = length - border[length];
  return length >= 2 * period ? period : 0;
}

/** Ways of grouping, from the one that keeps most to the one that keeps least. */
function* levels(rows: readonly NodeRow[], sites: string[]): Generator<string[]> {
  yield sites;
  const depths = rows.reduce((most, row) => Math.max(most, depthOf(row.module)), 0);
  for (let depth = depths; depth > 0; depth--) {
    yield rows.map((row, n) => (row.module ? `m:${scope(row.module, depth)}` : sites[n]));
  }
  yield rows.map((row) => `l:${row.cell}:${row.line}`);
}

const depthOf = (module: string): number => (module === "" ? 0 : module.split(".").length);

const scope = (module: string, depth: number): string =>
  module.split(".").slice(0, depth).join(".");

function groupsOf(rows: readonly NodeRow[], keys: string[], choices: Choices): Folding {
  const members = new Map<string, number[]>();
  rows.forEach((row, n) => {
    const group = members.get(keys[n]);
    if (group) group.push(row.id);
    else members.set(keys[n], [row.id]);
  });
  const folding: Folding = new Map();
  const newest = Math.max(2, Math.floor(OPENED / Math.max(1, choices.opened.size)));
  for (const [key, ids] of members) {
    if (ids.length < 2) continue;
    const folded = choices.opened.has(key) ? ids.slice(0, Math.max(0, ids.length - newest)) : ids;
    if (folded.length > 1) for (const id of folded) folding.set(id, key);
  }
  return folding;
}

function closedOnly(rows: readonly NodeRow[], sites: string[], choices: Choices): Folding {
  if (choices.closed.size === 0) return new Map();
  const keys = sites.map((site, n) => (choices.closed.has(site) ? site : `one:${rows[n].id}`));
  return groupsOf(rows, keys, { ...choices, opened: new Set() });
}

function itemsLeft(
  rows: readonly NodeRow[],
  folding: Folding,
  cost: (row: NodeRow) => number,
): number {
  const groups = new Set<string>();
  let left = 0;
  for (const row of rows) {
    const key = folding.get(row.id);
    if (key === undefined) left += cost(row);
    else groups.add(key);
  }
  return left + 3 * groups.size;
}

/** Nothing repeats: the newest are drawn and the earlier ones are one item. */
function window(rows: readonly NodeRow[], cost: (row: NodeRow) => number, budget: number): Folding {
  const folding: Folding = new Map();
  let left = budget - 1;
  for (let n = rows.length - 1; n >= 0; n--) {
    left -= cost(rows[n]);
    if (left < 1) folding.set(rows[n].id, "w:earlier");
  }
  return folding;
}
