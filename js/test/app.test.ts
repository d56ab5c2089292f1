// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Sender } from "../dev/frames.mjs";
import { chain, hostile, network, regression, Sketch } from "../dev/scenes.mjs";
import type { Attention, Picture } from "../src/draw/picture";
import { toSvg } from "../src/draw/save";
import { SvgPen } from "../src/draw/svg-pen";
import { LIGHT } from "../src/draw/tokens";
import { readBundle } from "../src/protocol/bundle";
import { App } from "../src/widgets/app";

const settings = { language: "en", theme: "light", layout: "inline", height: 420 };

let sent: Record<string, unknown>[] = [];
let host: HTMLElement;
let app: App | null = null;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  sent = [];
  host = document.createElement("div");
  document.body.append(host);
});

afterEach(() => {
  app?.close();
  app = null;
  document.body.replaceChildren();
  vi.useRealTimers();
});

const wire = {
  send: (message: Record<string, unknown>) => sent.push(message),
  now: () => performance.now(),
};

function live(): App {
  app = new App(host, settings, wire);
  app.client!.ready(app.language);
  return app;
}

function frozen(sketch: Sketch, more = {}): App {
  app = new App(host, { ...settings, ...more }, null);
  app.take(readBundle(JSON.stringify(sketch.bundle()))!.delta);
  settle();
  return app;
}

const settle = () => vi.advanceTimersByTime(1000);
const all = (selector: string) => [...host.shadowRoot!.querySelectorAll<HTMLElement>(selector)];
const one = (name: string) => all(`[data-testid="${name}"]`)[0];
const node = (id: number) =>
  all(`[data-node-id="${id}"]`).find((element) => element.tagName === "BUTTON")!;

/** What is drawn, as text. */
function picture(): string {
  const inner = app as unknown as { picture: Picture; attention: Attention };
  return toSvg(inner.picture, inner.attention, LIGHT, "");
}

function feed(view: App, sender: Sender, sketch: Sketch, more: Record<string, unknown> = {}): void {
  const { message, buffers } = sender.frame(sketch.nodes, sketch.edges, {
    status: sketch.bundle().status,
    ...more,
  });
  view.client!.receive(message, buffers);
  settle();
}

test("an empty view says what to do", () => {
  live();
  settle();
  expect(sent).toEqual([{ t: "ready", seq: -1, language: "en" }]);
  expect(one("gv-empty").textContent).toContain("No graph yet.");
  expect(one("gv-leaks")).toBeUndefined();
});

test("a frame becomes counters, nodes and findings", () => {
  const view = live();
  const s = network();
  feed(view, new Sender(), s, { findings: s.findings });
  expect(one("gv-empty").hidden).toBe(true);
  expect(one("gv-state").textContent).toBe("In [7] running");
  expect(one("gv-count").textContent).toBe("10 nodes");
  expect(one("gv-leaks").textContent).toBe("2 leaks · 1.2 MB");
  expect(all("button[data-node-id]")).toHaveLength(10);
  expect(node(7).dataset).toMatchObject({ kind: "operation", label: "h", leak: "true" });
  expect(node(2).dataset).toMatchObject({ kind: "parameter", leak: "false" });
  expect(Number(node(2).dataset.grad)).toBeGreaterThan(0);
  expect(all("[data-testid=gv-finding]").map((row) => row.dataset.rule)).toEqual([
    "GV101",
    "GV131",
  ]);
});

test("a flag goes when the leak goes", () => {
  const view = live();
  const s = network();
  const sender = new Sender();
  feed(view, sender, s, { findings: s.findings });
  const { message, buffers } = sender.frame([], [], { findings: [] });
  view.client!.receive(message, buffers);
  settle();
  expect(one("gv-leaks")).toBeUndefined();
  expect(all("[data-testid=gv-finding]")).toEqual([]);
  expect(node(7).dataset.leak).toBe("false");
});

