// Builds gradviz/static/widget.js (ES module for anywidget) and page.js (script for a self-contained page).
// `--watch` rebuilds on every change; with ANYWIDGET_HMR=1 in the kernel the open notebook reloads the widget.

import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import { catalogue } from "./tools/catalogue.mjs";
import { privateNames } from "./tools/private.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../gradviz/static");
const limit = 200_000;
const mangleProps = privateNames(join(here, "src"));
const watch = process.argv.includes("--watch");

// The layout runs here and in a worker: one function, whose own text the worker is made of.
const layoutFunction = {
  name: "layout-function",
  setup(build) {
    build.onResolve({ filter: /^layout:function$/ }, (args) => ({
      path: args.path,
      namespace: "layout",
    }));
    build.onLoad({ filter: /.*/, namespace: "layout" }, async () => {
      const result = await esbuild.build({
        absWorkingDir: here,
        entryPoints: ["src/layout/layout.ts"],
        bundle: true,
        write: false,
        minify: true,
        mangleProps,
        format: "iife",
        globalName: "layout",
        target: "es2022",
        metafile: true,
      });
      const made = `function(){${result.outputFiles[0].text};return layout.layoutGraph}`;
      const contents = `const make=${made};export const layoutGraph=make();export const layoutText=\`(${"$"}{make})()\`;`;
      const watchFiles = Object.keys(result.metafile.inputs).map((path) => join(here, path));
      return { contents, watchFiles };
    });
  },
};

const shared = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  mangleProps,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "info",
  plugins: [catalogue.esbuild, layoutFunction],
};
const bundles = [
  {
    ...shared,
    entryPoints: ["src/widgets/widget.ts"],
    outfile: join(out, "widget.js"),
    format: "esm",
  },
  {
    ...shared,
    entryPoints: ["src/widgets/page.ts"],
    outfile: join(out, "page.js"),
    format: "iife",
  },
];

mkdirSync(out, { recursive: true });
if (watch) {
  for (const options of bundles) await (await esbuild.context(options)).watch();
} else {
  for (const options of bundles) {
    await esbuild.build(options);
    const bytes = readFileSync(options.outfile);
    const zipped = gzipSync(bytes).length;
    console.log(
      `${options.outfile.slice(out.length + 1)}: ${bytes.length} bytes, ${zipped} zipped`,
    );
    if (bytes.length > limit) throw new Error(`${options.outfile} is over ${limit} bytes`);
  }
}
