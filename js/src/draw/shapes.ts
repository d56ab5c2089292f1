// One item: its shape says what it is, its marks what state it is in.
import type { Mark } from "../model/marks";
import { type Item, isRoot } from "../model/scene";
import { Flag } from "../model/types";
import { STACK } from "./edges";
import { HEIGHT, type Label, NAME, SMALL } from "./label";
import type { Pen, Stroke } from "./pen";
import { textWidth } from "./text";
import type { Tokens } from "./tokens";

export interface Look {
  selected: boolean;
  /** Another drawing of the node that is selected or pointed at. */
  twin: boolean;
  hovered: boolean;
  /** The backward pass is here, or is to pause before it. */
  running: boolean;
  stop: boolean;
  /** It was not in the graph that this one is compared with. */
  came: boolean;
  mark: Mark;
  /** 0 shapes only, 1 with names, 2 with everything. */
  words: number;
  /** Whether the squares of saved tensors and the badge of hooks are drawn. */
  saved: boolean;
  hooks: boolean;
}

export function drawItem(
  pen: Pen,
  item: Item,
  label: Label,
  x: number,
  y: number,
  look: Look,
  c: Tokens,
): void {
  const faded = item.absent || !(item.flags & Flag.alive);
  if (faded) pen.faded(item.absent ? 0.3 : 0.55, () => drawAll(pen, item, label, x, y, look, c));
  else drawAll(pen, item, label, x, y, look, c);
}

function drawAll(
  pen: Pen,
  item: Item,
  label: Label,
  x: number,
  y: number,
  look: Look,
  c: Tokens,
): void {
  const w = label.width;
  const [left, top] = [x - w / 2, y - HEIGHT / 2];
  const radius = item.row.kind === "operation" ? HEIGHT / 2 : 7;
  halo(pen, left, top, w, radius, look, c);
  if (item.members) stack(pen, left, top, w, radius, item, c);
  body(pen, item, left, top, w, radius, look, c);
  if (look.words > 0) words(pen, item, label, left, top, look, c);
  if (look.words < 2) return;
  if (look.saved) savedSquares(pen, item, left, top, c);
  if (look.hooks && item.hooks > 0) hookBadge(pen, item, left, top, radius, c);
  badge(pen, item, left + w, top, look, c);
  if (item.flags & Flag.cut) scissors(pen, left, top, c);
  if (look.stop) pen.circle(left + 3, y, 5, c.error, { color: c.bg, width: 1.5 });
  if (item.loops) loopMark(pen, left + w, y, c);
}

function halo(pen: Pen, x: number, y: number, w: number, r: number, look: Look, c: Tokens): void {
  const color =
    look.mark === "leak" ? c.leak : look.twin ? c.leafLine : look.came ? c.rootLine : null;
  if (!color) return;
  pen.faded(0.35, () =>
    pen.rect(x - 5, y - 5, w + 10, HEIGHT + 10, r + 5, null, { color, width: 5 }),
  );
}

/** Two edges behind: several nodes in one. */
function stack(pen: Pen, x: number, y: number, w: number, r: number, item: Item, c: Tokens): void {
  const style = styleOf(item, c);
  for (const step of [STACK, STACK / 2]) {
    pen.rect(x + step, y - step, w, HEIGHT, r, c.bg, { ...style.stroke, width: 1 });
  }
}

function body(
  pen: Pen,
  item: Item,
  x: number,
  y: number,
  w: number,
  r: number,
  look: Look,
  c: Tokens,
): void {
  const style = styleOf(item, c);
  const stroke: Stroke = look.running
    ? { color: c.grad, width: 3 }
    : look.selected
      ? { color: c.leafLine, width: 3 }
      : look.hovered
        ? { ...style.stroke, color: c.grad, width: 2.2 }
        : style.stroke;
  pen.rect(x, y, w, HEIGHT, r, style.fill, stroke);
  if (item.flags & Flag.freed && item.row.kind === "operation") {
    pen.faded(0.28, () => pen.hatch(x, y, w, HEIGHT, r, c.opLine));
  }
  if (item.flags & Flag.retainsGrad && item.row.kind === "operation") {
    pen.rect(x + 3, y + 3, w - 6, HEIGHT - 6, r - 3, null, { color: c.leafLine, width: 1 });
  }
  if (item.row.kind === "parameter") {
    pen.polygon([x + 1, y + 3, x + 1, y + 12, x + 10, y + 1, x + 3, y + 1], c.leafLine);
  }
}

export function styleOf(item: Item, c: Tokens): { fill: string; stroke: Stroke } {
  if (item.flags & Flag.failed) {
    return {
      fill: item.row.kind === "operation" ? c.op : c.leaf,
      stroke: { color: c.error, width: 2.2 },
    };
  }
  if (item.flags & Flag.cut || item.row.kind === "untracked") {
    return { fill: c.bg, stroke: { color: c.opLine, width: 1.2, dash: [4, 3] } };
  }
  if (isRoot(item)) return { fill: c.root, stroke: { color: c.rootLine, width: 2.2 } };
  if (item.row.creator >= 0) return { fill: c.op, stroke: { color: c.grad, width: 1.5 } };
  if (item.row.kind === "operation") return { fill: c.op, stroke: { color: c.opLine, width: 1 } };
  return { fill: c.leaf, stroke: { color: c.leafLine, width: 1.5 } };
}

