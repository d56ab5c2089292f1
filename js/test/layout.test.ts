import { expect, test } from "vitest";
import {
  chain,
  hostile,
  marks,
  network,
  recurrent,
  residual,
  transformer,
} from "../dev/scenes.mjs";
import { Drawer, draw, type Laid, overlaps, Sketch, storeOf } from "./help";

const downwards = ({ scene, output }: Laid) =>
  scene.links.every((link) => link.back || output.layer[link.source] < output.layer[link.target]);

test.each([
  ["network", network()],
  ["marks", marks()],
  ["hostile", hostile()],
  ["residual", residual(8)],
  ["transformer", transformer(3, 4)],
  ["recurrent", recurrent(12)],
])("%s: data flows down and nothing overlaps", (_, sketch) => {
  const laid = draw(sketch);
  expect(downwards(laid)).toBe(true);
  expect(overlaps(laid)).toEqual([]);
});

test("a chain stands on one vertical line", () => {
  const { scene, output } = draw(chain(40));
  const steps = scene.items.flatMap((item, n) => (item.leaf ? [] : [output.x[n]]));
  expect(Math.max(...steps) - Math.min(...steps)).toBeLessThanOrEqual(2);
});

test.each([5000, 20_000])("a chain of %i is laid out without recursion", (count) => {
  const laid = draw(chain(count));
  expect(Math.max(...laid.output.layer)).toBe(count);
  expect(downwards(laid)).toBe(true);
});

test("a wide fan-in gets one row of leaves", () => {
  const s = new Sketch();
  const leaves = Array.from({ length: 1000 }, (_, n) => s.leaf(`w${n}`, [2]));
  s.op("Cat", leaves, [2000]);
  const laid = draw(s);
  expect(new Set(laid.output.layer).size).toBe(2);
  expect(overlaps(laid)).toEqual([]);
});

test("a ladder of diamonds stays narrow", () => {
  const s = new Sketch();
  let x = s.op("Exp", [s.leaf("x", [2])], [2]);
  for (let n = 0; n < 200; n++) {
    const [a, b] = [s.op("Sin", [x], [2]), s.op("Cos", [x], [2])];
    x = s.op("Add", [a, b], [2]);
  }
  const laid = draw(s);
  expect(overlaps(laid)).toEqual([]);
  expect(Math.max(...laid.output.x) - Math.min(...laid.output.x)).toBeLessThan(600);
});

test("no graph and a single node are fine", () => {
  expect(draw(new Sketch()).scene.items).toEqual([]);
  const s = new Sketch();
  s.leaf("w", [1]);
  expect(draw(s).output.layer[0]).toBe(0);
});

/** The first `count` nodes and the edges between them. */
function part(sketch: Sketch, count: number): Sketch {
  const s = new Sketch();
  s.nodes = sketch.nodes.slice(0, count);
  s.edges = sketch.edges.filter((edge: { target: number }) => edge.target <= count);
  return s;
}

function growth(
  sketch: Sketch,
  step: number,
): { moved: string[]; last: Laid; overlapping: string[] } {
  const drawer = new Drawer();
  const seen = new Map<string, string>();
  const moved: string[] = [];
  const overlapping: string[] = [];
  let last!: Laid;
  for (let count = step; ; count = Math.min(count + step, sketch.nodes.length)) {
    last = drawer.draw(storeOf(part(sketch, count)));
    overlapping.push(...overlaps(last));
    last.scene.items.forEach((item, n) => {
      const place = `${last.output.x[n]},${last.output.layer[n]}`;
      const before = seen.get(item.key);
      if (before !== undefined && before !== place)
        moved.push(`${item.key}: ${before} to ${place}`);
      seen.set(item.key, place);
    });
    if (count === sketch.nodes.length) return { moved, last, overlapping };
  }
}

test.each([
  ["network", network(), 1],
  ["chain", chain(60), 3],
  ["residual", residual(4), 2],
  ["recurrent", recurrent(5), 7],
  ["transformer", transformer(2, 3), 5],
])("%s: while it grows nothing that stands moves, and nothing overlaps", (_, sketch, step) => {
  const { moved, last, overlapping } = growth(sketch, step);
  expect(moved).toEqual([]);
  expect(overlapping).toEqual([]);
  expect(downwards(last)).toBe(true);
});

test("steps of a training loop stand side by side", () => {
  const s = new Sketch();
  const w = s.parameter("w", [4]);
  const roots: number[] = [];
  for (let n = 0; n < 5; n++) roots.push(s.op("Sum", [s.op("Mul", [w, w], [4])]));
  const { last, moved, overlapping } = growth(s, 2);
  const x = roots.map((id) => last.output.x[last.scene.byNode.get(id)![0]]);
  expect(x).toEqual([...x].sort((a, b) => a - b));
  expect(new Set(x).size).toBe(5);
  expect(moved).toEqual([]);
  expect(overlapping).toEqual([]);
});

test("a name that comes later does not move its node", () => {
  const drawer = new Drawer();
  const s = network();
  for (const node of s.nodes) if (node.kind === "operation") node.label = "";
  const before = drawer.draw(storeOf(s));
  const after = drawer.draw(storeOf(network()));
  expect([...after.output.x]).toEqual([...before.output.x]);
});
