import { defineConfig } from "vitest/config";
import { catalogue } from "./tools/catalogue.mjs";

// Tests run the layout where they are; the worker's text is only needed in a browser.
const noWorker = {
  name: "no-worker",
  enforce: "pre",
  resolveId: (id) => (id.startsWith("worker-text:") ? "\0worker-text" : null),
  load: (id) => (id === "\0worker-text" ? 'export default "";' : null),
};

export default defineConfig({
  plugins: [catalogue.vite, noWorker],
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
