// The graph for a screen reader: the nodes in view as a list of buttons, drawn nowhere.
import { spoken } from "../draw/label";
import type { Picture } from "../draw/picture";
import type { Item, Scene } from "../model/scene";
import { Flag } from "../model/types";
import type { Context } from "./context";
import { h } from "./dom";

const MOST = 300;

export class NodeList {
  readonly element = h("ul.unseen", {});
  private readonly rows = new Map<number, HTMLElement>();

  constructor(
    private readonly context: Context,
    private readonly leaks: (item: Item) => boolean,
  ) {}

  /** All items of a small picture, those in view of a large one. */
  update(picture: Picture, inView: () => number[]): void {
    const { scene } = picture;
    const items = scene.items.length <= MOST ? scene.items.keys() : inView().slice(0, MOST);
    const seen = new Set<number>();
    const chosen: Item[] = [];
    for (const n of items) {
      const item = scene.items[n];
      if (seen.has(item.row.id)) continue;
      seen.add(item.row.id);
      chosen.push(item);
    }
    this.element.setAttribute("aria-label", this.context.say("graph.list"));
    const rows = chosen.map((item) => this.entry(item, scene));
    const kept = new Set(rows);
    for (const [id, row] of this.rows) {
      if (kept.has(row)) continue;
      row.remove();
      if (!seen.has(id)) this.rows.delete(id);
    }
    rows.forEach((row, n) => {
      if (this.element.children[n] !== row)
        this.element.insertBefore(row, this.element.children[n]);
    });
  }

  clear(): void {
    this.rows.clear();
    this.element.replaceChildren();
  }

  private entry(item: Item, scene: Scene): HTMLElement {
    const button = this.button(item, scene);
    const known = this.rows.get(item.row.id);
    if (known?.firstElementChild?.isEqualNode(button)) return known;
    const row = h("li", {}, button);
    this.rows.set(item.row.id, row);
    known?.remove();
    return row;
  }

  private button(item: Item, scene: Scene): HTMLElement {
    const { row } = item;
    return h(
      "button",
      {
        tabindex: -1,
        "data-node-id": row.id,
        "data-kind": row.kind,
        "data-label": row.label,
        "data-op": row.op,
        "data-grad": row.gradNorm === null ? "" : String(row.gradNorm),
        "data-leak": String(this.leaks(item)),
        "data-freed": String((item.flags & Flag.freed) !== 0),
        "data-count": item.members?.length ?? 1,
        "data-uses": scene.byNode.get(row.id)?.length ?? 1,
        onclick: () => this.context.show(row.id),
      },
      spoken(item, this.context.say),
    );
  }
}
