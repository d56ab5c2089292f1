// Bytes that graphs hold after each cell, by what they are.
import { bytes } from "../model/format";
import { COLOURS, withLeaks } from "../model/memory";
import type { CellMemory } from "../model/types";
import type { Context } from "./context";
import { h, refill } from "./dom";

const MOST_CELLS = 48;
const HEIGHT = 40;

export class Memory {
  readonly element = h("section.memory", { testid: "memory" });

  constructor(private readonly context: Context) {}

  update(): void {
    const { say, store, language, now = store, moments } = this.context;
    const cells = now.status.cells
      .slice(-MOST_CELLS)
      .map((cell) => ({ ...cell, bytes: withLeaks(cell.bytes) }));
    const most = cells.reduce((top, cell) => Math.max(top, total(cell)), 0);
    this.element.hidden = most === 0;
    if (most === 0) return;
    this.element.setAttribute("aria-label", say("memory.name"));
    const present = partsOf(...cells);
    const seen = cells.map((cell) => moments?.has(cell.count) ?? false);
    refill(this.element, JSON.stringify([language, cells, seen, moments?.at]), () => [
      h("div.bars", {}, ...cells.map((cell) => this.bar(cell, most))),
      h(
        "div.memory-legend.dim",
        {},
        h("span", {}, say("memory.name")),
        ...present.map((part) =>
          h("span", {}, h("i.key", { style: paint(part) }), say(`memory.${part}`)),
        ),
        h("span.space", {}),
        h("span", {}, say("memory.most", { bytes: bytes(most) })),
      ),
    ]);
  }

  private bar(cell: CellMemory, most: number): HTMLElement {
    const { say } = this.context;
    const name = say("memory.cell", { cell: cell.count });
    const parts = partsOf(cell);
    const words = parts.map((part) => `${say(`memory.${part}`)} ${bytes(cell.bytes[part])}`);
    const bar = h("span.bar", {
      title: [name, ...words].join("\n"),
      "data-cell": cell.count,
    });
    for (const part of [...parts].reverse()) {
      const height = Math.max(1, (cell.bytes[part] / most) * HEIGHT);
      bar.append(h("i", { style: `${paint(part)};height:${height.toFixed(1)}px` }));
    }
    const content = [bar, h("small", {}, String(cell.count))];
    const { moments, travel } = this.context;
    if (!travel || !moments?.has(cell.count)) return h("span.cell", {}, ...content);
    return h(
      "button.cell",
      {
        testid: `moment-${cell.count}`,
        "aria-label": say("time.go", { cell: cell.count }),
        "aria-pressed": String(moments.at === cell.count),
        onclick: () => travel(cell.count),
      },
      ...content,
    );
  }
}

const total = (cell: CellMemory): number =>
  Object.values(cell.bytes).reduce((sum, part) => sum + part, 0);

/** The kinds that are there in one of the cells. */
const partsOf = (...cells: CellMemory[]): string[] =>
  Object.keys(cells[0].bytes).filter((part) => cells.some((cell) => cell.bytes[part] > 0));

const paint = (part: string): string => `background:${COLOURS[part]}`;
