// The graph as it was after each cell, as far as this page has seen it.
import type { GraphStore } from "./store";

/** At most so many moments, and nodes and edges in all of them; the newest is kept in any case. */
const MOST = 24;
const MOST_ROWS = 30_000;

export class Moments {
  /** The cell after which the graph is shown; null: now. */
  at: number | null = null;
  private readonly stores = new Map<number, GraphStore>();

  get past(): GraphStore | null {
    return this.at === null ? null : (this.stores.get(this.at) ?? null);
  }

  has(cell: number): boolean {
    return this.stores.has(cell);
  }

  /** The newest cell has ended; a kernel that counts anew has another past. */
  remember(cell: number, now: GraphStore): void {
    if ([...this.stores.keys()].some((before) => before > cell)) {
      this.stores.clear();
      this.at = null;
    }
    this.stores.delete(cell);
    this.stores.set(cell, now.copy());
    let rows = 0;
    [...this.stores].reverse().forEach(([count, store], n) => {
      rows += store.size;
      const spare = n >= MOST || rows > MOST_ROWS;
      if (spare && count !== cell && count !== this.at) this.stores.delete(count);
    });
  }

  /** One moment back or forth; after the newest comes now. */
  turn(by: number): void {
    const cells = [...this.stores.keys()];
    const from = this.at === null ? cells.length - 1 : cells.indexOf(this.at);
    const to = Math.max(0, from + by);
    this.at = to < cells.length - 1 ? cells[to] : null;
  }

  go(cell: number | null): void {
    const newest = [...this.stores.keys()].at(-1);
    this.at = cell === newest ? null : cell;
  }
}