test("a selected node tells its row at once, waits aloud, and then tells the rest", () => {
  const view = live();
  const s = network();
  feed(view, new Sender(), s);
  node(7).click();
  const inspector = one("gv-inspector");
  expect(sent.at(-1)).toEqual({ t: "inspect", id: 7 });
  expect(inspector.dataset.nodeId).toBe("7");
  expect(inspector.textContent).toContain("(64, 256) float32");
  expect(inspector.textContent).toContain("ReluBackward0");
  expect(one("gv-queued").textContent).toBe("");
  vi.advanceTimersByTime(450);
  expect(one("gv-queued").textContent).toContain("queued until the cell ends");
  const detail = { ...s.at(7), ...s.details[7] };
  view.client!.receive({ t: "detail", id: 7, detail });
  settle();
  expect(one("gv-queued")).toBeUndefined();
  one("gv-tab-grad").click();
  expect(inspector.textContent).toContain("1.94");
  expect(one("gv-formula").textContent).toBe("∂L/∂in = g · [in > 0]");
  one("gv-tab-saved").click();
  expect(inspector.textContent).toContain("saved at version 0, now 0");
  one("gv-tab-hooks").click();
  expect(inspector.textContent).toContain("print_norm");
  one("gv-tab-alive").click();
  expect(one("gv-holder").textContent).toBe("history[3]");
  one("gv-tab-source").click();
  expect(inspector.textContent).toContain("h = torch.relu(fc1(x))");
});

test("a node is asked about again when it has changed, and not when it has not", () => {
  const view = live();
  const s = regression();
  const sender = new Sender();
  feed(view, sender, s);
  node(2).click();
  const asked = () => sent.filter((message) => message.t === "inspect").length;
  expect(asked()).toBe(1);
  feed(view, sender, s);
  expect(asked()).toBe(1);
  s.at(2).grad_norm = 5;
  feed(view, sender, s);
  expect(asked()).toBe(2);
});

test("a whole frame for another page leaves the selection and what was told", () => {
  const view = live();
  const s = network();
  const sender = new Sender();
  feed(view, sender, s);
  node(7).click();
  view.client!.receive({ t: "detail", id: 7, detail: { ...s.at(7), ...s.details[7] } });
  sender.restart();
  feed(view, sender, s);
  expect(one("gv-inspector").dataset.nodeId).toBe("7");
  expect(one("gv-queued")).toBeUndefined();
});

test("numbers are written out when few", () => {
  frozen(regression());
  node(6).click();
  expect(all(".matrix code").map((cell) => cell.textContent)).toEqual([
    "0.2",
    "−1.2",
    "2.4",
    "0.031",
    "1.5",
  ]);
  node(9).click();
  expect(all(".scalar")[0].textContent).toBe("1.83");
});

test("what is not finite is written as such", () => {
  const s = regression();
  s.details[6].value!.values = [["NaN"], ["Infinity"], [1], [null], [true]] as never;
  frozen(s);
  node(6).click();
  expect(all(".matrix code").map((cell) => cell.textContent)).toEqual([
    "NaN",
    "∞",
    "1",
    "NaN",
    "1",
  ]);
});

test("no gradient: the reason is said", () => {
  frozen(regression());
  node(6).click();
  one("gv-tab-grad").click();
  expect(one("gv-inspector").textContent).toContain("this is not a leaf");
});

test("hostile names are text", () => {
  frozen(hostile());
  const root = host.shadowRoot!;
  expect(root.querySelectorAll("img, script, b b, svg[onload]")).toHaveLength(0);
  expect(node(1).dataset.label).toBe("<img src=x onerror=alert(1)>");
  node(15).click();
  expect(one("gv-inspector").textContent).toContain("<img src=x onerror=alert(1)>");
  expect(root.querySelectorAll("img")).toHaveLength(0);
});

test("Chinese is one click away, and Python hears of it", () => {
  const view = live();
  feed(view, new Sender(), network());
  one("gv-language").click();
  settle();
  expect(one("gv-count").textContent).toBe("10 个节点");
  expect(one("gv-state").textContent).toBe("In [7] 运行中");
  expect(sent.at(-1)).toEqual({ t: "language", language: "zh" });
});

test("a long loop is folded, and the count opens and closes what repeats", () => {
  frozen(chain(3000));
  expect(one("gv-count").textContent).toBe("1 of 3,001 nodes · 3,000 folded");
  app!.close();
  host.remove();
  host = document.createElement("div");
  document.body.append(host);
  frozen(chain(20));
  one("gv-count").click();
  settle();
  expect(one("gv-count").textContent).toBe("1 of 21 nodes · 20 folded");
  one("gv-count").click();
  settle();
  expect(one("gv-count").textContent).toBe("21 nodes");
});

