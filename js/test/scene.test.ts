import { expect, test } from "vitest";
import { chain, network, recurrent, residual } from "../dev/scenes.mjs";
import { buildScene, loopOf } from "../src/model/scene";
import { GraphStore } from "../src/model/store";
import type { Detail } from "../src/model/types";
import { neighbour, search } from "../src/model/walk";
import { draw, noChoices, Sketch, storeOf } from "./help";

const NOTHING = {
  ...{ replace: false, nodes: [], edges: [], removed: [], status: null, findings: null },
  details: new Map<number, Detail>(),
};

const honest = (scene: { shown: number; total: number; folded: number }) =>
  scene.shown + scene.folded === scene.total;

test("a leaf is drawn once for each use, with one identity", () => {
  const s = new Sketch();
  const w = s.parameter("w", [2]);
  const a = s.op("Mul", [w, w], [2]);
  s.op("Add", [a, w], [2]);
  const scene = buildScene(storeOf(s), noChoices());
  expect(scene.byNode.get(w)).toHaveLength(2);
  expect(scene.links).toHaveLength(4);
  expect(scene).toMatchObject({ shown: 3, total: 3, folded: 0 });
});

test("each leaf is drawn once where that is wanted, above the first operation that uses it", () => {
  const s = new Sketch();
  const w = s.parameter("w", [2]);
  const a = s.op("Mul", [w, s.leaf("x", [2])], [2]);
  s.op("Add", [a, w], [2]);
  const scene = buildScene(storeOf(s), { ...noChoices(), once: true });
  expect(scene.byNode.get(w)).toHaveLength(1);
  expect(scene.items).toHaveLength(4);
  expect(scene.links.map((link) => link.back)).toEqual([false, false, false, false]);
  expect(scene.items.every((item) => !item.again)).toBe(true);
});

test("many leaves of one operation are one item, which opens and closes", () => {
  const s = new Sketch();
  const leaves = Array.from({ length: 1000 }, (_, n) => s.leaf(`w[${n}]`, [2]));
  s.op("Stack", [...leaves, s.parameter("bias", [2])], [1000, 2]);
  const choices = noChoices();
  const folded = buildScene(storeOf(s), choices);
  expect(folded.items.map((item) => item.title)).toEqual(["", "w[*]", "bias"]);
  expect(folded.items[1].members).toHaveLength(1000);
  expect(folded.links.map((link) => link.times)).toEqual([1000, 1]);
  expect(honest(folded)).toBe(true);
  choices.opened.add(folded.items[1].site);
  const opened = buildScene(storeOf(s), choices);
  expect(opened.items).toHaveLength(1002);
  expect(opened.items[1].site).toBe(folded.items[1].site);
  expect(buildScene(storeOf(s), { ...noChoices(), by: "none" }).items).toHaveLength(1002);
});

test("a value that was cut out of a graph stands in the flow", () => {
  const s = new Sketch();
  const h = s.op("Exp", [s.leaf("x", [2])], [2]);
  const plain = s.input("h", [2], { cut: "detach" });
  s.edges.push({ source: h, target: plain, slot: 0, output: 0, grad_norm: null, cut: "detach" });
  s.op("Mul", [plain, s.leaf("w", [2])], [2]);
  const scene = buildScene(storeOf(s), noChoices());
  expect(scene.items[scene.byNode.get(plain)![0]].leaf).toBe(false);
});

test("edges to nodes that are not there are left out", () => {
  const s = new Sketch();
  const y = s.op("Exp", [s.leaf("x", [2])], [2]);
  s.edges.push({ source: 99, target: y, slot: 1, output: 0, grad_norm: null, cut: "" });
  expect(buildScene(storeOf(s), noChoices()).links).toHaveLength(1);
});

test("a graph that claims to be a circle is still drawn", () => {
  const s = new Sketch();
  const a = s.op("Exp", [s.leaf("x", [2])], [2]);
  const b = s.op("Exp", [a], [2]);
  s.edges.push({ source: b, target: a, slot: 1, output: 0, grad_norm: null, cut: "" });
  s.edges.push({ source: a, target: a, slot: 2, output: 0, grad_norm: null, cut: "" });
  const scene = buildScene(storeOf(s), noChoices());
  expect(scene.links.filter((link) => link.back)).toHaveLength(1);
});

test("a long loop folds by call site and says how often", () => {
  const scene = buildScene(storeOf(chain(5000)), noChoices());
  expect(scene.items.map((item) => item.members?.length ?? 1)).toEqual([2500, 2500, 1]);
  expect(scene).toMatchObject({ shown: 1, total: 5001, folded: 5000 });
  expect(scene.links.some((link) => link.back)).toBe(true);
});

test("an unrolled network folds by its loop, a graph without a loop does not", () => {
  const lstm = buildScene(storeOf(recurrent(50)), noChoices());
  expect(lstm.items.length).toBeLessThan(60);
  expect(lstm.items.some((item) => item.members?.length === 50)).toBe(true);
  expect(honest(lstm)).toBe(true);
  const short = buildScene(storeOf(recurrent(3)), noChoices());
  expect(short.folded).toBe(0);
  const once = new Sketch();
  let at = once.leaf("x", [2]);
  for (let line = 1; line <= 300; line++) at = once.op("Exp", [at], [2], { line });
  expect(buildScene(storeOf(once), noChoices()).folded).toBe(0);
});

