import { expect, test } from "vitest";
import { say } from "../src/i18n";
import { readBundle } from "../src/protocol/bundle";
import { pageOf } from "../src/widgets/files";

test("a saved page holds its graph as inert data and its script", () => {
  const graph = {
    schema: 1,
    language: "en",
    nodes: [{ id: 1, label: "</script><b>&" }],
    edges: [],
  };
  const script = "const end = '</script>';";
  const page = pageOf(JSON.stringify(graph), { script, pageTitle: "a <b>", language: "en" });
  const data = page.match(/id="gradviz-data">([^<]*)<\/script>/)?.[1] ?? "";
  expect(readBundle(data)?.delta.nodes[0].label).toBe("</script><b>&");
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  expect(page).toContain("<title>a &lt;b&gt;</title>");
});

test("a word goes with its number", () => {
  expect([0, 1, "1", 2].map((n) => say("en", "count.all", { n }))).toEqual([
    "0 nodes",
    "1 node",
    "1 node",
    "2 nodes",
  ]);
  expect(say("zh", "count.all", { n: 1 })).toMatch(/^1/);
});
