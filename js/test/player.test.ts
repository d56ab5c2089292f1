// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { deltaAt, termsOf } from "../src/model/recording";
import { Flag } from "../src/model/types";
import { readRecording } from "../src/protocol/recording";
import { Player } from "../src/widgets/player";

const stats = (value: number) => ({
  shape: [],
  dtype: "float32",
  norm: Math.abs(value),
  values: value,
  nan: Number.isNaN(value) ? 1 : 0,
});
const operation = (id: number, op: string) => ({
  id,
  kind: "operation",
  op,
  shape: [],
  saved: [{ name: "self", state: "alive" }],
});

/** loss (4) of h (3) and y (2), both of x (1). */
const raw = (steps = 3, over: Record<string, unknown> = {}) => ({
  schema: 1,
  nodes: [
    { id: 1, kind: "leaf", label: "x", shape: [], requires_grad: true },
    operation(2, "SinBackward0"),
    operation(3, "MulBackward0"),
    operation(4, "AddBackward0"),
  ],
  edges: [
    { source: 1, target: 2, slot: 0 },
    { source: 1, target: 3, slot: 0 },
    { source: 2, target: 4, slot: 0 },
    { source: 3, target: 4, slot: 1 },
  ],
  roots: [4],
  plan: [4, 3, 2],
  steps: [
    {
      node: 4,
      arrived: [stats(1)],
      rule: { en: "g" },
      sent: [
        { slot: 0, target: 2, grad: stats(1) },
        { slot: 1, target: 3, grad: stats(1) },
      ],
      freed: [],
    },
    {
      node: 3,
      arrived: [stats(1)],
      rule: { en: "g · other" },
      numbers: { en: "1 · 3" },
      sent: [{ slot: 0, target: 1, grad: stats(3) }],
      freed: [{ name: "self", shape: [], bytes: 4 }],
    },
    {
      node: 2,
      arrived: [stats(1)],
      sent: [{ slot: 0, target: 1, grad: stats(0.5) }],
      added: [{ leaf: 1, before: null, amount: stats(3.5), after: stats(3.5) }],
    },
  ].slice(0, steps),
  why: [
    {
      leaf: 1,
      paths: 2,
      shares: [
        { nodes: [4, 3, 1], share: stats(3) },
        { nodes: [4, 2, 1], share: stats(0.5) },
      ],
      total: stats(3.5),
    },
  ],
  state: "finished",
  ...over,
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
});

test("at each position the graph is as the sweep left it", () => {
  const recording = readRecording(raw())!;
  const at = (position: number) => {
    const { nodes, edges, details } = deltaAt(recording, position);
    const flowed = edges.filter((edge) => edge.gradNorm !== null).length;
    const freed = nodes.filter((row) => row.flags & Flag.freed).map((row) => row.id);
    return [flowed, freed, nodes[0].gradNorm, details.get(1)?.grad?.norm ?? null];
  };
  expect([0, 1, 2, 3].map(at)).toEqual([
    [0, [], null, null],
    [2, [], null, null],
    [3, [3], null, null],
    [4, [3], 3.5, 3.5],
  ]);
  expect(termsOf(recording, 1, 3).map(({ from, grad }) => [from, grad.norm])).toEqual([
    [3, 3],
    [2, 0.5],
  ]);
});

test("what is retained is not freed, and a NaN is red", () => {
  const kept = readRecording(raw(3, { kept: true }))!;
  expect(deltaAt(kept, 3).nodes.some((row) => row.flags & Flag.freed)).toBe(false);
  const bad = readRecording(raw())!;
  bad.steps[1].sent[0].grad = { ...bad.steps[1].sent[0].grad!, norm: Number.NaN, nan: 1 };
  expect(deltaAt(bad, 2).nodes.find((row) => row.id === 3)!.flags & Flag.failed).toBeTruthy();
});

test("anything at all is read without a fault", () => {
  for (const odd of [null, 3, {}, { schema: 1, steps: "no", plan: [1, "x"], nodes: 4 }]) {
    const found = readRecording(odd);
    if (found) expect(deltaAt(found, 5).nodes).toEqual([]);
  }
});

