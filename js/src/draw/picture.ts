// A scene with its places and words: everything needed to draw it, to point at it and to save it.
import type { Placement } from "../layout/engine";
import type { Mark } from "../model/marks";
import type { Scene } from "../model/scene";
import { Flag } from "../model/types";
import { type Box, EMPTY_BOX } from "./camera";
import {
  aside,
  drawBackward,
  drawForward,
  drawOrigin,
  type Route,
  routeLinks,
  rowY,
} from "./edges";
import { HEIGHT, type Label, SMALL } from "./label";
import type { Pen } from "./pen";
import { drawItem, type Look } from "./shapes";
import { textWidth } from "./text";
import type { Tokens } from "./tokens";

/** What the legend can name; it lists those that were drawn. */
export type Sight =
  | "leaf"
  | "parameter"
  | "operation"
  | "root"
  | "second"
  | "untracked"
  | "saved"
  | "origin"
  | "freed"
  | "data"
  | "gradient"
  | "pair"
  | "cut"
  | "group"
  | "hook"
  | "retains"
  | "leak"
  | "trouble"
  | "failed"
  | "gone";

export interface Attention {
  /** Item keys. */
  selected: string;
  hovered: string;
  /** Nodes whose every drawing lights up. */
  selectedNode: number | null;
  hoveredNode: number | null;
  /** Layers that are not drawn, by key: f forward, g gradients, s saved, h hooks. */
  hidden?: ReadonlySet<string>;
  /** Whose tensors the selected node has saved. */
  origins?: readonly number[];
  /** The node that the backward pass is at, and those it pauses before. */
  running?: number | null;
  stops?: ReadonlySet<number>;
  /** Made by the line of code that the pointer is on. */
  lines?: ReadonlySet<number>;
  /** What came since the graph that it is compared with. */
  came?: ReadonlySet<number>;
  markOf(item: Scene["items"][number]): Mark;
  /** Items that have just come, and how far they have, from 0 to 1. */
  emerging?: { keys: ReadonlySet<string>; share: number };
}

export class Picture {
  readonly routes: Route[];
  readonly widths: Float64Array;
  readonly box: Box;

  constructor(
    readonly scene: Scene,
    readonly place: Placement,
    readonly labels: Label[],
  ) {
    this.widths = Float64Array.from(labels, (label) => label.width);
    this.routes = routeLinks(scene, place, this.widths);
    this.box = this.measure();
  }

  y(n: number): number {
    return rowY(this.place.layer[n]);
  }

  boxOf(n: number): Box {
    const [x, y] = [this.place.x[n], this.y(n)];
    const half = this.widths[n] / 2;
    const { note } = this.labels[n];
    const past = note ? textWidth(note, SMALL) + 9 : 0;
    return {
      left: x - half - 6,
      right: x + half + past + 6,
      top: y - HEIGHT / 2 - 8,
      bottom: y + HEIGHT / 2 + 8,
    };
  }

  /** The item at a point of the world, -1 for none. */
  hit(x: number, y: number): number {
    for (let n = 0; n < this.scene.items.length; n++) {
      const [dx, dy] = [Math.abs(x - this.place.x[n]), Math.abs(y - this.y(n))];
      if (dx <= this.widths[n] / 2 + 3 && dy <= HEIGHT / 2 + 5) return n;
    }
    return -1;
  }

  inside(seen: Box): number[] {
    const found: number[] = [];
    for (let n = 0; n < this.scene.items.length; n++) {
      const box = this.boxOf(n);
      if (overlaps(box, seen)) found.push(n);
    }
    return found;
  }

  /** With names and marks, for the screen at a readable scale and for saved pictures. */
  draw(pen: Pen, seen: Box, words: number, attention: Attention, c: Tokens): Set<Sight> {
    const sights = new Set<Sight>();
    this.drawLinks(pen, seen, attention, c, sights);
    if (!attention.hidden?.has("s")) this.drawOrigins(pen, attention, c, sights);
    this.drawPairs(pen, attention, c, sights);
    for (const n of this.inside(seen)) {
      const item = this.scene.items[n];
      const look = this.lookOf(n, words, attention);
      const draw = () => drawItem(pen, item, this.labels[n], this.place.x[n], this.y(n), look, c);
      const { emerging } = attention;
      if (emerging?.keys.has(item.key)) pen.faded(emerging.share, draw);
      else draw();
      noteSights(item, look, sights);
    }
    return sights;
  }

  private drawLinks(
    pen: Pen,
    seen: Box,
    attention: Attention,
    c: Tokens,
    sights: Set<Sight>,
  ): void {
    const { hidden } = attention;
    const backward: number[] = [];
    this.routes.forEach((route, n) => {
      if (!overlaps(route, seen)) return;
      const link = this.scene.links[n];
      if (!hidden?.has("f")) {
        const [from, to] = [this.scene.items[link.source], this.scene.items[link.target]];
        // What was saved here is overwritten there.
        const failed = (from.flags & Flag.clash) !== 0 && (to.flags & Flag.inPlace) !== 0;
        drawForward(pen, link, route, { lit: this.lit(n, attention), failed }, c);
        sights.add(link.cut ? "cut" : "data");
      }
      if (hidden?.has("g")) return;
      if (link.gradNorm !== null && (!link.back || this.lit(n, attention))) backward.push(n);
    });
    for (const n of backward) {
      const link = this.scene.links[n];
      const failed = !Number.isFinite(link.gradNorm);
      drawBackward(pen, link, this.routes[n], { lit: false, failed }, c);
      sights.add("gradient");
    }
  }

