// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { network, recurrent, transformer } from "../dev/scenes.mjs";
import { toDot, toMermaid } from "../src/draw/dot";
import { LIGHT } from "../src/draw/tokens";
import { diffOf } from "../src/model/diff";
import { buildScene } from "../src/model/scene";
import { GraphStore } from "../src/model/store";
import { readBundle } from "../src/protocol/bundle";
import { App } from "../src/widgets/app";
import { draw, noChoices, overlaps, storeOf } from "./help";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

/** The graph of a transformer whose operations belong to modules, some to none. */
function modular() {
  const bundle = transformer(2, 2).bundle() as { nodes: Record<string, unknown>[] };
  let n = 0;
  for (const node of bundle.nodes) {
    if (node.kind === "operation" && n++ % 5 > 0) node.module = `model.block${n % 3}`;
  }
  return bundle;
}

const store = () => storeOf({ bundle: modular } as never);

const operations = (by: "sites" | "modules" | "cells") => {
  const scene = buildScene(store(), { ...noChoices(), by });
  return { scene, groups: scene.items.filter((item) => item.members && !item.leaf) };
};

test("what is folded together is the person's choice, and nothing is lost", () => {
  for (const by of ["sites", "modules", "cells"] as const) {
    const { scene, groups } = operations(by);
    expect([by, groups.length > 0]).toEqual([by, true]);
    expect(scene.shown + scene.folded).toBe(scene.total);
  }
  expect(operations("cells").groups.map((item) => item.title)[0]).toMatch(/^In \[\d+\]$/);
  expect(operations("modules").groups.every((item) => item.key.startsWith("m:"))).toBe(true);
});

test("an opened module shows its members", () => {
  const { groups } = operations("modules");
  const opened = new Set([groups[0].site]);
  const scene = buildScene(store(), { ...noChoices(), opened, by: "modules" });
  expect(scene.items.some((item) => item.key === groups[0].key)).toBe(false);
});

/** A product, and the place where its number left the graph. */
const CUT = {
  schema: 1,
  nodes: [
    { id: 1, kind: "leaf", label: "x", shape: [], requires_grad: true },
    { id: 5, kind: "operation", op: "MulBackward0", shape: [] },
    { id: 9, kind: "operation", op: "SinBackward0", shape: [] },
    { id: -1073741825, kind: "untracked", cut: "item", shape: [], place: { cell: 2, line: 4 } },
    {
      id: -2147483647,
      kind: "operation",
      op: "RuntimeError",
      label: "x @ y",
      shape: [],
      failed: true,
    },
  ],
  edges: [
    { source: 1, target: 5, slot: 0 },
    { source: 5, target: 9, slot: 0 },
    { source: 5, target: -1073741825, slot: 0, cut: "item" },
    { source: 9, target: -2147483647, slot: 0 },
  ],
};

test("what left the graph, and what failed, stand below what they came from", () => {
  const sketch = { bundle: () => CUT } as never;
  const laid = draw(sketch);
  const layer = (id: number) => laid.output.layer[laid.scene.byNode.get(id)![0]];
  expect(laid.scene.links.some((link) => link.back)).toBe(false);
  expect(layer(-1073741825)).toBeGreaterThan(layer(5));
  expect(layer(-2147483647)).toBeGreaterThan(layer(9));
  expect(overlaps(laid)).toEqual([]);
});

test("two graphs differ by what one line did more or less often", () => {
  const rows = [...storeOf(network()).nodes.values()];
  expect(diffOf(rows, rows)).toEqual({ came: new Set(), gone: [] });
  const [one] = rows.filter((row) => row.kind === "operation");
  const rest = rows.filter((row) => row !== one);
  expect(diffOf(rows, rest).gone).toEqual([one]);
  expect(diffOf(rest, rows).came).toEqual(new Set([one.id]));
  const later = rows.map((row) => ({ ...row, id: row.id + 1000, cell: row.cell + 1 }));
  expect(diffOf(rows, later)).toEqual({ came: new Set(), gone: [] });
});

test("DOT keeps hostile names inside their quotes", () => {
  const store = storeOf(recurrent(2));
  const [row] = store.nodes.values();
  store.nodes.set(row.id, { ...row, label: 'a"; evil [x]\\' });
  const text = toDot(store, LIGHT);
  expect(text).toContain('label="a\\"; evil [x]\\\\');
  expect(text.match(/->/g)).toHaveLength([...store.inputs.values()].flat().length);
});

test("Mermaid keeps hostile names inside their quotes, and draws what was cut dotted", () => {
  const store = readBundle(JSON.stringify(CUT))!;
  const made = new GraphStore();
  made.apply(store.delta);
  const [row] = made.nodes.values();
  made.nodes.set(row.id, { ...row, label: '"] --> x; <b>权' });
  const text = toMermaid(made);
  expect(text).toContain('"#34;] --#62; x#59; #60;b#62;#26435; ');
  const ways = text.match(/(-->|-\.->)/g)!;
  expect(ways).toHaveLength([...made.inputs.values()].flat().length);
  expect(ways).toContain("-.->");
});

function show(data: unknown) {
  const host = document.createElement("div");
  document.body.append(host);
  const settings = { language: "en", theme: "light", layout: "inline", height: 300 };
  const app = new App(host, settings, null);
  app.take(readBundle(JSON.stringify(data))!.delta);
  vi.advanceTimersByTime(500);
  const get = (name: string) =>
    host.shadowRoot!.querySelector<HTMLElement>(`[data-testid=gv-${name}]`)!;
  return { app, get };
}

test("comparing says what came and what is gone", () => {
  const { app, get } = show(CUT);
  get("compare").click();
  vi.advanceTimersByTime(500);
  expect(get("note").textContent).toContain("nothing has changed");
  const nodes = CUT.nodes.map((row) => (row.id === 9 ? { ...row, op: "CosBackward0" } : row));
  app.take(readBundle(JSON.stringify({ ...CUT, nodes }))!.delta);
  vi.advanceTimersByTime(500);
  expect(get("note").textContent).toContain("1 new");
  expect(get("note").textContent).toContain("SinBackward0");
  get("compare").click();
  vi.advanceTimersByTime(500);
  expect(get("note").hidden).toBe(true);
  app.close();
});

test("a menu is moved through and closed by keys", () => {
  const { app, get } = show(CUT);
  const press = (element: HTMLElement, key: string) =>
    element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
  get("fold").click();
  expect(get("fold").getAttribute("aria-expanded")).toBe("true");
  press(get("fold-auto"), "ArrowDown");
  expect((get("fold-none").getRootNode() as ShadowRoot).activeElement).toBe(get("fold-none"));
  get("fold-sites").click();
  expect(get("fold-sites")).toBeNull();
  expect(get("fold").getAttribute("aria-expanded")).toBe("false");
  app.close();
});

test("the path of a node leads to its cell and its modules", () => {
  const { app, get } = show(modular());
  const named = [...app.store.nodes.values()].find((row) => row.module.includes("."))!;
  app.show(named.id);
  const words = [...get("crumbs").querySelectorAll("button")].map((one) => one.textContent);
  expect(words.slice(1)).toEqual(named.module.split("."));
  get("crumbs").querySelectorAll("button")[1].click();
  app.close();
});
