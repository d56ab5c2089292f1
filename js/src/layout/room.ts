// What is taken in each row, and where there is room.
import { GAP } from "./types";

interface Span {
  lo: number;
  hi: number;
}

/** Rows of disjoint spans, sorted. */
export class Room {
  private readonly rows = new Map<number, Span[]>();
  /** Right end of everything at or below row `from`. */
  rightFrom(from: number): number {
    let right = Number.NEGATIVE_INFINITY;
    for (const [layer, spans] of this.rows) {
      if (layer >= from && spans.length > 0) right = Math.max(right, spans[spans.length - 1].hi);
    }
    return right;
  }

  depth(): number {
    let depth = 0;
    for (const layer of this.rows.keys()) depth = Math.max(depth, layer + 1);
    return depth;
  }

  take(layer: number, lo: number, hi: number): void {
    const spans = this.rows.get(layer);
    if (!spans) {
      this.rows.set(layer, [{ lo, hi }]);
      return;
    }
    spans.splice(firstAfter(spans, lo), 0, { lo, hi });
  }

  isFree(layer: number, lo: number, hi: number, gap: number): boolean {
    const spans = this.rows.get(layer);
    if (!spans) return true;
    const at = firstAfter(spans, lo);
    const before = spans[at - 1];
    const after = spans[at];
    return (!before || before.hi + gap <= lo) && (!after || hi + gap <= after.lo);
  }

  /** The free place nearest to `wish` for something that needs `left` and `right` around its centre. */
  nearest(layer: number, wish: number, left: number, right: number, gap = GAP): number {
    const spans = this.rows.get(layer);
    if (!spans || this.isFree(layer, wish - left, wish + right, gap)) return wish;
    const blocked = spans.map((span) => ({ lo: span.lo - right - gap, hi: span.hi + left + gap }));
    return nearestOutside(blocked, wish);
  }

  /** How far a block of rows must be shifted, as near to `wish` as there is room. */
  shiftFor(block: Map<number, Span>, wish: number): number {
    const blocked: Span[] = [];
    for (const [layer, own] of block) {
      for (const span of this.rows.get(layer) ?? []) {
        blocked.push({ lo: span.lo - own.hi - GAP, hi: span.hi - own.lo + GAP });
      }
    }
    blocked.sort((a, b) => a.lo - b.lo);
    return nearestOutside(blocked, wish);
  }
}

function firstAfter(spans: Span[], lo: number): number {
  let from = 0;
  let to = spans.length;
  while (from < to) {
    const mid = (from + to) >> 1;
    if (spans[mid].lo < lo) from = mid + 1;
    else to = mid;
  }
  return from;
}

/** The point nearest to `wish` that lies inside none of the spans (sorted by their low end). */
function nearestOutside(spans: readonly Span[], wish: number): number {
  let right = wish;
  for (const span of spans) if (span.lo < right && right < span.hi) right = span.hi;
  if (right === wish) return wish;
  let left = wish;
  for (let moved = true; moved; ) {
    moved = false;
    for (let k = spans.length - 1; k >= 0; k--) {
      if (spans[k].lo < left && left < spans[k].hi) {
        left = spans[k].lo;
        moved = true;
      }
    }
  }
  return wish - left < right - wish - 0.5 ? left : right;
}