test("broken frames lead to a question and in the end to a sentence, never to silence", () => {
  const view = live();
  for (let n = 0; n < 6; n++) {
    view.client!.receive({ t: "frame", v: 2, seq: 5, base: 4, strings: [] }, []);
    vi.advanceTimersByTime(2500);
  }
  expect(sent.filter((message) => message.t === "resync")).toHaveLength(3);
  expect(one("gv-alert").textContent).toContain("cannot be read");
  feed(view, new Sender(), network());
  expect(one("gv-alert").hidden).toBe(true);
  expect(one("gv-count").dataset.shown).toBe("10");
});

test("a vanished node takes its selection along", () => {
  const view = live();
  const sender = new Sender();
  feed(view, sender, network());
  node(7).click();
  const { message, buffers } = sender.frame([], [], { removed: [7] });
  view.client!.receive(message, buffers);
  settle();
  expect(one("gv-inspector").dataset.nodeId).toBeUndefined();
});

test("what Python left out is said", () => {
  const view = live();
  const s = network();
  feed(view, new Sender(), s, {
    status: { ...s.bundle().status, total: 100_000, note: "notebook.cut_short" },
  });
  expect(one("gv-count").textContent).toBe("10 of 100,000 nodes · 99,990 folded");
  expect(one("gv-note").textContent).toContain("Only a part");
});

test("finding: typing lists, Enter selects", () => {
  frozen(network());
  one("gv-find").click();
  const input = all(".find input")[0] as HTMLInputElement;
  input.value = "fc2";
  input.dispatchEvent(new Event("input"));
  expect(all(".results button")).toHaveLength(1);
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  expect(one("gv-inspector").dataset.nodeId).toBe("4");
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  expect(all(".find")[0].hidden).toBe(true);
});

test("keys walk along the edges and Esc lets go", () => {
  frozen(network());
  node(10).click();
  const graph = all(".graph")[0];
  const press = (key: string) =>
    graph.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const selected = () => one("gv-inspector").dataset.nodeId;
  press("ArrowUp");
  expect(selected()).toBe("8");
  press("ArrowUp");
  expect(selected()).toBe("7");
  press("Escape");
  expect(selected()).toBeUndefined();
});

test("every key is on the sheet, and does there what it does in the graph", () => {
  frozen(network());
  const graph = all(".graph")[0];
  const press = (key: string) =>
    graph.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("?");
  expect(one("gv-keys").hidden).toBe(false);
  const entry = (words: string) =>
    all("[data-testid=gv-keys] button").find((one) => one.textContent!.endsWith(words))!;
  const squares = () => picture().split(`fill="${LIGHT.saved}"`).length - 1;
  const before = squares();
  expect(before).toBeGreaterThan(0);
  entry("saved tensors").click();
  expect(entry("saved tensors").getAttribute("aria-pressed")).toBe("false");
  expect(squares()).toBe(0);
  press("s");
  expect(squares()).toBe(before);
  const dashes = () => picture().split(`stroke="${LIGHT.grad}"`).length - 1;
  expect(dashes()).toBeGreaterThan(0);
  press("g");
  expect(dashes()).toBe(0);
  press("m");
  expect(one("gv-memory").hidden).toBe(true);
  press("Escape");
  expect(one("gv-keys").hidden).toBe(true);
  one("gv-help").click();
  expect(one("gv-keys").hidden).toBe(false);
  node(7).click();
  press("w");
  expect(one("gv-tab-alive").getAttribute("aria-selected")).toBe("true");
});

test("a selected group is opened and folded by a key", () => {
  frozen(chain(20));
  node(20).click();
  const press = () =>
    all(".graph")[0].dispatchEvent(new KeyboardEvent("keydown", { key: "o", bubbles: true }));
  press();
  settle();
  expect(one("gv-count").textContent).toContain("10 folded");
  press();
  settle();
  expect(one("gv-count").textContent).toBe("21 nodes");
});