function show(recording: object, driver: object | null = null) {
  const host = document.createElement("div");
  document.body.append(host);
  const settings = { language: "en", theme: "light", layout: "inline", height: 300 };
  const player = new Player(host, settings, driver as never);
  player.take(readRecording(recording)!, 0);
  vi.advanceTimersByTime(500);
  const get = (name: string) =>
    host.shadowRoot!.querySelector<HTMLElement>(`[data-testid=gv-${name}]`)!;
  const card = () => get("step").textContent ?? "";
  return { player, get, card };
}

test("forward, back and scrub move through a recording", () => {
  const { get, card } = show(raw());
  expect(card()).toContain("Before the first step");
  get("player-forward").click();
  get("player-forward").click();
  expect(card()).toContain("step 2 of 3");
  expect(card()).toContain("1 · 3");
  expect(card()).toContain("self");
  get("player-back").click();
  expect(card()).toContain("step 1 of 3");
  const scrub = get("scrub") as HTMLInputElement;
  scrub.value = "3";
  scrub.dispatchEvent(new Event("input"));
  expect(card()).toContain(".grad += 3.5");
  expect(card()).toContain("None → 3.5");
});

test("it plays to the end and stops there", () => {
  const { get } = show(raw());
  get("player-play").click();
  vi.advanceTimersByTime(10_000);
  expect(get("player").dataset.position).toBe("3");
  expect(get("player-play")).not.toBeNull();
});

test("at the end a leaf's gradient is explained by its paths", () => {
  const { player, get, card } = show(raw());
  player.goTo(3);
  player.app.show(1);
  expect(card()).toContain("the sum over 2 paths");
  expect(get("step").querySelectorAll("[data-testid=gv-path]")).toHaveLength(2);
});

test("beyond what ran it asks for more, and pauses at breakpoints", () => {
  const asked: unknown[] = [];
  const driver = {
    drive: (to: number | null) => asked.push(to),
    abort: () => asked.push("abort"),
    breakOnNan: (on: boolean) => asked.push(on),
    breakNorm: () => {},
    breakpoints: (nodes: number[]) => asked.push(nodes),
    moved: () => {},
  };
  const { player, get } = show(raw(0, { state: "paused" }), driver);
  get("player-forward").click();
  expect(asked).toEqual([1]);
  player.takeSteps(0, raw().steps.slice(0, 1));
  expect(get("player").dataset.position).toBe("1");
  get("break-nan").click();
  get("player-abort").click();
  expect(asked).toEqual([1, false, "abort"]);
  player.putOff();
  expect(get("said").textContent).toContain("busy");
});

test("in another language it says the same", () => {
  const { player, card, get } = show(raw());
  player.goTo(2);
  player.app.configure({ language: "zh", theme: "dark", layout: "inline", height: 300 });
  expect(card()).toContain("第 2 步，共 3 步");
  expect(get("player-play").getAttribute("aria-label")).toContain("播放");
});

test("in a quiz what goes out is shown when it is asked for", () => {
  const { get, card } = show(raw());
  get("player-forward").click();
  get("player-forward").click();
  expect(card()).toMatch(/goes out3/);
  get("quiz").click();
  expect(card()).not.toMatch(/goes out3/);
  get("reveal").click();
  expect(card()).toMatch(/goes out3/);
  get("player-back").click();
  expect(get("reveal")).not.toBeNull();
});

test("a guess is told right or wrong and counted; a recording may ask from the start", () => {
  const { player, get, card } = show(raw(3, { quiz: true }));
  player.goTo(2);
  const guess = get("step").querySelector<HTMLInputElement>(".guess")!;
  guess.value = "2.97";
  guess.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  expect(card()).toMatch(/1 of 1 right.*goes out3 .*✓/s);
  player.goTo(1);
  const inputs = get("step").querySelectorAll<HTMLInputElement>(".guess");
  inputs[0].value = "[7, 8]";
  get("reveal").click();
  expect(card()).toMatch(/1 of 2 right.*✗ \[7, 8\]/s);
  get("quiz").click();
  expect(card()).not.toContain("right");
});

test("when the last step comes with the whole recording it no longer plays", () => {
  const driver = { drive: () => {}, abort: () => {}, moved: () => {} };
  const { player, get } = show(raw(2, { state: "paused" }), driver);
  player.goTo(2);
  get("player-play").click();
  expect(get("player-pause")).not.toBeNull();
  player.take(readRecording(raw())!, 3);
  expect(get("player-pause")).toBeNull();
});