function words(
  pen: Pen,
  item: Item,
  label: Label,
  left: number,
  top: number,
  look: Look,
  c: Tokens,
): void {
  const middle = left + label.width / 2;
  const gap = label.title && label.op ? 8 : 0;
  const first = textWidth(label.title, NAME);
  const start = middle - (first + gap + textWidth(label.op, NAME)) / 2;
  const both = label.sub !== "" && look.words > 1;
  const line = top + (both ? 19 : 26);
  if (label.title)
    pen.text(start, line, label.title, {
      size: NAME,
      color: label.generic ? c.dim : c.text,
      bold: !label.generic,
    });
  if (label.op) {
    const color = label.title ? c.dim : c.text;
    pen.text(start + first + gap, line, label.op, { size: NAME, color });
  }
  if (look.words < 2) return;
  if (both) {
    const color = label.bad ? c.error : c.dim;
    pen.text(middle, top + 34, label.sub, { size: SMALL, color, align: "center" });
  }
  if (label.note) {
    const past = item.loops ? 30 : look.mark || look.twin ? 14 : 9;
    pen.text(left + label.width + past, top + HEIGHT / 2 + 4, label.note, {
      size: SMALL,
      color: c.dim,
    });
  }
}

const SQUARE = 8;
const MOST_SQUARES = 5;

/** Filled while the saved tensor is there, hollow once it is freed. */
function savedSquares(pen: Pen, item: Item, left: number, top: number, c: Tokens): void {
  const total = item.savedTotal;
  if (total === 0) return;
  const shown = Math.min(total, MOST_SQUARES);
  const alive =
    total <= MOST_SQUARES ? item.savedAlive : Math.ceil((item.savedAlive / total) * shown);
  const y = top + HEIGHT - SQUARE / 2;
  const inset = item.row.kind === "operation" ? 16 : 8;
  for (let k = 0; k < shown; k++) {
    const x = left + inset + k * (SQUARE + 3);
    const fill = k < alive ? c.saved : c.bg;
    pen.rect(x, y, SQUARE, SQUARE, 2, fill, { color: c.saved, width: 1.2 });
  }
  if (total > shown) {
    const x = left + inset + shown * (SQUARE + 3) + 1;
    pen.text(x, top + HEIGHT + 9, `+${total - shown}`, { size: 11, color: c.dim });
  }
}

function hookBadge(pen: Pen, item: Item, left: number, top: number, r: number, c: Tokens): void {
  const w = item.hooks > 1 ? 24 : 15;
  const [x, y] = [left + Math.min(r, 18), top - 7];
  pen.rect(x, y, w, 14, 4, c.bg, { color: c.leafLine, width: 1 });
  pen.polyline([x + 9, y + 2.5, x + 5.5, y + 7.5, x + 9.5, y + 7, x + 6, y + 11.5], {
    color: c.leafLine,
    width: 1.4,
  });
  if (item.hooks > 1)
    pen.text(x + 13, y + 10.5, String(Math.min(99, item.hooks)), { size: 11, color: c.text });
}

function badge(pen: Pen, item: Item, right: number, top: number, look: Look, c: Tokens): void {
  const failed = (item.flags & Flag.failed) !== 0;
  if (!failed && !look.mark) return;
  const color = failed || look.mark === "trouble" ? c.error : c.leak;
  const [x, y] = [right - 4, top + 1];
  pen.circle(x, y, 9, color, { color: c.bg, width: 1.5 });
  if (failed) {
    pen.polyline([x - 3.2, y - 3.2, x + 3.2, y + 3.2], { color: c.bg, width: 2 });
    pen.polyline([x + 3.2, y - 3.2, x - 3.2, y + 3.2], { color: c.bg, width: 2 });
  } else {
    pen.rect(x - 1, y - 5, 2, 6, 1, c.bg, null);
    pen.circle(x, y + 4, 1.2, c.bg, null);
  }
}

/** Here a value left the graph. */
function scissors(pen: Pen, x: number, y: number, c: Tokens): void {
  const stroke = { color: c.dim, width: 1.4 };
  pen.rect(x - 9, y - 8, 18, 16, 4, c.bg, null);
  pen.circle(x - 4, y + 3.5, 2.3, null, stroke);
  pen.circle(x + 4, y + 3.5, 2.3, null, stroke);
  pen.polyline([x - 2.6, y + 1.6, x + 4, y - 6], stroke);
  pen.polyline([x + 2.6, y + 1.6, x - 4, y - 6], stroke);
}

/** An arrow that leaves and comes back: what is folded here feeds itself. */
function loopMark(pen: Pen, x: number, y: number, c: Tokens): void {
  const stroke = { color: c.opLine, width: 1.5 };
  pen.curve([x, y + 9, x + 24, y + 14, x + 24, y - 14, x + 3, y - 9], stroke);
  pen.polygon([x + 1, y - 9, x + 9, y - 13, x + 8, y - 5], c.opLine);
}
