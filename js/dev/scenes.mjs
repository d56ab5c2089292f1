// Small made-up graphs in the frozen form, for the gallery, the bench and the tests.

const sizeOf = (shape) => 4 * shape.reduce((product, size) => product * size, 1);

/** Builds a bundle step by step; ids rise with creation. */
export class Sketch {
  constructor(cell = 7) {
    this.cell = cell;
    this.nodes = [];
    this.edges = [];
    /** @type {Record<number, any>} */
    this.details = {};
    this.findings = [];
    this.cells = [];
    this.state = "idle";
  }

  node(kind, fields = {}) {
    const id = this.nodes.length + 1;
    const shape = fields.shape ?? [];
    const operation = kind === "operation";
    const tracked = kind !== "untracked";
    this.nodes.push({
      id,
      kind,
      op: "",
      label: "",
      dtype: "float32",
      device: "cpu",
      bytes: sizeOf(shape),
      requires_grad: tracked,
      is_leaf: !operation,
      retains_grad: false,
      version: 0,
      place: { cell: this.cell, line: fields.line ?? 1, code: fields.code ?? "" },
      calls: [],
      module: "",
      formula: {},
      saved: [],
      hooks: [],
      creator: null,
      root: false,
      alive: true,
      freed: false,
      grad_norm: null,
      cut: "",
      findings: [],
      ...fields,
      shape,
    });
    return id;
  }

  parameter(label, shape, fields = {}) {
    return this.node("parameter", { label, shape, ...fields });
  }

  leaf(label, shape, fields = {}) {
    return this.node("leaf", { label, shape, ...fields });
  }

  input(label, shape, fields = {}) {
    return this.node("untracked", { label, shape, ...fields });
  }

  op(name, inputs, shape = [], fields = {}) {
    const id = this.node("operation", { op: `${name}Backward0`, shape, ...fields });
    inputs.forEach((source, slot) => {
      this.edges.push({ source, target: id, slot, output: 0, grad_norm: null, cut: "" });
    });
    return id;
  }

  at(id) {
    return this.nodes[id - 1];
  }

  saved(id, ...all) {
    this.at(id).saved = all.map(([name, shape, state = "alive", label = "", now = 0]) => ({
      name,
      shape,
      dtype: "float32",
      bytes: sizeOf(shape),
      version_saved: 0,
      version_now: now,
      state,
      label,
    }));
  }

  /** Gradients over all edges, falling off with distance from the newest node. */
  backward(start = 1, fall = 0.86) {
    const norm = new Map([[this.nodes.length, start]]);
    for (const edge of [...this.edges].reverse()) {
      const above = norm.get(edge.target);
      const source = this.at(edge.source);
      if (above === undefined || !source.requires_grad) continue;
      edge.grad_norm = above * fall;
      norm.set(edge.source, (norm.get(edge.source) ?? 0) + above * fall);
      if (source.is_leaf) source.grad_norm = norm.get(edge.source);
    }
    return this;
  }

  bundle(language = "en", extra = {}) {
    const total = this.nodes.length;
    return {
      schema: 1,
      language,
      nodes: this.nodes,
      edges: this.edges,
      details: this.details,
      findings: this.findings,
      status: {
        state: this.state,
        cell: this.cell,
        shown: total,
        total,
        folded: 0,
        note: "",
        cells: this.cells,
        queued: false,
        overhead: { ms: 12, bytes: 48_000 },
        ...extra,
      },
    };
  }
}

const wave = (rows, columns, scale) =>
  Array.from({ length: rows }, (_, y) =>
    Array.from({ length: columns }, (_, x) =>
      (x * 7 + y * 3) % 5 === 0 ? 0 : scale * Math.sin(x * 1.7 + y * 2.3) * Math.cos(y * 0.9 - x),
    ),
  );