test("the memory strip has a bar for each cell", () => {
  frozen(network());
  expect(all("[data-testid=gv-memory] .bar")).toHaveLength(22);
});

test("a frozen page asks no one and says what it lacks", () => {
  frozen(network());
  node(5).click();
  expect(sent).toEqual([]);
  expect(one("gv-inspector").textContent).toContain("The value is no longer held.");
});

test("a gradient that is not a number is told, and so is such a value", () => {
  const s = regression();
  s.at(2).grad_norm = Number.NaN;
  s.details[9].value!.values = "NaN" as never;
  const view = live();
  feed(view, new Sender(), s, { details: { 9: s.details[9] } });
  expect(picture()).toContain(">= NaN<");
  expect(picture()).toContain(
    `fill="${LIGHT.error}" text-anchor="middle" xml:space="preserve">1×1 · grad NaN<`,
  );
  expect(picture()).not.toContain("no grad");
});

test("a leaf that is drawn twice tells its gradient once", () => {
  const s = new Sketch(1);
  const a = s.leaf("a", [], { grad_norm: 7 });
  const square = s.op("Mul", [a, a]);
  const triple = s.op("Mul", [a], [], { line: 2 });
  s.op("Add", [square, triple], [], { label: "b", root: true, line: 3 });
  frozen(s);
  const svg = picture();
  expect(svg.split(">a</text>")).toHaveLength(3);
  expect(svg.split("‖∂‖ 7")).toHaveLength(2);
  expect(svg.split("same leaf")).toHaveLength(2);
});

test("the export menu closes on Escape, outside, and when finding begins", () => {
  frozen(network());
  const open = () => all(".menu").length;
  one("gv-export").click();
  expect(open()).toBe(1);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  expect(open()).toBe(0);
  one("gv-export").click();
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  expect(open()).toBe(0);
  one("gv-export").click();
  all(".menu")[0].dispatchEvent(new Event("pointerdown", { bubbles: true, composed: true }));
  expect(open()).toBe(1);
  one("gv-find").click();
  expect(open()).toBe(0);
  one("gv-export").click();
  one("gv-export").click();
  expect(open()).toBe(0);
});

test("a derivative is checked and another value is tried, by Python alone", () => {
  const sketch = regression();
  const view = live();
  view.take(readBundle(JSON.stringify(sketch.bundle()))!.delta);
  settle();
  const leaf = sketch.nodes.find((row: { label: string }) => row.label === "w").id;
  node(leaf).click();
  const input = one("gv-what-if") as HTMLInputElement;
  expect(input.value).toBe("[[1.52]]");
  input.value = "[[2]]";
  input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  expect(sent.at(-1)).toEqual({ t: "try", what: "whatif", id: leaf, value: [[2]] });
  const stats = { shape: [], dtype: "float64", values: 1.5 };
  const rows = [{ id: leaf, what: "grad", before: stats, after: { ...stats, values: -2 } }];
  view.client!.receive({ t: "tried", what: "whatif", id: leaf, rows });
  expect(one("gv-tried").textContent).toContain("w.grad 1.5 → −2");
  expect((one("gv-what-if") as HTMLInputElement).value).toBe("[[2]]");
  view.client!.receive({ t: "tried", what: "whatif", id: leaf, why: "unknown", at: leaf });
  expect(one("gv-tried").textContent).toContain("A number that w took");
  const operation = sketch.nodes.find((row: { op: string }) => row.op === "PowBackward0").id;
  node(operation).click();
  one("gv-tab-grad").click();
  view.client!.receive({ t: "detail", id: operation, detail: { grad_state: "none_nonleaf" } });
  settle();
  one("gv-check").click();
  expect(sent.at(-1)).toEqual({ t: "try", what: "check", id: operation });
  const found = { t: "tried", what: "check", id: operation, own: false };
  view.client!.receive({ ...found, rows: [{ input: "self", error: 0.5, agrees: false }] });
  expect(one("gv-checked").textContent).toContain("∂self ✗ differs");
});

test("a page without Python offers nothing to try", () => {
  frozen(regression());
  const sketch = regression();
  node(sketch.nodes.find((row: { label: string }) => row.label === "w").id).click();
  expect(one("gv-what-if")).toBeUndefined();
});

