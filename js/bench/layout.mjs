// CPU time of layout, and of the first picture of a very large graph: `npm run bench`.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { Sender } from "../dev/frames.mjs";
import { chain, recurrent, residual, transformer } from "../dev/scenes.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const built = await esbuild.build({
  stdin: {
    contents: `
      export { GraphStore } from "./src/model/store";
      export { buildScene } from "./src/model/scene";
      export { FrameDecoder } from "./src/protocol/decode";
      export { readBundle } from "./src/protocol/bundle";
      export { layoutGraph } from "./src/layout/layout";
      export { layoutInput } from "./src/layout/input";
      export { extentOf, labelOf } from "./src/draw/label";
      export { Picture } from "./src/draw/picture";`,
    resolveDir: join(here, ".."),
    loader: "ts",
  },
  bundle: true,
  write: false,
  format: "esm",
  target: "es2022",
});
const text = Buffer.from(built.outputFiles[0].contents).toString("base64");
const gv = await import(`data:text/javascript;base64,${text}`);

const say = (key) => key;
const choices = { opened: new Set(), closed: new Set() };

function storeOf(sketch) {
  const store = new gv.GraphStore();
  store.apply(gv.readBundle(JSON.stringify(sketch.bundle())).delta);
  return store;
}

function timed(work) {
  const start = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(start);
  return { result, ms: (user + system) / 1000 };
}

function inputOf(store, budget) {
  const scene = gv.buildScene(store, choices, budget);
  const labels = scene.items.map((item) => gv.labelOf(item, say, null));
  const input = gv.layoutInput(
    scene,
    (n) => gv.extentOf(scene.items[n], labels[n]),
    new Map(),
    new Map(),
    0,
  );
  return { scene, labels, input };
}

function layoutRow(name, sketch, limit) {
  const { scene, input } = inputOf(storeOf(sketch), Number.POSITIVE_INFINITY);
  const times = [0, 1, 2].map(() => timed(() => gv.layoutGraph(input)).ms);
  report(name, scene.items.length, times[0], Math.min(...times), limit);
}

function report(name, items, first, best, limit) {
  const verdict = first <= limit ? "" : "  over";
  console.log(
    `${name.padEnd(26)} ${String(items).padStart(7)} items  first ${first.toFixed(0).padStart(5)} ms  best ${best.toFixed(0).padStart(5)} ms  budget ${limit}${verdict}`,
  );
}

for (const [count, limit] of [
  [1000, 40],
  [5000, 120],
  [10_000, 250],
]) {
  layoutRow(`chain ${count}`, chain(count), limit);
}
for (const [blocks, limit] of [
  [64, 30],
  [325, 150],
  [650, 350],
]) {
  layoutRow(`residual ${blocks} blocks`, residual(blocks), limit);
}
for (const [layers, limit] of [
  [18, 40],
  [91, 200],
]) {
  layoutRow(`transformer ${layers} layers`, transformer(layers, 4), limit);
}
layoutRow("recurrent x50", recurrent(50), 120);

const sketch = chain(100_000);
const { message, buffers } = new Sender().frame(sketch.nodes, sketch.edges);
const parts = {};
const step = (name, work) => {
  const { result, ms } = timed(work);
  parts[name] = Math.round(ms);
  return result;
};
const store = new gv.GraphStore();
const delta = step("decode", () => new gv.FrameDecoder().decode(message, buffers));
step("store", () => store.apply(delta));
const { scene, labels, input } = step("scene", () => inputOf(store));
const output = step("layout", () => gv.layoutGraph(input));
step("picture", () => new gv.Picture(scene, output, labels));
const ms = Object.values(parts).reduce((sum, part) => sum + part, 0);
report("100,000 folded, to picture", scene.items.length, ms, ms, 1000);
console.log(parts);
