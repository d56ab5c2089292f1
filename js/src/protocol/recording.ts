// Reading a recording of unknown shape.
import type { Added, Freed, Recording, Sent, Step, Why } from "../model/recording";
import { readGraph } from "./bundle";
import { byLanguage, isRecord, readStats, records, text, texts, whole, wholes } from "./read";

type Raw = Record<string, unknown>;

/** Null where the text is no recording that this page can read. */
export function parseRecording(json: string): Recording | null {
  try {
    return readRecording(JSON.parse(json));
  } catch {
    return null;
  }
}

export function readRecording(raw: unknown): Recording | null {
  if (!isRecord(raw) || raw.schema !== 1) return null;
  return {
    ...readGraph(raw),
    roots: wholes(raw.roots),
    plan: wholes(raw.plan),
    steps: readSteps(raw.steps),
    why: records(raw.why).map(readWhy),
    kept: raw.kept === true,
    state: text(raw.state) || "finished",
    error: text(raw.error),
    raw,
  };
}

export const readSteps = (value: unknown): Step[] => records(value).map(readStep);

const readStep = (raw: Raw): Step => ({
  node: whole(raw.node, -1),
  arrived: Array.isArray(raw.arrived) ? raw.arrived.map(readStats) : [],
  rule: byLanguage(raw.rule),
  numbers: byLanguage(raw.numbers),
  sent: records(raw.sent).map(readSent),
  added: records(raw.added).map(readAdded),
  freed: records(raw.freed).map(readFreed),
  hooks: texts(raw.hooks),
  stop: text(raw.stop),
});

const readSent = (raw: Raw): Sent => ({
  slot: whole(raw.slot),
  target: whole(raw.target, -1),
  grad: readStats(raw.grad),
});

const readAdded = (raw: Raw): Added => ({
  leaf: whole(raw.leaf, -1),
  before: readStats(raw.before),
  amount: readStats(raw.amount),
  after: readStats(raw.after),
  hooks: texts(raw.hooks),
});

const readFreed = (raw: Raw): Freed => ({
  name: text(raw.name),
  shape: wholes(raw.shape),
  bytes: whole(raw.bytes),
});

const readWhy = (raw: Raw): Why => ({
  leaf: whole(raw.leaf, -1),
  paths: whole(raw.paths),
  shares: records(raw.shares).map((one) => ({
    nodes: wholes(one.nodes),
    share: readStats(one.share),
  })),
  total: readStats(raw.total),
});