test("a saved tensor leads to what made it, a hook tells what it did", () => {
  const s = new Sketch();
  const x = s.leaf("x", [2]);
  const h = s.op("Exp", [x], [2], { label: "h" });
  const y = s.op("Mul", [h, x], [2], { label: "y" });
  s.saved(h, ["result", [2]]);
  s.saved(y, ["self", [2]], ["other", [2]]);
  const hooks = [
    { kind: "tensor", name: "halve", place: null, calls: 2, before: 3, after: 1.5 },
    { kind: "forward", name: "module_hook", place: null, calls: null, before: null, after: null },
  ];
  s.at(h).saved[0].source = h;
  s.at(y).saved.forEach((one: { source: number }, n: number) => {
    one.source = [h, x][n];
  });
  s.at(y).hooks = hooks;
  frozen(s);
  const dotted = () => {
    const { picture, attention } = app as unknown as { picture: Picture; attention: Attention };
    const pen = new SvgPen();
    picture.draw(pen, picture.box, 2, attention, LIGHT);
    return pen.finish(0, 0, 1, 1, "", "").split('stroke-dasharray="1.5 3"').length - 1;
  };
  node(h).click();
  one("gv-tab-saved").click();
  settle();
  expect(all("[data-testid=gv-saved]").map((row) => row.textContent)).toEqual([
    expect.stringContaining("result = its own result"),
  ]);
  expect(dotted()).toBe(0);
  node(y).click();
  settle();
  const links = all("[data-testid=gv-saved] .link");
  expect(links.map((link) => link.textContent)).toEqual(["h", "x"]);
  expect(dotted()).toBe(2);
  one("gv-tab-hooks").click();
  const told = all("[data-testid=gv-hook]").map((row) => row.textContent);
  expect(told[0]).toContain("called 2 times · norm 3 → 1.5");
  expect(told[1]).not.toContain("called");
  links[0].click();
  expect(one("gv-inspector").dataset.nodeId).toBe(String(h));
});

test("a slider goes over the iterations of a folded loop and tells in what they differ", () => {
  const s = new Sketch();
  let y = s.leaf("x", [2]);
  for (let k = 0; k < 120; k++) {
    y = s.op("Mul", [y], [2], { line: 2 });
    y = s.op(k % 3 === 0 ? "Sin" : "Tanh", [y], [2], { line: k % 3 === 0 ? 3 : 4 });
  }
  frozen(s);
  expect(one("gv-loop").hidden).toBe(true);
  node(y - 1).click();
  settle();
  expect(one("gv-loop").hidden).toBe(false);
  expect(one("gv-differs").hidden).toBe(true);
  const slider = one("gv-iteration") as HTMLInputElement;
  const go = (at: number) => {
    slider.value = String(at);
    slider.dispatchEvent(new Event("input"));
    settle();
  };
  go(4);
  expect(one("gv-inspector").dataset.nodeId).toBe("8");
  expect(one("gv-differs").textContent).toBe(
    "Only here: SinBackward0:3. Only there: TanhBackward0:4.",
  );
  go(6);
  expect(one("gv-differs").textContent).toBe("Compared: nothing has changed.");
  const other = one("gv-other") as HTMLInputElement;
  other.value = "1";
  other.dispatchEvent(new Event("input"));
  expect(one("gv-differs").textContent).toContain("Only there: SinBackward0:3.");
  go(7);
  expect(one("gv-differs").textContent).toBe("Compared: nothing has changed.");
  [...all(".loop button")].at(-1)!.click();
  settle();
  expect(one("gv-inspector").dataset.nodeId).toBe(String(y - 1));
  expect(one("gv-differs").hidden).toBe(true);
});

test("a gradient tells which lines added to it", () => {
  const s = new Sketch();
  const w = s.leaf("w", [2], { grad_norm: 2 });
  const place = { cell: 3, line: 4, code: "loss.backward()" };
  const grad = { shape: [2], dtype: "float32", norm: 2, nan: 0, inf: 0, zero: 0, values: [0, 2] };
  s.details[w] = { grad: grad as never, added: [{ count: 3, place }] } as never;
  frozen(s);
  node(w).click();
  one("gv-tab-grad").click();
  expect(one("gv-inspector").textContent).toMatch(/Added since.*×3 In \[3\] line 4loss\.backward/);
});

