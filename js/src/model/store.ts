// The graph that is known now, and how a delta changes it.
import {
  type Delta,
  type Detail,
  type EdgeRow,
  EMPTY_STATUS,
  type Finding,
  type NodeRow,
  type Status,
} from "./types";

export class GraphStore {
  readonly nodes = new Map<number, NodeRow>();
  /** Inputs of each node, in order of slot. */
  readonly inputs = new Map<number, EdgeRow[]>();
  readonly details = new Map<number, Detail>();
  /** The name that a node had before the one that it has now, or has no more. */
  readonly formerly = new Map<number, string>();
  private readonly names = new Map<number, string>();
  /** What was tried on nodes, by what and id; forgotten when code runs. */
  readonly trials = new Map<string, Record<string, unknown>>();
  findings: Finding[] = [];
  status: Status = EMPTY_STATUS;
  /** Rises whenever the set of nodes or edges changes. */
  structure = 0;

  apply(delta: Delta): void {
    const told = delta.replace ? this.clear() : null;
    this.remove(delta.removed);
    for (const row of delta.nodes) this.putNode(row);
    for (const edge of delta.edges) this.putEdge(edge);
    // A whole frame may only mean that another page has come: what was told about its nodes still holds.
    if (told) {
      for (const row of delta.nodes) this.keepDetail(row.id, told);
      for (const id of this.names.keys()) if (!this.nodes.has(id)) this.forgetName(id);
    }
    if (delta.status) this.status = delta.status;
    if (this.status.state === "running") this.trials.clear();
    if (delta.findings) this.findings = delta.findings;
    for (const [id, detail] of delta.details) this.putDetail(id, detail);
  }

  /** As it is now; what comes later does not change it. */
  copy(): GraphStore {
    const made = new GraphStore();
    for (const [id, row] of this.nodes) made.nodes.set(id, row);
    for (const [id, edges] of this.inputs) made.inputs.set(id, [...edges]);
    for (const [id, detail] of this.details) made.details.set(id, detail);
    for (const [id, name] of this.formerly) made.formerly.set(id, name);
    return Object.assign(made, { findings: this.findings, status: this.status });
  }

  /** The newest operation. */
  get newest(): number | null {
    let found: number | null = null;
    for (const { id, kind } of this.nodes.values())
      if (kind === "operation" && (found === null || id > found)) found = id;
    return found;
  }

  /** Nodes and edges. */
  get size(): number {
    let size = this.nodes.size;
    for (const edges of this.inputs.values()) size += edges.length;
    return size;
  }

  putDetail(id: number, detail: Detail): void {
    this.details.set(id, { ...this.details.get(id), ...detail });
  }

  /** Findings that name this node. */
  findingsOf(id: number): Finding[] {
    return this.findings.filter((finding) => finding.node_ids.includes(id));
  }

  private keepDetail(id: number, told: Map<number, Detail>): void {
    const detail = told.get(id);
    if (detail) this.details.set(id, detail);
  }

  /** Forgets the graph; gives what was told about its nodes. */
  private clear(): Map<number, Detail> {
    const told = new Map(this.details);
    this.nodes.clear();
    this.inputs.clear();
    this.details.clear();
    this.findings = [];
    this.structure += 1;
    return told;
  }

  private putNode(row: NodeRow): void {
    const before = this.nodes.get(row.id);
    this.nodes.set(row.id, row);
    const name = this.names.get(row.id) ?? "";
    if (name !== row.label) {
      if (name) this.formerly.set(row.id, name);
      this.names.set(row.id, row.label);
    }
    if (!before || before.label !== row.label || before.kind !== row.kind || before.op !== row.op) {
      this.structure += 1;
    }
  }

  private forgetName(id: number): void {
    this.names.delete(id);
    this.formerly.delete(id);
  }

  private putEdge(edge: EdgeRow): void {
    const edges = this.inputs.get(edge.target);
    if (!edges) {
      this.inputs.set(edge.target, [edge]);
      this.structure += 1;
      return;
    }
    const later = edge.slot > edges[edges.length - 1].slot;
    const at = later ? -1 : edges.findIndex((one) => one.slot === edge.slot);
    if (at < 0) {
      edges.push(edge);
      if (!later) edges.sort((a, b) => a.slot - b.slot);
      this.structure += 1;
    } else {
      if (edges[at].source !== edge.source || edges[at].cut !== edge.cut) this.structure += 1;
      edges[at] = edge;
    }
  }

  private remove(ids: readonly number[]): void {
    if (ids.length === 0) return;
    const gone = new Set(ids);
    for (const id of gone) {
      this.nodes.delete(id);
      this.inputs.delete(id);
      this.details.delete(id);
      this.forgetName(id);
    }
    for (const [target, edges] of this.inputs) {
      const kept = edges.filter((edge) => !gone.has(edge.source));
      if (kept.length < edges.length) this.inputs.set(target, kept);
    }
    this.structure += 1;
  }
}
