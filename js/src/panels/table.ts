// The same numbers as a table: for a screen reader, for copying, for those who prefer it.
import { h } from "./dom";

export interface Table {
  caption: string;
  head: string[];
  rows: string[][];
}

const MOST = 500;

export function tableOf({ caption, head, rows }: Table): HTMLElement {
  return h(
    "table.twin",
    { testid: "table" },
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
    h(
      "tbody",
      {},
      ...rows
        .slice(-MOST)
        .map((row) =>
          h(
            "tr",
            {},
            ...row.map((cell, n) =>
              n === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell),
            ),
          ),
        ),
    ),
  );
}