test("an opened group shows its newest members and keeps the rest folded", () => {
  const choices = noChoices();
  const store = storeOf(chain(5000));
  const before = buildScene(store, choices);
  for (const { site } of loopOf(before, before.items[0])) choices.opened.add(site);
  expect(choices.opened.size).toBe(2);
  const scene = buildScene(store, choices);
  expect(scene).toMatchObject({ shown: 201, total: 5001, folded: 4800 });
});

test("a group closed by hand folds, and opens again", () => {
  const choices = noChoices();
  const store = storeOf(recurrent(5));
  const before = buildScene(store, choices);
  expect(before.folded).toBe(0);
  const site = before.items.find((item) => item.row.op === "TanhBackward0")!.site;
  choices.closed.add(site);
  const folded = buildScene(store, choices);
  expect(folded.folded).toBe(5);
  expect(honest(folded)).toBe(true);
  choices.closed.delete(site);
  expect(buildScene(store, choices).folded).toBe(0);
});

test("modules fold when no line repeats", () => {
  const scene = buildScene(storeOf(residual(300)), noChoices());
  expect(scene.items.length).toBeLessThanOrEqual(1500);
  expect(scene.items.some((item) => item.key.startsWith("m:layer."))).toBe(true);
  expect(honest(scene)).toBe(true);
});

test("where nothing repeats at all the newest are shown", () => {
  const s = new Sketch();
  let x = s.leaf("x", [2]);
  for (let n = 0; n < 4000; n++) x = s.op(`Op${n}`, [x], [2], { line: n });
  const scene = buildScene(storeOf(s), noChoices());
  expect(scene.items.length).toBeLessThanOrEqual(1501);
  expect(scene.byKey.has(String(x))).toBe(true);
  expect(honest(scene)).toBe(true);
});

test("what Python left out counts as folded", () => {
  const store = storeOf(network());
  store.status = { ...store.status, total: 100_010 };
  expect(buildScene(store, noChoices())).toMatchObject({
    shown: 10,
    total: 100_010,
    folded: 100_000,
  });
});

test("the same scene is made again, item for item", () => {
  const store = storeOf(recurrent(8));
  const keys = () => buildScene(store, noChoices()).items.map((item) => item.key);
  expect(keys()).toEqual(keys());
});

test("finding: an exact name first, then its start, then the operation", () => {
  const s = new Sketch();
  const relu = s.op("Relu", [s.leaf("relu_in", [2])], [2]);
  const named = s.op("Exp", [relu], [2], { label: "relu" });
  const scene = buildScene(storeOf(s), noChoices());
  const found = search(scene, "relu").map((n) => scene.items[n].row.id);
  expect(found).toEqual([named, 1, relu]);
  expect(search(scene, "  ")).toEqual([]);
});

test("arrow keys follow the edges", () => {
  const { scene, output } = draw(network());
  const at = (id: number) => scene.byNode.get(id)![0];
  const step = (from: number, way: "up" | "down" | "left" | "right") =>
    neighbour(scene, output.x, output.layer, at(from), way);
  expect(step(7, "up")).toBe(at(6));
  expect(step(7, "down")).toBe(at(8));
  expect(step(5, "right")).toBe(at(3));
  expect(step(10, "down")).toBe(-1);
});

test("a removed node takes its edges along; a row replaces a row", () => {
  const store = storeOf(network());
  store.apply({
    replace: false,
    nodes: [{ ...store.nodes.get(7)!, label: "hidden" }],
    edges: [],
    removed: [8],
    status: null,
    findings: null,
    details: new Map(),
  });
  expect(store.nodes.get(7)!.label).toBe("hidden");
  expect(store.nodes.has(8)).toBe(false);
  expect(store.inputs.get(10)!.map((edge) => edge.source)).toEqual([9]);
});

test("an empty store is an empty scene", () => {
  expect(buildScene(new GraphStore(), noChoices())).toMatchObject({
    items: [],
    shown: 0,
    total: 0,
  });
});

test("the surroundings of a node are a few edges deep, with the leaves of what is shown", () => {
  const s = new Sketch();
  const w = s.parameter("w", [2]);
  const steps = [s.op("Mul", [w], [2])];
  for (let n = 1; n < 20; n++) steps.push(s.op("Mul", [steps[n - 1], w], [2]));
  const near = (id: number) =>
    buildScene(storeOf(s), { ...noChoices(), by: "near" as const, near: id });
  const middle = near(steps[10]);
  const drawn = middle.items.filter((item) => !item.leaf).map((item) => item.row.id);
  expect(drawn).toEqual(steps.slice(7, 14));
  expect(middle.items.filter((item) => item.leaf)).toHaveLength(7);
  expect(middle).toMatchObject({ shown: 8, total: 21, folded: 0 });
  expect(near(-77).items.length).toBeGreaterThan(20);
});

test("a node that gave up its name is remembered by it until it is gone", () => {
  const s = new Sketch();
  const a = s.op("Mul", [s.leaf("w", [2])], [2]);
  const store = storeOf(s);
  const row = store.nodes.get(a)!;
  const say = (label: string, rest = {}) =>
    store.apply({ ...NOTHING, nodes: [{ ...row, label }], ...rest });
  say("x");
  expect(store.formerly.get(a)).toBe(undefined);
  say("");
  expect(store.formerly.get(a)).toBe("x");
  say("y", { replace: true });
  expect(store.formerly.get(a)).toBe("x");
  store.apply({ ...NOTHING, removed: [a] });
  expect(store.formerly.size).toBe(0);
});
