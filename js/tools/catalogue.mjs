// `import texts from "catalogue:ui"` gives { en, zh }, read from gradviz/texts/<language>/ui.toml.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";

const texts = join(dirname(fileURLToPath(import.meta.url)), "../../gradviz/texts");
const file = (language) => join(texts, language, "ui.toml");
const languages = ["en", "zh"];

function flatten(table, prefix, into) {
  for (const [key, value] of Object.entries(table)) {
    if (typeof value === "string") into[prefix + key] = value;
    else flatten(value, `${prefix}${key}.`, into);
  }
  return into;
}

/** Both languages have the same keys, so they are written out once. */
function moduleText() {
  const [en, zh] = languages.map((language) =>
    flatten(parse(readFileSync(file(language), "utf8")), "", {}),
  );
  const keys = Object.keys(en);
  const odd = [...keys, ...Object.keys(zh)].filter((key) => !(key in en && key in zh));
  if (odd.length > 0) throw new Error(`not in both languages: ${odd.join(", ")}`);
  const words = JSON.stringify(keys.map((key) => zh[key]));
  return (
    `const en=${JSON.stringify(en)},words=${words};` +
    "export default {en,zh:Object.fromEntries(Object.keys(en).map((key,n)=>[key,words[n]]))};"
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
