// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { withLeaks, withRetained } from "../src/model/memory";
import { lineChart } from "../src/panels/chart";
import { BODIES, chartsOf, noLink, Panel } from "../src/widgets/panel";

const HOSTILE = "<img src=x onerror=alert(1)>";
const stats = {
  shape: [2],
  dtype: "float32",
  minimum: 1,
  mean: 1.5,
  maximum: 2,
  norm: 2.2,
  nan: 0,
  inf: 0,
  zero: 0,
  values: [1, 2],
  heat: null,
};
const layer = {
  grad: 0.5,
  weight: 2,
  update: 0.01,
  dead: 0.25,
  nan: 0,
  bins: [0, 0, 1, 3, 0, 0, 0, 0, 0, 0],
};

/** What each kind of panel may be given. */
const DATA: Record<string, Record<string, unknown>> = {
  cockpit: {
    series: {
      [HOSTILE]: [
        [1, 3],
        [2, "NaN"],
        [3, 1],
      ],
    },
    events: [{ at: 2, text: HOSTILE }],
    runs: true,
    error: "",
  },
  findings: {
    findings: [
      {
        rule: "GV101",
        kind: "leak.list",
        severity: "warning",
        holders: [HOSTILE],
        bytes: 2000,
        nodes: 3,
        message: { en: `Held by ${HOSTILE}`, zh: "持有" },
        fix: { en: "`x`", zh: "`x`" },
        node_ids: [],
      },
    ],
    history: [{ rule: "GV102", message: { en: "gone", zh: "没了" }, came: 2, went: 4, bytes: 0 }],
  },
  flow: {
    steps: [1, 2, 3].map((number) => ({
      number,
      total: number,
      layers: { [HOSTILE]: layer, bias: { ...layer, nan: number === 2 ? 1 : 0 } },
    })),
  },
  hooks: {
    hooks: [
      { number: 0, owner: HOSTILE, kind: "forward", name: HOSTILE, place: { cell: 2, line: 3 } },
    ],
  },
  ledger: {
    cells: [{ count: 1, bytes: { parameters: 100, gradients: 100, saved: 50, kept: 0 } }],
    measured: {
      moments: [0, 1, 2].map((at) => ({
        at,
        parameters: 10,
        gradients: at,
        optimizer: 0,
        activations: 5 * at,
      })),
      marks: [
        { at: 0, what: "forward" },
        { at: 2, what: "backward" },
      ],
      peak: { at: 2, parameters: 10, gradients: 2, optimizer: 0, activations: 10 },
      alive: [{ name: HOSTILE, bytes: 10 }],
      saving: [{ name: "block", bytes: 4 }],
    },
  },
  ranks: {
    ranks: [0, 1].map((rank) => ({
      rank,
      size: 2,
      computed: 0.002 + rank * 0.001,
      hidden: 0.25,
      nodes: 4,
      buckets: [
        {
          number: 0,
          parameters: [HOSTILE],
          bytes: 80,
          arrived: [0.001, null],
          started: 0.001,
          ended: 0.0035,
        },
      ],
    })),
  },
  storage: {
    storages: [
      {
        number: 0,
        bytes: 16,
        device: "cpu",
        version: 1,
        views: [
          { name: HOSTILE, shape: [2, 2], dtype: "float32", strides: [2, 1], offset: 0, bytes: 16 },
          { name: "v", shape: [2], dtype: "float32", strides: [1], offset: 2, bytes: 8 },
        ],
      },
    ],
  },
  tensor: {
    label: HOSTILE,
    shape: [3, 1, 2],
    dtype: "float32",
    device: "cpu",
    strides: [2, 2, 1],
    offset: 0,
    storage_bytes: 24,
    index: [1],
    code: "torch.tensor([1, 2])",
    value: { stats, part: stats, histogram: { low: 1, high: 2, counts: [1, 0, 1] }, bad: [[0, 1]] },
    grad: null,
  },
  tower: {
    points: [-1, 0, 1],
    floors: [
      { order: 0, values: [1, 0, 1], nodes: 1, operations: { PowBackward0: 1 } },
      { order: 1, values: [-2, null, 2], nodes: 2, operations: {} },
    ],
    note: "constant",
  },
};

afterEach(() => document.body.replaceChildren());

function show(kind: string, link = noLink()) {
  const host = document.createElement("div");
  document.body.append(host);
  const settings = { language: "en", theme: "light", layout: "inline", height: 300, script: "x" };
  const panel = new Panel(host, kind, settings, link);
  panel.take(DATA[kind]);
  const get = (name: string) =>
    panel.element.querySelector<HTMLElement>(`[data-testid=gv-${name}]`)!;
  return { panel, get, host, words: () => panel.element.textContent ?? "" };
}

