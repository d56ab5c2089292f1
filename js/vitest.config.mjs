import { defineConfig } from "vitest/config";
import { catalogue } from "./tools/catalogue.mjs";

export default defineConfig({
  plugins: [catalogue.vite],
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});