test("a change in place is marked, and its lines are told", () => {
  const sketch = regression();
  const label = sketch.nodes.find((row: { label: string }) => row.label === "pred");
  label.inplace = true;
  label.version = 1;
  const change = { version: 1, place: { cell: 3, line: 4, code: "pred.add_(b)" } };
  sketch.details[label.id].changes = [change];
  frozen(sketch);
  expect(picture()).toContain("v1 · in place");
  node(label.id).click();
  one("gv-tab-source").click();
  expect(one("gv-inspector").textContent).toMatch(/Changed in place.*v1 In \[3\] line 4pred\.add_/);
});

test("the graph of an earlier cell comes back, with what is another now, and goes again", () => {
  const sender = new Sender();
  const view = live();
  const cells = [1, 2].map((count) => ({ count, bytes: { saved: 8 * count } }));
  const after = (cell: number, op: string, more = {}) => {
    const sketch = new Sketch(cell);
    sketch.op(op, [sketch.leaf("x", [2])], [2], { label: `y${cell}` });
    const status = { ...sketch.bundle().status, cells: cells.slice(0, cell) };
    const { message, buffers } = sender.frame(sketch.nodes, sketch.edges, { status, ...more });
    view.client!.receive(message, buffers);
    settle();
  };
  after(1, "Exp");
  expect(all(".bars button")).toHaveLength(1);
  after(2, "Sin");
  expect(picture()).toContain("y2");
  one("gv-moment-1").click();
  settle();
  expect(picture()).toContain("y1");
  expect(picture()).not.toContain("y2");
  expect(one("gv-note").textContent).toContain("after In [1]");
  expect(all(".bars .cell")).toHaveLength(2);
  one("gv-compare").click();
  one("gv-now").click();
  settle();
  expect(picture()).toContain("y2");
  expect(one("gv-note").textContent).toMatch(/1 new.*1 gone/);
  const key = (name: string) => {
    const press = new KeyboardEvent("keydown", { key: name });
    all(".graph")[0].dispatchEvent(press);
    settle();
  };
  key("[");
  expect(picture()).toContain("y1");
  key("]");
  expect(picture()).toContain("y2");
  after(1, "Cos");
  expect(all(".bars button")).toHaveLength(1);
});

test("a line of code lights up what it made, and a node its line", () => {
  const page = document.createElement("div");
  page.className = "jp-Notebook";
  const lines = '<div class="cm-line">a</div><div class="cm-line">b</div>';
  page.innerHTML = `<div class="jp-Cell"><div class="jp-InputPrompt">[3]:</div><div class="cm-content">${lines}</div></div>`;
  document.body.append(page);
  const view = live();
  const sketch = new Sketch(3);
  const made = sketch.op("Exp", [sketch.leaf("x", [2])], [2], { line: 2 });
  view.take(readBundle(JSON.stringify(sketch.bundle()))!.delta);
  settle();
  const { attention, graph } = view as unknown as {
    attention: Attention;
    graph: { events: { hovered(row: unknown): void } };
  };
  const [first, second] = page.querySelectorAll<HTMLElement>(".cm-line");
  const point = (on: Element) => on.dispatchEvent(new Event("pointerover", { bubbles: true }));
  point(second);
  expect([...attention.lines!]).toEqual([made]);
  point(document.body);
  expect(attention.lines!.size).toBe(0);
  graph.events.hovered({ cell: 3, line: 1 });
  expect(first.style.background).not.toBe("");
  graph.events.hovered(null);
  expect(first.style.background).toBe("");
});

test("a node whose saved tensor was changed since is marked before backward fails", () => {
  const sketch = regression();
  const square = sketch.nodes.find((row: { op: string }) => row.op === "PowBackward0");
  sketch.saved(square.id, ["self", [5, 1], "alive", "", 1]);
  frozen(sketch);
  expect(picture()).toContain("changed since saved");
  const { marks, scene } = app as unknown as {
    marks: { of(item: unknown): string };
    scene: { items: { row: { id: number } }[] };
  };
  expect(marks.of(scene.items.find((item) => item.row.id === square.id))).toBe("trouble");
});
