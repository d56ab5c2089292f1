// What is written on and beside an item, and how much room that takes.
import { bytes, figure } from "../model/format";
import { type Item, isRoot, requiresGrad } from "../model/scene";
import { Flag } from "../model/types";
import { plain, shorten, textWidth } from "./text";

export const NAME = 12;
export const SMALL = 11;
export const HEIGHT = 44;
export const PITCH = 70;

const MOST_TITLE = 210;
const PAD = 14;
/** Room kept for a name that an operation does not have yet: names are known when the cell ends. */
const NAME_TO_COME = 44;
const LEAST = 84;
/** Room kept for a gradient that comes later. */
const GRADIENT = textWidth(" · ‖∂‖ 1.23e-5", SMALL);

export type Say = (key: string, fields?: Record<string, string | number>) => string;

export interface Label {
  /** The person's own name, or "" while there is none. */
  title: string;
  /** The title is only what kind of thing it is: nobody named it. */
  generic: boolean;
  /** Second: the name of the operation. */
  op: string;
  /** Shape, of a scalar its value when known; then its gradient. */
  sub: string;
  /** Beside the item: where it was cut. */
  note: string;
  /** Its gradient is NaN or infinite. */
  bad: boolean;
  width: number;
}

export function labelOf(item: Item, say: Say, value: number | null): Label {
  const operation = item.row.kind === "operation";
  const title = shorten(plain(titleOf(item, say)), NAME, MOST_TITLE);
  const op = operation && !/^[cmw]:/.test(item.key) ? plain(item.row.op.split("::").at(-1)!) : "";
  const second = shorten(op, NAME, MOST_TITLE - Math.min(60, textWidth(title, NAME)));
  const size = subOf(item, value, say);
  const gradient = gradientOf(item, say);
  const sub = size && gradient ? `${size} · ${gradient}` : size || gradient;
  const first = textWidth(title, NAME) + (title && second ? 8 : 0) + textWidth(second, NAME);
  const saved = Math.min(item.savedTotal, 6) * 12;
  const awaits = isLeafOfItsOwn(item) || (item.flags & Flag.retainsGrad) !== 0;
  const come = awaits ? textWidth(size, SMALL) + GRADIENT : 0;
  const inner = Math.max(first, textWidth(sub, SMALL), come, saved + 10);
  const pad = operation ? PAD + 4 : PAD;
  const width = Math.max(LEAST, Math.ceil((inner + 2 * pad) / 2) * 2);
  const bad = noted(item) && !Number.isFinite(item.row.gradNorm ?? 0);
  return {
    title,
    generic: item.title === "",
    op: second,
    sub,
    note: noteOf(item, say),
    bad,
    width,
  };
}

function titleOf(item: Item, say: Say): string {
  if (item.key.startsWith("w:")) return say("graph.earlier");
  if (item.title !== "" || item.row.kind === "operation") return item.title;
  if (isPlace(item)) return say(`cut.${item.row.op}`);
  return say(`kind.${item.row.kind}`);
}

/** No tensor: a place where a value left the graph, or where an operation failed. */
const isPlace = (item: Item): boolean => item.row.id < 0 && item.row.dtype === "";

function subOf(item: Item, value: number | null, say: Say): string {
  if (isPlace(item)) return "";
  const shape = plain(item.row.shape);
  if (item.members) {
    const n = item.members.length;
    const times = item.turn > 0 ? `#${item.turn}` : say("graph.times", { n });
    return shape && !/^[cmw]:/.test(item.key) ? `${times} · ${shape}` : times;
  }
  const word = item.flags & Flag.clash ? "clash" : item.flags & Flag.inPlace ? "in_place" : "";
  const changed = word && ` · ${say(`graph.${word}`)}`;
  const version = (item.row.version > 0 ? ` · v${item.row.version}` : "") + changed;
  if (value !== null && shape === "()") return `= ${figure(value)}${version}`;
  return shorten(shape, SMALL, MOST_TITLE) + version;
}

function noteOf(item: Item, say: Say): string {
  if (!(item.flags & Flag.cut)) return "";
  const { cell, line, op } = item.row;
  const how = say(`cut.${op}`);
  if (isPlace(item)) return cell >= 0 ? `In [${cell}]:${line}` : "";
  return cell >= 0 ? say("graph.cut_at", { how, place: `In [${cell}]:${line}` }) : how;
}

/** That of a leaf is told once, in its first drawing, so that nobody adds them up. */
function gradientOf(item: Item, say: Say): string {
  if (!noted(item)) return isLeafOfItsOwn(item) ? say("graph.same_leaf") : "";
  const norm = item.row.gradNorm;
  if (norm === null) return say("graph.grad_none");
  return say(Number.isFinite(norm) ? "graph.grad_norm" : "graph.grad_bad", { norm: figure(norm) });
}

/** A single leaf to which gradients flow. */
const isLeafOfItsOwn = (item: Item): boolean =>
  item.row.kind !== "operation" && !item.members && requiresGrad(item) && !(item.flags & Flag.cut);

/** Whether its gradient is told. */
function noted(item: Item): boolean {
  if (item.row.kind !== "operation") return isLeafOfItsOwn(item) && !item.again;
  if (item.flags & Flag.cut || item.members) return false;
  return (item.flags & Flag.retainsGrad) !== 0 && item.row.gradNorm !== null;
}

/** Room the layout keeps, so that neither a name nor a gradient that comes later moves anything. */
export function extentOf(item: Item, label: Label): { left: number; right: number } {
  const unnamed = item.row.kind === "operation" && label.title === "" && !item.members;
  const half = label.width / 2 + (unnamed ? NAME_TO_COME / 2 : 0) + 5;
  const note = label.note ? textWidth(label.note, SMALL) : 0;
  const loop = item.members ? 30 : 0;
  return { left: half, right: half + (note > 0 ? note + 8 : loop) };
}

/** One line for a screen reader, or for a person who points at an item. */
export function spoken(item: Item, say: Say): string {
  const { row } = item;
  const parts = [item.title || row.op, item.title ? row.op : "", row.shape, row.dtype];
  if (isRoot(item)) parts.push(say("legend.root"));
  if (item.members) parts.push(say("graph.times", { n: item.members.length }));
  if (row.bytes > 0) parts.push(bytes(row.bytes));
  return parts.filter((part) => part !== "").join(" · ");
}
