import { expect, test } from "vitest";
import { differ, headOf, turn } from "../src/model/iterations";
import { buildScene } from "../src/model/scene";
import { noChoices, Sketch, storeOf } from "./help";

/** 90 times `y = y * x`, then on every third line 3, else line 5, then `y + x`. */
function branching() {
  const s = new Sketch();
  const x = s.leaf("x", [2]);
  let y = x;
  for (let k = 0; k < 90; k++) {
    const a = s.op("Mul", [y, x], [2], { line: 2 });
    const b =
      k % 3 === 0 ? s.op("Sin", [a], [2], { line: 3 }) : s.op("Tanh", [a], [2], { line: 5 });
    y = s.op("Add", [b, x], [2], { line: 6 });
  }
  const out = s.op("Sum", [y], [], { line: 7, root: true });
  s.edges.forEach((edge: { grad_norm: number | null; target: number }) => {
    edge.grad_norm = edge.target;
  });
  const store = storeOf(s);
  const scene = buildScene(store, noChoices());
  const group = (op: string) => scene.items.find((item) => item.row.op === `${op}Backward0`)!;
  return { store, scene, group, out };
}

test("each iteration of a loop can be shown, and what it left out is absent", () => {
  const { store, scene, group, out } = branching();
  const head = headOf(scene, group("Add"))!;
  expect(head).toBe(group("Mul"));
  const nodes = scene.items.map((item) => item.row.id);
  turn(scene, store, head, 4);
  const first = head.members![4];
  expect(group("Mul").row.id).toBe(first);
  expect(group("Tanh").row.id).toBe(first + 1);
  expect(group("Add").row.id).toBe(first + 2);
  expect(scene.items.filter((item) => item.absent)).toEqual([group("Sin")]);
  expect(group("Sum")).toMatchObject({ turn: 0, row: { id: out } });
  const at = scene.items.indexOf(group("Tanh"));
  const into = scene.links.find((link) => link.target === at)!;
  expect(into.gradNorm).toBe(first + 1);
  turn(scene, store, head, 89);
  expect(scene.items.some((item) => item.absent)).toBe(true);
  expect(scene.items.map((item) => item.row.id)).toEqual(
    nodes.map((id, n) => (scene.items[n].absent ? scene.items[n].row.id : id)),
  );
});

test("two iterations differ by the branch that they took", () => {
  const { store, scene, group } = branching();
  const head = headOf(scene, group("Mul"))!;
  expect(differ(scene, store, head, 3, 4)).toEqual({
    here: ["SinBackward0:3"],
    there: ["TanhBackward0:5"],
  });
  expect(differ(scene, store, head, 3, 6)).toEqual({ here: [], there: [] });
});

test("a leaf and an operation by itself are in no loop", () => {
  const { scene, group } = branching();
  expect(headOf(scene, group("Sum"))).toBeNull();
  expect(headOf(scene, scene.items.find((item) => item.leaf)!)).toBeNull();
});