  /** Where the tensors come from that the selected node has saved. */
  private drawOrigins(pen: Pen, attention: Attention, c: Tokens, sights: Set<Sight>): void {
    const { byKey, byNode, links } = this.scene;
    const target = byKey.get(attention.selected);
    if (target === undefined) return;
    for (const id of attention.origins ?? []) {
      const drawn = byNode.get(id) ?? [];
      const feeds = (n: number) => links.some((one) => one.source === n && one.target === target);
      const source: number | undefined = drawn.find(feeds) ?? drawn[0];
      if (source === undefined || source === target) continue;
      drawOrigin(pen, aside(source, target, this.place, this.widths, -1), c.saved);
      sights.add("origin");
    }
  }

  /** From the selected node to what its backward recorded, or back to the node that recorded it. */
  private drawPairs(pen: Pen, attention: Attention, c: Tokens, sights: Set<Sight>): void {
    const { items } = this.scene;
    const id = attention.selectedNode;
    const at = this.scene.byKey.get(attention.selected);
    if (at === undefined || id === null) return;
    const { creator } = items[at].row;
    items.forEach(({ row }, n) => {
      const paired = row.creator === id || (creator >= 0 && row.id === creator);
      if (n === at || !paired) return;
      const [from, to] = row.creator === id ? [at, n] : [n, at];
      drawOrigin(pen, aside(from, to, this.place, this.widths, 1), c.grad);
      sights.add("pair");
    });
  }

  private lit(n: number, attention: Attention): boolean {
    const { source, target } = this.scene.links[n];
    const keys = [this.scene.items[source].key, this.scene.items[target].key];
    return attention.selected !== "" && keys.includes(attention.selected);
  }

  private lookOf(n: number, words: number, attention: Attention): Look {
    const item = this.scene.items[n];
    const { id } = item.row;
    const selected = item.key === attention.selected;
    const { lines } = attention;
    const ofLine = (id: number) => lines?.has(id) ?? false;
    const hovered =
      item.key === attention.hovered || (lines?.size ? (item.members ?? [id]).some(ofLine) : false);
    const many = (this.scene.byNode.get(item.row.id)?.length ?? 0) > 1;
    const pointed = item.row.id === attention.selectedNode || item.row.id === attention.hoveredNode;
    const mark = attention.markOf(item);
    const running =
      attention.running === id || (item.members?.includes(attention.running ?? -1) ?? false);
    const came = attention.came?.has(id) ?? false;
    const stop = attention.stops?.has(id) ?? false;
    const saved = !attention.hidden?.has("s");
    const hooks = !attention.hidden?.has("h");
    const twin = many && pointed;
    return { selected, hovered, running, stop, came, twin, mark, words, saved, hooks };
  }

  around(items: Iterable<number>): Box {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const n of items) widen(box, this.boxOf(n));
    return box;
  }

  private measure(): Box {
    const box = this.around(this.scene.items.keys());
    for (const route of this.routes) {
      box.left = Math.min(box.left, route.left);
      box.right = Math.max(box.right, route.right);
    }
    return this.scene.items.length > 0 ? box : EMPTY_BOX;
  }
}

const overlaps = (a: Box, b: Box): boolean =>
  a.left <= b.right && a.right >= b.left && a.top <= b.bottom && a.bottom >= b.top;

function widen(box: Box, by: Box): void {
  box.left = Math.min(box.left, by.left);
  box.right = Math.max(box.right, by.right);
  box.top = Math.min(box.top, by.top);
  box.bottom = Math.max(box.bottom, by.bottom);
}

function noteSights(item: Scene["items"][number], look: Look, sights: Set<Sight>): void {
  if (item.flags & Flag.cut) sights.add("cut");
  else if (item.row.kind !== "operation") sights.add(item.row.kind);
  else sights.add(item.flags & Flag.root ? "root" : "operation");
  if (item.row.creator >= 0) sights.add("second");
  if (look.saved && item.savedAlive > 0) sights.add("saved");
  if (look.saved && item.savedAlive < item.savedTotal) sights.add("freed");
  if (item.members) sights.add("group");
  if (look.hooks && item.hooks > 0) sights.add("hook");
  if (item.flags & Flag.retainsGrad && item.row.kind === "operation") sights.add("retains");
  if (item.flags & Flag.failed) sights.add("failed");
  if (look.mark) sights.add(look.mark);
  if (!(item.flags & Flag.alive)) sights.add("gone");
}
