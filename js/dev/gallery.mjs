// Writes self-contained pages of made-up graphs: `node dev/gallery.mjs FOLDER`. Build the bundle first.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as scenes from "./scenes.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];
if (!folder) throw new Error("usage: node dev/gallery.mjs FOLDER");
const script = readFileSync(join(here, "../../gradviz/static/page.js"), "utf8");

const pages = {
  network: scenes.network(),
  regression: scenes.regression(),
  chain: scenes.chain(5000),
  recurrent: scenes.recurrent(50),
  worker: scenes.recurrent(20),
  residual: scenes.residual(6),
  transformer: scenes.transformer(3, 4),
  marks: scenes.marks(),
  hostile: scenes.hostile(),
  empty: new scenes.Sketch(1),
};

const inert = (json) => json.replaceAll("<", "\\u003c");

mkdirSync(folder, { recursive: true });
for (const [name, sketch] of Object.entries(pages)) {
  const data = inert(JSON.stringify(sketch.bundle()));
  writeFileSync(
    join(folder, `${name}.html`),
    `<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${name}</title><style>body{margin:0}</style></head><body><div id="gradviz"></div><script type="application/json" id="gradviz-data">${data}</script><script>${script.replaceAll("</script", "<\\/script")}</script></body></html>`,
  );
}
console.log(`${Object.keys(pages).length} pages in ${folder}`);
