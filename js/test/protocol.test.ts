import { expect, test } from "vitest";
import { Sender } from "../dev/frames.mjs";
import { network, regression } from "../dev/scenes.mjs";
import type { Delta } from "../src/model/types";
import { readBundle } from "../src/protocol/bundle";
import { Client } from "../src/protocol/client";
import { FrameDecoder, FrameError } from "../src/protocol/decode";

function conversation() {
  const sent: Record<string, unknown>[] = [];
  const deltas: Delta[] = [];
  const troubles: boolean[] = [];
  const details: number[] = [];
  let now = 0;
  const client = new Client(
    { send: (message) => sent.push(message), now: () => now },
    {
      delta: (delta) => deltas.push(delta),
      detail: (id) => details.push(id),
      tried: () => {},
      pong: () => {},
      trouble: (lasting) => troubles.push(lasting),
    },
  );
  const wait = (ms: number) => {
    now += ms;
  };
  return { client, sent, deltas, troubles, details, wait };
}

test("a frame gives the same rows as the frozen form", () => {
  const s = network();
  const { message, buffers } = new Sender().frame(s.nodes, s.edges);
  const live = new FrameDecoder().decode(message, buffers);
  const frozen = readBundle(JSON.stringify(s.bundle()))!.delta;
  expect(live.nodes).toEqual(frozen.nodes);
  live.edges.forEach((edge, n) => {
    const { gradNorm, ...rest } = frozen.edges[n];
    expect(edge).toMatchObject(rest);
    if (gradNorm === null) expect(edge.gradNorm).toBeNull();
    else expect(edge.gradNorm).toBeCloseTo(gradNorm, 5);
  });
});

test("strings go on from frame to frame, and a whole frame starts anew", () => {
  const s = network();
  const sender = new Sender();
  const decoder = new FrameDecoder();
  const first = sender.frame(s.nodes.slice(0, 4), []);
  const second = sender.frame(s.nodes.slice(4), s.edges);
  expect(decoder.decode(first.message, first.buffers).replace).toBe(true);
  const delta = decoder.decode(second.message, second.buffers);
  expect(delta.replace).toBe(false);
  expect(delta.nodes[0].op).toBe("MmBackward0");
  sender.restart();
  const whole = sender.frame(s.nodes, s.edges);
  expect(decoder.decode(whole.message, whole.buffers).nodes).toHaveLength(10);
});

test("buffers that do not start on a boundary are read all the same", () => {
  const s = regression();
  const { message, buffers } = new Sender().frame(s.nodes, s.edges);
  const odd = buffers.map((buffer: DataView) => {
    const bytes = new Uint8Array(buffer.byteLength + 3);
    bytes.set(new Uint8Array(buffer.buffer), 3);
    return new DataView(bytes.buffer, 3);
  });
  expect(new FrameDecoder().decode(message, odd).nodes).toHaveLength(s.nodes.length);
});

test("a gradient that is not a number is told apart from none", () => {
  const s = regression();
  s.at(2).grad_norm = Number.NaN;
  s.at(3).grad_norm = null;
  const { message, buffers } = new Sender().frame(s.nodes, s.edges);
  const { nodes } = new FrameDecoder().decode(message, buffers);
  expect(nodes[1].gradNorm).toBeNaN();
  expect(nodes[2].gradNorm).toBeNull();
});

const broken: [string, (m: Record<string, unknown>, b: DataView[]) => void][] = [
  ["a cut buffer", (_, b) => (b[0] = new DataView(b[0].buffer, 0, 30))],
  ["a missing buffer", (_, b) => b.pop()],
  ["figures for other nodes", (_, b) => (b[1] = new DataView(new ArrayBuffer(16)))],
  ["a word that is not in the table", (m) => (m.strings = [""])],
  ["another version", (m) => (m.v = 9)],
  ["no number", (m) => (m.seq = "x")],
  ["a missed frame", (m) => (m.base = 41)],
  ["an unknown kind", (_, b) => b[0].setInt32(4, 99, true)],
];

test.each(broken)("%s: refused, and asked for again", (_, spoil) => {
  const s = network();
  const { message, buffers } = new Sender().frame(s.nodes, s.edges);
  spoil(message, buffers);
  expect(() => new FrameDecoder().decode(message, buffers)).toThrow(FrameError);
  const { client, sent, deltas } = conversation();
  client.receive(message, buffers);
  expect(sent).toEqual([{ t: "resync" }]);
  expect(deltas).toEqual([]);
});

test("a stream of late frames is one question, and a good frame is taken after it", () => {
  const { client, sent, deltas } = conversation();
  for (let n = 0; n < 50; n++) client.receive({ t: "frame", v: 2, seq: 9, base: 8 });
  expect(sent).toEqual([{ t: "resync" }]);
  const s = network();
  const { message, buffers } = new Sender().frame(s.nodes, s.edges);
  client.receive(message, buffers);
  expect(deltas).toHaveLength(1);
});

test("asking in vain ends, and is said", () => {
  const { client, sent, troubles, wait } = conversation();
  for (let n = 0; n < 10; n++) {
    client.receive({ t: "frame", v: 7, seq: n, base: -1 });
    wait(5000);
  }
  expect(sent).toHaveLength(3);
  expect(troubles.at(-1)).toBe(true);
});

test.each([null, 5, "frame", [], {}, { t: 4 }, { t: "later" }, { t: "detail" }])(
  "%j does no harm",
  (message) => {
    const { client, sent } = conversation();
    client.receive(message);
    expect(sent).toEqual([]);
  },
);

test("what the page says", () => {
  const { client, sent } = conversation();
  client.ready("zh");
  client.inspect(7);
  client.ping(3);
  client.language("zh");
  expect(sent).toEqual([
    { t: "ready", seq: -1, language: "zh" },
    { t: "inspect", id: 7 },
    { t: "ping", n: 3 },
    { t: "language", language: "zh" },
  ]);
});
