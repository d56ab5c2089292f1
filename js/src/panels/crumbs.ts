// Where the selected node belongs: its cell and its modules; a click shows all that belongs there.
import type { NodeRow } from "../model/types";
import type { Context } from "./context";
import { h, refill } from "./dom";

export class Crumbs {
  readonly element = h("nav.crumbs", { hidden: true, testid: "crumbs" });

  /** `frame` brings all nodes that belong to the place into view. */
  constructor(
    private readonly context: Context,
    private readonly frame: (belongs: (row: NodeRow) => boolean) => void,
  ) {}

  update(row: NodeRow | undefined): void {
    const parts = row?.module ? row.module.split(".") : [];
    const cell = row && row.cell >= 0 ? row.cell : null;
    this.element.hidden = parts.length === 0;
    this.element.setAttribute("aria-label", this.context.say("crumbs.name"));
    refill(this.element, JSON.stringify([this.context.language, cell, row?.module]), () => [
      cell === null ? null : this.crumb(`In [${cell}]`, (one) => one.cell === cell),
      ...parts.map((part, n) => {
        const path = parts.slice(0, n + 1).join(".");
        const inside = (one: NodeRow) => one.module === path || one.module.startsWith(`${path}.`);
        return this.crumb(part, inside);
      }),
    ]);
  }

  private crumb(words: string, belongs: (row: NodeRow) => boolean): HTMLElement {
    const go = { class: "link", onclick: () => this.frame(belongs) };
    return h("button", go, words);
  }
}
