import { defineConfig } from "vitest/config";
import { catalogue } from "./tools/catalogue.mjs";

// Tests run the layout where they are; its text is only needed in a browser.
const layoutHere = {
  name: "layout-function",
  enforce: "pre",
  resolveId: (id) => (id === "layout:function" ? "\0layout" : null),
  load: (id) =>
    id === "\0layout"
      ? 'export { layoutGraph } from "/src/layout/layout.ts"; export const layoutText = "";'
      : null,
};

export default defineConfig({
  plugins: [catalogue.vite, layoutHere],
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
