// One way of drawing for the screen and for a saved picture: the shapes know only this.

export interface Stroke {
  color: string;
  width: number;
  dash?: readonly number[];
}

export interface Font {
  size: number;
  color: string;
  bold?: boolean;
  align?: "left" | "center";
}

/** Curves as x0 y0, then groups of six: two control points and an end. */
export type Curve = readonly number[];

export interface Pen {
  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    fill: string | null,
    stroke: Stroke | null,
  ): void;
  circle(x: number, y: number, r: number, fill: string | null, stroke: Stroke | null): void;
  curve(points: Curve, stroke: Stroke): void;
  polygon(points: readonly number[], fill: string): void;
  polyline(points: readonly number[], stroke: Stroke): void;
  /** Diagonal lines inside a rounded rectangle. */
  hatch(x: number, y: number, w: number, h: number, r: number, color: string): void;
  text(x: number, y: number, text: string, font: Font): void;
  /** All that `draw` draws, this transparent. */
  faded(alpha: number, draw: () => void): void;
}
