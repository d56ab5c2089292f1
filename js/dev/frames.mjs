// A frame as Python sends it, made from a sketch: for the bench and the tests.

const KINDS = ["leaf", "parameter", "operation", "untracked"];

/** Keeps the string table between frames, as the sender does. */
export class Sender {
  constructor() {
    this.restart();
  }

  restart() {
    this.table = new Map([["", 0]]);
    this.fresh = [""];
    this.seq = -1;
  }

  word(text) {
    let at = this.table.get(text);
    if (at === undefined) {
      at = this.table.size;
      this.table.set(text, at);
      this.fresh.push(text);
    }
    return at;
  }

  /** `nodes` and `edges` in the frozen form; `more` is put into the header. */
  frame(nodes, edges, more = {}) {
    const rows = new Int32Array(nodes.length * 17);
    const numbers = new Float64Array(nodes.length * 2);
    nodes.forEach((node, n) => {
      rows.set(this.row(node), n * 17);
      numbers[2 * n] = node.bytes;
      numbers[2 * n + 1] = node.grad_norm ?? Number.NaN;
    });
    const links = new Int32Array(edges.length * 6);
    const norms = new Float32Array(edges.length);
    edges.forEach((edge, n) => {
      links.set([edge.source, edge.target, edge.slot, edge.output, this.word(edge.cut), 0], n * 6);
      norms[n] = edge.grad_norm ?? Number.NaN;
    });
    const message = {
      t: "frame",
      v: 2,
      seq: this.seq + 1,
      base: this.seq,
      strings: this.fresh,
      removed: [],
      ...more,
    };
    this.seq += 1;
    this.fresh = [];
    const buffers = [rows, numbers, links, norms].map((part) => new DataView(part.buffer));
    return { message, buffers };
  }

  row(node) {
    return [
      node.id,
      KINDS.indexOf(node.kind),
      this.word(node.op || node.cut),
      this.word(node.label),
      this.word(node.shape.length ? node.shape.join("×") : "()"),
      this.word(node.dtype),
      this.word(node.device),
      node.version,
      node.place?.cell ?? -1,
      node.place?.line ?? -1,
      this.word(node.place?.code ?? ""),
      this.word(node.module),
      flagsOf(node),
      node.saved.length,
      node.saved.filter((one) => one.state !== "freed").length,
      node.hooks.length,
      node.creator ?? -1,
    ];
  }
}

function flagsOf(node) {
  const bits = [
    node.requires_grad,
    node.is_leaf,
    node.retains_grad,
    node.root,
    node.alive,
    node.freed,
    node.grad_norm !== null,
    node.findings.length > 0,
    node.grad_norm !== null && !Number.isFinite(node.grad_norm),
    node.cut !== "",
  ];
  return bits.reduce((flags, bit, n) => flags | (bit ? 1 << n : 0), 0);
}
