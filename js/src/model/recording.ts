// A backward pass step by step, and the graph as it is after some of its steps.
import { type Delta, type Detail, type EdgeRow, Flag, type NodeRow, type Stats } from "./types";

export interface Sent {
  slot: number;
  target: number;
  grad: Stats | null;
}

export interface Added {
  leaf: number;
  before: Stats | null;
  amount: Stats | null;
  after: Stats | null;
  hooks: string[];
}

export interface Freed {
  name: string;
  shape: number[];
  bytes: number;
}

export interface Step {
  node: number;
  arrived: (Stats | null)[];
  /** By language. */
  rule: Record<string, string>;
  numbers: Record<string, string>;
  sent: Sent[];
  added: Added[];
  freed: Freed[];
  hooks: string[];
  stop: string;
}

export interface Why {
  leaf: number;
  paths: number;
  shares: { nodes: number[]; share: Stats | null }[];
  total: Stats | null;
}

export interface Recording {
  nodes: NodeRow[];
  edges: EdgeRow[];
  details: Map<number, Detail>;
  roots: number[];
  plan: number[];
  steps: Step[];
  why: Why[];
  kept: boolean;
  state: string;
  error: string;
  /** What it was read from, to be saved again. */
  raw: Record<string, unknown>;
}

const unsound = (stats: Stats | null): boolean =>
  stats !== null && (stats.nan + stats.inf > 0 || !Number.isFinite(stats.norm ?? 0));

/** The graph once the first `position` steps are done; nodes and edges are the same at every position. */
export function deltaAt(recording: Recording, position: number): Delta {
  const steps = recording.steps.slice(0, position);
  const done = new Map(steps.map((step) => [step.node, step]));
  const flowed = new Map<string, number>();
  const grads = new Map<number, Stats>();
  for (const step of steps) {
    for (const { slot, grad } of step.sent) {
      if (grad) flowed.set(`${step.node}:${slot}`, unsound(grad) ? Number.NaN : (grad.norm ?? 0));
    }
    for (const { leaf, after } of step.added) if (after) grads.set(leaf, after);
  }
  const details = new Map<number, Detail>();
  for (const [leaf, grad] of grads) details.set(leaf, { grad, grad_state: "present" });
  for (const { leaf, before } of recording.steps.flatMap((step) => step.added)) {
    if (details.has(leaf)) continue;
    details.set(leaf, { grad: before, grad_state: before ? "present" : "none_yet" });
  }
  return {
    replace: false,
    nodes: recording.nodes.map((row) => rowAt(row, recording, done.get(row.id), grads)),
    edges: recording.edges.map((edge) => ({
      ...edge,
      gradNorm: flowed.get(`${edge.target}:${edge.slot}`) ?? null,
    })),
    removed: [],
    status: null,
    findings: null,
    details,
  };
}

function rowAt(
  row: NodeRow,
  recording: Recording,
  step: Step | undefined,
  grads: Map<number, Stats>,
): NodeRow {
  if (row.kind !== "operation") {
    const grad = grads.get(row.id);
    if (!grad) return row;
    const flags = row.flags | Flag.hasGrad | (unsound(grad) ? Flag.failed : 0);
    return { ...row, gradNorm: grad.norm, flags };
  }
  if (!step) return row;
  const gone = !recording.kept && step.freed.length > 0;
  const bad = [...step.arrived, ...step.sent.map(({ grad }) => grad)].some(unsound);
  const flags = row.flags | (gone ? Flag.freed : 0) | (bad ? Flag.failed : 0);
  return { ...row, flags, savedAlive: gone ? 0 : row.savedAlive };
}

/** What came into `node` before step `number`, and from whom. */
export function termsOf(
  recording: Recording,
  node: number,
  number: number,
): { from: number; grad: Stats }[] {
  const terms: { from: number; grad: Stats }[] = [];
  for (const step of recording.steps.slice(0, number)) {
    for (const { target, grad } of step.sent) {
      if (target === node && grad) terms.push({ from: step.node, grad });
    }
  }
  return terms;
}
