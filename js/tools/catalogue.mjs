// `import texts from "catalogue:ui"` gives { en, zh }, read from gradviz/texts/<language>/ui.toml.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";

const texts = join(dirname(fileURLToPath(import.meta.url)), "../../gradviz/texts");
const file = (language) => join(texts, language, "ui.toml");
const languages = ["en", "zh"];

/** Every text of a table with its key: `["inspect.no_value", "…"]`. Also written into the module. */
const flat = (table, prefix = "") =>
  Object.entries(table).flatMap(([key, value]) =>
    typeof value === "string" ? [[prefix + key, value]] : flat(value, `${prefix}${key}.`),
  );

/** Both languages have the same keys, so they are written out once, and each table's name once. */
function moduleText() {
  const tables = languages.map((language) => parse(readFileSync(file(language), "utf8")));
  const [en, zh] = tables.map((table) => Object.fromEntries(flat(table)));
  const keys = Object.keys(en);
  const odd = [...keys, ...Object.keys(zh)].filter((key) => !(key in en && key in zh));
  if (odd.length > 0) throw new Error(`not in both languages: ${odd.join(", ")}`);
  const words = JSON.stringify(keys.map((key) => zh[key]));
  return (
    `const flat=${flat},en=flat(${JSON.stringify(tables[0])}),words=${words};` +
    "export default {en:Object.fromEntries(en),zh:Object.fromEntries(en.map(([key],n)=>[key,words[n]]))};"
  );
}

const esbuildPlugin = {
  name: "catalogue",
  setup(build) {
    build.onResolve({ filter: /^catalogue:ui$/ }, () => ({ path: "ui", namespace: "catalogue" }));
    build.onLoad({ filter: /.*/, namespace: "catalogue" }, () => ({
      contents: moduleText(),
      watchFiles: languages.map(file),
    }));
  },
};

const vitePlugin = {
  name: "catalogue",
  enforce: "pre",
  resolveId: (id) => (id === "catalogue:ui" ? "\0catalogue:ui" : null),
  load: (id) => (id === "\0catalogue:ui" ? moduleText() : null),
};

export const catalogue = { esbuild: esbuildPlugin, vite: vitePlugin };