/** A two-layer network with a leak, gradients, a hook, a freed tensor and a detached target. */
export function network() {
  const s = new Sketch(7);
  s.state = "running";
  const x = s.input("x", [64, 784], { line: 1 });
  const w1 = s.parameter("fc1.weight", [256, 784]);
  const b1 = s.parameter("fc1.bias", [256]);
  const w2 = s.parameter("fc2.weight", [10, 256]);
  const mm1 = s.op("Mm", [x, w1], [64, 256], {
    line: 3,
    formula: { en: "∂L/∂self = g · weightᵀ" },
  });
  s.saved(mm1, ["self", [64, 784]], ["mat2", [784, 256]]);
  const add = s.op("Add", [mm1, b1], [64, 256], { line: 3 });
  const h = s.op("Relu", [add], [64, 256], {
    line: 3,
    label: "h",
    code: "h = torch.relu(fc1(x))",
    retains_grad: true,
    formula: { en: "∂L/∂in = g · [in > 0]" },
    findings: ["GV101"],
    hooks: [{ kind: "tensor", name: "print_norm", place: { cell: 7, line: 5 } }],
  });
  s.saved(h, ["result", [64, 256], "alive", "h"]);
  const mm2 = s.op("Mm", [h, w2], [64, 10], { line: 4, label: "out" });
  s.saved(mm2, ["self", [64, 256], "alive", "h"], ["mat2", [256, 10], "freed"]);
  const target = s.input("target", [64], { cut: "detach", line: 4, place: { cell: 6, line: 4 } });
  const loss = s.op("NllLoss", [mm2, target], [], {
    line: 5,
    label: "loss",
    root: true,
    code: "loss = F.nll_loss(out, target)",
    calls: [{ cell: 7, line: 9, code: "loss = step(x, target)", function: "<module>" }],
  });
  s.edges.at(-1).cut = "detach";
  s.backward(0.41);
  s.at(h).grad_norm = 1.94;
  const heat = wave(16, 48, 0.31);
  const stats = {
    shape: [64, 256],
    dtype: "float32",
    minimum: -0.31,
    mean: 0.0021,
    maximum: 0.274,
    norm: 1.94,
    nan: 0,
    inf: 0,
    zero: 5571,
    values: null,
    heat,
  };
  s.details[h] = {
    id: h,
    value: { ...stats, minimum: 0, norm: 88.2 },
    grad: stats,
    grad_state: "present",
    holders: ["history[3]"],
  };
  s.details[loss] = {
    id: loss,
    value: {
      shape: [],
      dtype: "float32",
      minimum: 0.412,
      mean: 0.412,
      maximum: 0.412,
      norm: 0.412,
      nan: 0,
      inf: 0,
      zero: 0,
      values: 0.412,
      heat: null,
    },
    grad: null,
    grad_state: "none_nonleaf",
    holders: ["loss", "history[3]"],
  };
  s.findings = [
    {
      rule: "GV101",
      kind: "leak.container",
      severity: "warning",
      holders: ["history[0…3]"],
      cell: 7,
      line: 6,
      nodes: 41,
      bytes: 820_000,
      message: {
        en: "Losses kept in a list keep their graphs: `history[0…3]`",
        zh: "列表里的 loss 让计算图一直存活：`history[0…3]`",
      },
      fix: {
        en: "Write `history.append(loss.item())`; it grows by 41 nodes a step",
        zh: "改为 `history.append(loss.item())`；每步增加 41 个节点",
      },
      code: "history.append(loss)",
      node_ids: [h],
    },
    {
      rule: "GV131",
      kind: "leak.retain-grad",
      severity: "warning",
      holders: ["h"],
      cell: 7,
      line: 4,
      nodes: 1,
      bytes: 410_000,
      message: {
        en: "`h.retain_grad()` is left in: its gradient stays with every step",
        zh: "`h.retain_grad()` 没有移除：每一步都多存一份梯度",
      },
      fix: { en: "Take it out, or read it once with a hook", zh: "去掉它，或用钩子读一次" },
      code: "h.retain_grad()",
      node_ids: [h],
    },
  ];
  s.cells = Array.from({ length: 22 }, (_, n) => ({
    count: n + 1,
    bytes: {
      parameters: 814_000,
      gradients: n > 4 ? 814_000 : 0,
      saved: (n % 6) * 260_000,
      kept: n > 10 ? (n - 10) * 70_000 : 0,
    },
  }));
  return s;
}

