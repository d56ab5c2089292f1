import { expect, test } from "vitest";
import { marks, network } from "../dev/scenes.mjs";
import { Flag, has } from "../src/model/types";
import { readBundle, toBundle } from "../src/protocol/bundle";
import { storeOf } from "./help";

test("what is saved can be opened again", () => {
  const store = storeOf(network());
  const again = readBundle(JSON.stringify(toBundle(store, "zh")))!;
  expect(again.language).toBe("zh");
  expect(again.delta.nodes.map(({ flags: _, ...row }) => row)).toEqual(
    [...store.nodes.values()].map(({ flags: _, ...row }) => row),
  );
  expect(again.delta.findings).toEqual(store.findings);
  expect(again.delta.details.get(7)).toEqual(store.details.get(7));
});

test("what is not finite survives JSON", () => {
  const s = marks();
  s.at(1).grad_norm = "Infinity" as never;
  s.at(2).grad_norm = "NaN" as never;
  const store = storeOf(s);
  expect(store.nodes.get(1)!.gradNorm).toBe(Number.POSITIVE_INFINITY);
  expect(store.nodes.get(2)!.gradNorm).toBeNaN();
  expect(has(store.nodes.get(2)!, Flag.failed)).toBe(true);
  expect(JSON.stringify(toBundle(store, "en"))).toContain('"grad_norm":"NaN"');
});

test.each(["", "{", "null", "[]", "{}", '{"schema":2}', "<b>"])("%s is no bundle", (json) => {
  expect(readBundle(json)).toBeNull();
});

test("a bundle with the wrong things in it is read as far as it goes", () => {
  const odd = {
    schema: 1,
    nodes: [1, null, { id: 3 }],
    edges: "x",
    findings: [7, { rule: 5 }],
    details: [],
  };
  const { delta } = readBundle(JSON.stringify(odd))!;
  expect(delta.nodes).toHaveLength(1);
  expect(delta.findings![0].rule).toBe("");
});