test("every kind of panel has a sample here", () => {
  expect(Object.keys(DATA).sort()).toEqual(Object.keys(BODIES).sort());
});

test.each(Object.keys(DATA))(
  "%s draws, speaks both languages and has a table for a twin",
  (kind) => {
    const { panel, get, words } = show(kind);
    const english = words();
    expect(english.length).toBeGreaterThan(40);
    expect(panel.element.querySelector("img")).toBeNull();
    get("table").click();
    const table = panel.element.querySelector("table")!;
    expect(table.querySelectorAll("th[scope=col]").length).toBeGreaterThan(1);
    expect(table.querySelectorAll("tbody tr").length).toBeGreaterThan(0);
    expect(panel.element.querySelector("img")).toBeNull();
    get("table").click();
    get("language").click();
    expect(words()).not.toBe(english);
    expect(words()).toMatch(/[一-鿿]/);
    expect(words()).not.toMatch(/\{\w+\}|undefined|\[object/);
    panel.close();
  },
);

test.each(Object.keys(DATA))("%s takes anything at all without a fault", (kind) => {
  const { panel } = show(kind);
  const odd: unknown[] = [
    null,
    3,
    [],
    {},
    { steps: 1, hooks: "x", storages: [1], floors: {}, findings: 4, value: 3 },
  ];
  for (const data of odd) panel.take(data);
  panel.close();
});

test("charts are saved as one picture whose colours are colours", () => {
  const { panel } = show("tower");
  const text = chartsOf(panel.element);
  const picture = new DOMParser().parseFromString(text, "image/svg+xml");
  expect(picture.querySelector("parsererror")).toBeNull();
  expect(text).not.toContain("var(");
  panel.close();
});

test("a page may ask for steps and for a hook to go, where there is a Python", () => {
  const asked: unknown[] = [];
  const link = { ...noLink(), ask: (content: unknown) => asked.push(content) };
  show("cockpit", link).get("run-10").click();
  show("hooks", link).get("remove").click();
  expect(asked).toEqual([{ steps: 10 }, { remove: 0 }]);
  expect(show("hooks").get("remove")).toBeNull();
});

test("a choice is a trait", () => {
  const link = noLink();
  const { get, panel } = show("tensor", link);
  get("log").click();
  expect(link.get("log_scale")).toBe(true);
  expect(get("log").getAttribute("aria-pressed")).toBe("true");
  panel.close();
});

test("a bucket of a rank is split where backward ended, and choosing it names its parameter", () => {
  const link = noLink();
  const { panel, get, words } = show("ranks", link);
  const bars = panel.element
    .querySelectorAll("[data-testid=gv-bucket]")[0]
    .querySelectorAll("rect");
  expect([...bars].map((bar) => bar.getAttribute("fill"))).toEqual([
    "var(--gv-leaf-line)",
    "var(--gv-saved)",
    "var(--gv-bg)",
  ]);
  expect(words()).toContain("Rank 1 came last: 1 ms after the first.");
  get("bucket").dispatchEvent(new MouseEvent("click"));
  expect(link.get("selected")).toBe(HOSTILE);
  panel.close();
});

test("bytes of every kind are stacked once", () => {
  const given = { parameters: 8, gradients: 6, retained: 2, saved: 9, kept_buffers: 4, others: 3 };
  const sum = (parts: Record<string, number>) => Object.values(parts).reduce((a, b) => a + b);
  expect(withRetained(given)).toMatchObject({ gradients: 4, retained: 2, saved: 5 });
  expect(sum(withRetained(given))).toBe(26);
  for (const kept of [0, 5, 11, 99]) {
    const parts = withLeaks({ ...given, kept });
    expect([sum(parts), Math.min(...Object.values(parts))]).toEqual([26, 0]);
    expect(parts.kept).toBe(Math.min(kept, 12));
  }
});

test("a line is broken where a value is not finite, and a point alone is a dot", () => {
  const paths = (points: [number, number | null][]) => {
    const options = { name: "n", width: 400 };
    return lineChart([{ name: "c", colour: "red", points }], options).querySelectorAll(
      "path, circle",
    );
  };
  const [path] = paths([
    [0, 1],
    [1, Number.NaN],
    [2, 3],
    [3, 4],
  ]);
  expect(path.getAttribute("d")!.match(/M/g)).toHaveLength(2);
  expect(paths([[0, 1]])[0].tagName).toBe("circle");
  expect(paths([]).length).toBe(1);
});