/** Linear regression, small enough that its numbers are written out. */
export function regression() {
  const s = new Sketch(3);
  const x = s.input("x", [5, 1], { line: 1 });
  const w = s.leaf("w", [1, 1], { line: 2 });
  const b = s.leaf("b", [1], { line: 3 });
  const y = s.input("y", [5, 1], { line: 1 });
  const mm = s.op("Mm", [x, w], [5, 1], { line: 4 });
  s.saved(mm, ["self", [5, 1], "freed", "x"], ["mat2", [1, 1], "freed", "w"]);
  const out = s.op("Add", [mm, b], [5, 1], { line: 4, label: "pred" });
  const diff = s.op("Sub", [out, y], [5, 1], { line: 5 });
  const square = s.op("Pow", [diff], [5, 1], { line: 5 });
  s.saved(square, ["self", [5, 1], "freed"]);
  const loss = s.op("Mean", [square], [], { line: 5, label: "loss", root: true });
  for (const id of [mm, out, diff, square, loss]) s.at(id).freed = true;
  s.backward(1, 0.7);
  const value = (values, shape) => ({
    shape,
    dtype: "float32",
    minimum: -1.2,
    mean: 0.3,
    maximum: 2.4,
    norm: 3.1,
    nan: 0,
    inf: 0,
    zero: 0,
    values,
    heat: null,
  });
  s.details[w] = {
    id: w,
    value: value([[1.52]], [1, 1]),
    grad: value([[-0.731]], [1, 1]),
    grad_state: "present",
    holders: ["w"],
  };
  s.details[out] = {
    id: out,
    value: value([[0.2], [-1.2], [2.4], [0.031], [1.5]], [5, 1]),
    grad: null,
    grad_state: "none_nonleaf",
    holders: ["pred"],
  };
  s.details[loss] = {
    id: loss,
    value: value(1.8342, []),
    grad: null,
    grad_state: "none_nonleaf",
    holders: ["loss"],
  };
  s.cells = [{ count: 3, bytes: { parameters: 8, gradients: 8, saved: 0, kept: 0 } }];
  return s;
}

/** `x = x * 1.01 + 0.1`, so many operations. */
export function chain(operations) {
  const s = new Sketch(4);
  let x = s.leaf("x", [8]);
  for (let n = 0; n < operations; n++) {
    x = s.op(n % 2 ? "Add" : "Mul", [x], [8], { line: 3, code: "x = x * 1.01 + 0.1" });
  }
  Object.assign(s.at(x), { root: true, label: "x" });
  return s;
}

/** A recurrent cell unrolled: four gates a step, every parameter used in every step. */
export function recurrent(steps) {
  const s = new Sketch(9);
  const gates = ["i", "f", "g", "o"];
  const parameters = gates.map((gate) => [
    s.parameter(`cell.weight_i${gate}`, [32, 16]),
    s.parameter(`cell.weight_h${gate}`, [32, 32]),
    s.parameter(`cell.bias_${gate}`, [32]),
  ]);
  let h = s.input("h0", [8, 32]);
  let c = s.input("c0", [8, 32]);
  for (let t = 0; t < steps; t++) {
    const x = s.input(`xs[${t}]`, [8, 16]);
    const [i, f, g, o] = parameters.map(([wi, wh, b], n) => {
      const a = s.op("Mm", [x, wi], [8, 32], { line: 4 + n });
      const r = s.op("Mm", [h, wh], [8, 32], { line: 4 + n });
      const sum = s.op("Add", [s.op("Add", [a, r], [8, 32], { line: 4 + n }), b], [8, 32], {
        line: 4 + n,
      });
      return s.op(n === 2 ? "Tanh" : "Sigmoid", [sum], [8, 32], { line: 4 + n });
    });
    const kept = s.op("Mul", [f, c], [8, 32], { line: 8 });
    const fresh = s.op("Mul", [i, g], [8, 32], { line: 8 });
    c = s.op("Add", [kept, fresh], [8, 32], { line: 8, label: t === steps - 1 ? "c" : "" });
    h = s.op("Mul", [o, s.op("Tanh", [c], [8, 32], { line: 9 })], [8, 32], { line: 9 });
  }
  const loss = s.op("Mean", [s.op("Pow", [h], [8, 32], { line: 10 })], [], {
    line: 10,
    label: "loss",
    root: true,
  });
  return s.at(loss) && s.backward(1, 0.5);
}

/** Residual blocks: every third operation is also added further down. */
export function residual(blocks) {
  const s = new Sketch(5);
  let x = s.input("x", [8, 64, 32, 32]);
  for (let n = 0; n < blocks; n++) {
    const module = `layer.${n}`;
    let y = x;
    for (let k = 1; k <= 3; k++) {
      y = s.op(
        "Convolution",
        [y, s.parameter(`${module}.conv${k}.weight`, [64, 64, 3, 3])],
        [8, 64, 32, 32],
        { line: 10 + n, module: `${module}.conv${k}` },
      );
      y = s.op("NativeBatchNorm", [y], [8, 64, 32, 32], {
        line: 10 + n,
        module: `${module}.bn${k}`,
      });
      if (k < 3) y = s.op("Relu", [y], [8, 64, 32, 32], { line: 10 + n, module });
    }
    x = s.op(
      "Relu",
      [s.op("Add", [y, x], [8, 64, 32, 32], { line: 10 + n, module })],
      [8, 64, 32, 32],
      { line: 10 + n, module },
    );
  }
  s.at(x).root = true;
  return s;
}

