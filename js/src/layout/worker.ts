// Lays out large graphs off the main thread.
import { layoutGraph } from "./layout";
import type { LayoutInput } from "./types";

addEventListener("message", (event: MessageEvent<{ ticket: number; input: LayoutInput }>) => {
  const { ticket, input } = event.data;
  postMessage({ ticket, output: layoutGraph(input) });
});
