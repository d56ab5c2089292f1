// The frozen twin: the same model as JSON, as docs/protocol.md describes it.

import type { GraphStore } from "../model/store";
import { type Delta, type Detail, type EdgeRow, Flag, KINDS, type NodeRow } from "../model/types";
import {
  figure,
  isRecord,
  readDetail,
  readDetails,
  readFindings,
  readPlace,
  readStatus,
  records,
  text,
  texts,
  whole,
} from "./read";

export const SCHEMA = 1;

export interface Bundle {
  language: string;
  delta: Delta;
}

type Raw = Record<string, unknown>;

export function shapeText(shape: readonly unknown[]): string {
  return shape.length === 0 ? "()" : shape.join("×");
}

/** Null when the text is empty or is not a bundle this page can read. */
export function readBundle(json: string): Bundle | null {
  const raw = parse(json);
  if (!isRecord(raw) || raw.schema !== SCHEMA) return null;
  return {
    language: text(raw.language),
    delta: {
      ...readGraph(raw),
      replace: true,
      removed: [],
      status: readStatus(raw.status),
      findings: readFindings(raw.findings) ?? [],
    },
  };
}

/** Nodes and edges with all that is known of them. */
export function readGraph(raw: Raw): Pick<Delta, "nodes" | "edges" | "details"> {
  const nodes = Array.isArray(raw.nodes) ? raw.nodes.filter(isRecord) : [];
  const edges = Array.isArray(raw.edges) ? raw.edges.filter(isRecord) : [];
  const answers = readDetails(raw.details);
  const details = new Map<number, Detail>();
  for (const node of nodes) {
    const id = whole(node.id, -1);
    // A frozen page has no one to ask: what it carries is the whole answer.
    details.set(id, { ...readDetail(node), ...answers.get(id), answered: true });
  }
  return { nodes: nodes.map(readNode), edges: edges.map(readEdge), details };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function readNode(raw: Raw): NodeRow {
  const place = readPlace(raw.place);
  const saved = Array.isArray(raw.saved) ? raw.saved.filter(isRecord) : [];
  return {
    id: whole(raw.id, -1),
    kind: KINDS.find((kind) => kind === raw.kind) ?? "operation",
    op: text(raw.cut) || text(raw.op),
    label: text(raw.label),
    shape: Array.isArray(raw.shape) ? shapeText(raw.shape) : text(raw.shape),
    dtype: text(raw.dtype),
    device: text(raw.device),
    version: whole(raw.version),
    cell: place?.cell ?? -1,
    line: place?.line ?? 0,
    code: place?.code ?? "",
    module: text(raw.module),
    flags: flagsOf(raw),
    savedTotal: saved.length,
    savedAlive: saved.filter((one) => one.state !== "freed").length,
    hooks: Array.isArray(raw.hooks) ? raw.hooks.length : 0,
    bytes: whole(raw.bytes),
    gradNorm: figure(raw.grad_norm),
    creator: whole(raw.creator, -1),
  };
}

function flagsOf(raw: Raw): number {
  const gradient = figure(raw.grad_norm);
  const failed = raw.failed === true || (gradient !== null && !Number.isFinite(gradient));
  const clash = (one: Raw) => one.state === "alive" && one.version_saved !== one.version_now;
  const flags: [number, boolean][] = [
    [Flag.requiresGrad, raw.requires_grad === true],
    [Flag.isLeaf, raw.is_leaf === true],
    [Flag.retainsGrad, raw.retains_grad === true],
    [Flag.root, raw.root === true],
    [Flag.alive, raw.alive !== false],
    [Flag.freed, raw.freed === true],
    [Flag.hasGrad, gradient !== null],
    [Flag.found, texts(raw.findings).length > 0],
    [Flag.failed, failed],
    [Flag.cut, text(raw.cut) !== ""],
    [Flag.inPlace, raw.inplace === true],
    [Flag.clash, records(raw.saved).some(clash)],
  ];
  return flags.reduce((all, [flag, on]) => (on ? all | flag : all), 0);
}

const readEdge = (raw: Raw): EdgeRow => ({
  source: whole(raw.source, -1),
  target: whole(raw.target, -1),
  slot: whole(raw.slot),
  output: whole(raw.output),
  cut: text(raw.cut),
  gradNorm: figure(raw.grad_norm),
});

/** The graph that is known now, in the frozen form; what was never asked for is left out. */
export function toBundle(store: GraphStore, language: string): Record<string, unknown> {
  const details: Record<string, unknown> = {};
  const nodes: unknown[] = [];
  for (const row of store.nodes.values()) {
    const { answered, value, grad, grad_state, holders, shares, changes, ...known } =
      store.details.get(row.id) ?? {};
    nodes.push({ ...writeNode(row), ...known });
    const told = { id: row.id, value, grad, grad_state, holders, shares, changes };
    if (answered) details[row.id] = told;
  }
  const edges = [...store.inputs.values()].flat().map((edge) => ({
    source: edge.source,
    target: edge.target,
    slot: edge.slot,
    output: edge.output,
    grad_norm: writeFigure(edge.gradNorm),
    cut: edge.cut,
  }));
  return {
    schema: SCHEMA,
    language,
    nodes,
    edges,
    details,
    findings: store.findings,
    status: store.status,
  };
}

const writeFigure = (value: number | null): number | string | null =>
  value === null || Number.isFinite(value) ? value : String(value);

function writeNode(row: NodeRow): Raw {
  const has = (flag: number) => (row.flags & flag) !== 0;
  const cut = has(Flag.cut) ? row.op : "";
  return {
    id: row.id,
    kind: row.kind,
    op: cut ? "" : row.op,
    label: row.label,
    shape: row.shape === "()" ? [] : row.shape.split("×").map(Number),
    dtype: row.dtype,
    device: row.device,
    bytes: row.bytes,
    requires_grad: has(Flag.requiresGrad),
    is_leaf: has(Flag.isLeaf),
    retains_grad: has(Flag.retainsGrad),
    version: row.version,
    place:
      row.line > 0
        ? { cell: row.cell < 0 ? null : row.cell, line: row.line, code: row.code }
        : null,
    module: row.module,
    root: has(Flag.root),
    alive: has(Flag.alive),
    freed: has(Flag.freed),
    failed: has(Flag.failed),
    inplace: has(Flag.inPlace),
    grad_norm: writeFigure(row.gradNorm),
    cut,
    creator: row.creator < 0 ? null : row.creator,
    findings: [],
  };
}