/** Attention heads in every layer, side by side. */
export function transformer(layers, heads) {
  const s = new Sketch(6);
  let x = s.input("tokens", [2, 128, 256]);
  for (let n = 0; n < layers; n++) {
    const parts = [];
    for (let k = 0; k < heads; k++) {
      const [q, key, v] = ["q", "k", "v"].map((name) =>
        s.op("Mm", [x, s.parameter(`blocks.${n}.heads.${k}.${name}`, [256, 32])], [2, 128, 32], {
          line: 20 + 3 * k,
        }),
      );
      const scores = s.op(
        "Softmax",
        [s.op("Bmm", [q, key], [2, 128, 128], { line: 21 + 3 * k })],
        [2, 128, 128],
        { line: 21 + 3 * k },
      );
      parts.push(s.op("Bmm", [scores, v], [2, 128, 32], { line: 22 + 3 * k }));
    }
    const joined = s.op("Cat", parts, [2, 128, 256], { line: 60 });
    const added = s.op("Add", [x, joined], [2, 128, 256], { line: 61 });
    const wide = s.op(
      "Gelu",
      [
        s.op("Mm", [added, s.parameter(`blocks.${n}.up`, [256, 1024])], [2, 128, 1024], {
          line: 62,
        }),
      ],
      [2, 128, 1024],
      { line: 62 },
    );
    x = s.op(
      "Add",
      [
        added,
        s.op("Mm", [wide, s.parameter(`blocks.${n}.down`, [1024, 256])], [2, 128, 256], {
          line: 63,
        }),
      ],
      [2, 128, 256],
      { line: 63 },
    );
  }
  s.at(x).root = true;
  return s;
}

/** Names that try to be markup, to turn the line around or to be endless. */
export function hostile() {
  const s = new Sketch(2);
  const names = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '" onload="alert(1)',
    "\u202Etxt.exe",
    "a".repeat(300),
    "行向量.权重",
    "]]>&lt;",
    ["$", "{alert(1)}"].join(""),
  ];
  const all = names.map((name) => s.leaf(name, [3]));
  let sum = s.op("Add", all.slice(0, 2), [3], { code: "<b>bold</b>" });
  for (const one of all.slice(2))
    sum = s.op("<svg/onload=alert(1)>", [sum, one], [3], { code: names[0] });
  Object.assign(s.at(sum), { root: true, label: names[0] });
  s.findings = [
    {
      rule: "GV<b>1</b>",
      kind: "leak.container",
      severity: "warning",
      holders: [names[0]],
      cell: 2,
      line: 1,
      nodes: 3,
      bytes: 12,
      message: { en: `Kept by \`${names[0]}\`` },
      fix: { en: `Write \`${names[1]}\`` },
      code: "",
      node_ids: [sum],
    },
  ];
  return s;
}

/** Every mark at once: NaN, hooks, many saved tensors, a cut, a freed and a vanished node, separate graphs. */
export function marks() {
  const s = new Sketch(12);
  s.state = "failed";
  const a = s.leaf("a", [4, 4]);
  const b = s.leaf("b", [4, 4]);
  const c = s.op("Mul", [a, b], [4, 4], { label: "product", freed: true });
  s.saved(c, ["self", [4, 4], "freed"], ["other", [4, 4], "freed"]);
  const d = s.op("Log", [c], [4, 4], { failed: true });
  s.saved(d, ["self", [4, 4], "alive", "product", 1]);
  const e = s.op("Stack", [d, d, d], [3, 4, 4], {
    hooks: Array.from({ length: 3 }, (_, n) => ({ kind: "post", name: `hook_${n}`, place: null })),
  });
  s.saved(
    e,
    ...Array.from({ length: 9 }, (_, n) => [`tensors[${n}]`, [4, 4], n < 4 ? "alive" : "freed"]),
  );
  s.op("Sum", [e], [], { label: "total", root: true });
  s.backward(Number.POSITIVE_INFINITY);
  const far = s.leaf("far", [2]);
  const old = s.op("Exp", [far], [2], { alive: false, freed: true });
  const cut = s.input("plain", [2], { cut: "detach", line: 9 });
  s.edges.push({ source: old, target: cut, slot: 0, output: 0, grad_norm: null, cut: "detach" });
  for (let n = 0; n < 7; n++) s.parameter(`spare.${n}`, [16]);
  return s;
}
