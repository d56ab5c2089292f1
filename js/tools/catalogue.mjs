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

function moduleText() {
  const all = languages.map((language) => [
    language,
    flatten(parse(readFileSync(file(language), "utf8")), "", {}),
  ]);
  return `export default ${JSON.stringify(Object.fromEntries(all))};`;
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
