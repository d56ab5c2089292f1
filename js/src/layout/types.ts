// A layout problem and its answer, in arrays that can travel to a worker.

export interface LayoutInput {
  count: number;
  /** Order of creation; every edge goes from a smaller to a larger one. */
  order: Float64Array;
  /** 1 for a leaf drawn beside the operation that uses it. */
  leaf: Uint8Array;
  /** Room each item needs on either side of its centre, in px. */
  left: Float64Array;
  right: Float64Array;
  /** Pairs source, target; the edges of one target in order of slot. */
  edges: Int32Array;
  /** Where an item already is: NaN and -1 when it is new. */
  fixedX: Float64Array;
  fixedLayer: Int32Array;
  /** Bends of an edge already drawn, else null. */
  fixedBends: (number[] | null)[];
  /** First row of the shelf that new graphs are put on. */
  shelf: number;
}

export interface LayoutOutput {
  x: Float64Array;
  layer: Int32Array;
  /** For each edge the x at every layer it crosses; null when it crosses none, or too many to route. */
  bends: (number[] | null)[];
  /** True when nothing was kept in place. */
  fresh: boolean;
  shelf: number;
}

/** Room between two neighbours in a row, and what a passing edge takes. */
export const GAP = 26;
export const LANE = 14;
/** Room between two graphs side by side. */
export const APART = 56;
/** A shelf of graphs wider than this continues on a new one below. */
export const SHELF = 9000;
