// The graph as the page knows it: plain data, the same whether it came as binary frames or as a frozen bundle.

export type Kind = "leaf" | "parameter" | "operation" | "untracked";

export const KINDS: readonly Kind[] = ["leaf", "parameter", "operation", "untracked"];

export const Flag = {
  requiresGrad: 1,
  isLeaf: 2,
  retainsGrad: 4,
  root: 8,
  alive: 16,
  freed: 32,
  hasGrad: 64,
  found: 128,
  failed: 256,
  cut: 512,
  inPlace: 1024,
  /** What it saved was changed in place since: backward will refuse it. */
  clash: 2048,
} as const;

export interface NodeRow {
  id: number;
  kind: Kind;
  op: string;
  label: string;
  shape: string;
  dtype: string;
  device: string;
  version: number;
  /** Execution count of the cell, -1 outside cells. */
  cell: number;
  line: number;
  code: string;
  module: string;
  flags: number;
  savedTotal: number;
  savedAlive: number;
  hooks: number;
  /** The node whose backward recorded it; -1: none. */
  creator: number;
  bytes: number;
  gradNorm: number | null;
}

export interface EdgeRow {
  source: number;
  target: number;
  slot: number;
  output: number;
  cut: string;
  gradNorm: number | null;
}

export interface Place {
  cell: number | null;
  line: number;
  file?: string;
  function?: string;
  code?: string;
}

export interface Saved {
  name: string;
  shape: number[];
  dtype: string;
  bytes: number;
  version_saved: number;
  version_now: number;
  state: string;
  label: string;
  /** The node whose tensor it is; its own for a result. */
  source: number | null;
}

export interface Hook {
  kind: string;
  name: string;
  place: Place | null;
  /** Null where calls are not counted. */
  calls: number | null;
  /** Norms of the gradient that it last replaced. */
  before: number | null;
  after: number | null;
  /** Of hooks of modules. */
  owner: string;
}

export interface Stats {
  shape: number[];
  dtype: string;
  minimum: number | null;
  mean: number | null;
  maximum: number | null;
  norm: number | null;
  nan: number;
  inf: number;
  zero: number;
  values: unknown;
  heat: (number | null)[][] | null;
}

/** All that the inspector shows beyond the row. Parts not yet known are absent. */
export interface Detail {
  place?: Place | null;
  calls?: Place[];
  saved?: Saved[];
  hooks?: Hook[];
  /** By language. */
  formula?: Record<string, string>;
  findings?: string[];
  value?: Stats | null;
  grad?: Stats | null;
  grad_state?: string;
  holders?: string[];
  /** What it and the graph behind it keep. */
  keeps?: { nodes: number; bytes: number } | null;
  /** Nodes in the same memory. */
  shares?: number[];
  /** Lines that changed its value in place, each with the version that it made. */
  changes?: { version: number; place: Place | null }[];
  /** Lines whose backward passes added to its gradient since that was cleared. */
  added?: { count: number; place: Place | null }[];
  /** True once Python has answered for this node, not only the frozen row. */
  answered?: boolean;
}

export interface Finding {
  rule: string;
  kind: string;
  severity: string;
  holders: string[];
  cell: number | null;
  line: number | null;
  nodes: number;
  bytes: number;
  message: Record<string, string>;
  fix: Record<string, string>;
  code: string;
  node_ids: number[];
  count?: number;
  step_nodes?: number;
  step_bytes?: number;
  /** Of a line that is in no cell. */
  file?: string;
}

export interface CellMemory {
  count: number;
  bytes: Record<string, number>;
}

export interface Status {
  state: string;
  cell: number | null;
  shown: number;
  total: number;
  folded: number;
  note: string;
  cells: CellMemory[];
  queued: boolean;
  overhead: { ms: number; bytes: number } | null;
}

/** What one message changes. `replace` starts from nothing. */
export interface Delta {
  replace: boolean;
  nodes: NodeRow[];
  edges: EdgeRow[];
  removed: number[];
  status: Status | null;
  findings: Finding[] | null;
  details: Map<number, Detail>;
}

export const EMPTY_STATUS: Status = {
  state: "idle",
  cell: null,
  shown: 0,
  total: 0,
  folded: 0,
  note: "",
  cells: [],
  queued: false,
  overhead: null,
};

export const has = (row: NodeRow, flag: number): boolean => (row.flags & flag) !== 0;
