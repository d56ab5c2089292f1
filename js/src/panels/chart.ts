// Small charts as SVG, which can be saved as it stands. Colours are the style sheet's tokens.
import { figure } from "../model/format";
import { h, svg } from "./dom";

export interface Curve {
  name: string;
  colour: string;
  points: [number, number | null][];
}

export interface ChartOptions {
  name: string;
  width: number;
  height?: number;
  /** Upper lines stacked on the lower ones and filled. */
  stacked?: boolean;
  logarithmic?: boolean;
  marks?: { at: number; text: string }[];
  level?: { value: number; text: string };
  format?: (value: number) => string;
}

export const COLOURS = [
  "var(--gv-leaf-line)",
  "var(--gv-grad)",
  "var(--gv-saved)",
  "var(--gv-root-line)",
  "var(--gv-leak)",
  "var(--gv-error)",
];

const LEFT = 60;
const BOTTOM = 18;
const TOP = 16;
const RIGHT = 10;
const LETTER = 7;

/** From values to places; a value that has no place there gives null. */
class Axes {
  private readonly x0: number;
  private readonly x1: number;
  private readonly low: number;
  private readonly high: number;

  constructor(
    curves: Curve[],
    private readonly options: ChartOptions,
    readonly height: number,
  ) {
    const points = curves.flatMap((curve) => curve.points);
    const values = points.map(([, value]) => this.scaled(value));
    if (options.level) values.push(this.scaled(options.level.value));
    const finite = values.filter((value): value is number => value !== null);
    [this.x0, this.x1] = rangeOf(points.map(([x]) => x));
    [this.low, this.high] = rangeOf(options.stacked ? [0, ...finite] : finite);
  }

  x(value: number): number {
    return LEFT + ((value - this.x0) / (this.x1 - this.x0)) * (this.options.width - LEFT - RIGHT);
  }

  y(value: number | null): number | null {
    const scaled = this.scaled(value);
    return scaled === null ? null : this.place(scaled);
  }

  get foot(): number {
    return this.height - BOTTOM;
  }

  ticks(): SVGElement[] {
    const { logarithmic, format = (value: number) => figure(value), width } = this.options;
    const lines = [this.low, middle(this.low, this.high), this.high].map((at) => {
      const y = this.place(at);
      const words = format(logarithmic ? 10 ** at : at);
      return svg("g", {}, rule(LEFT, y, width - RIGHT, y), label(LEFT - 6, y + 4, words, "end"));
    });
    const ends = [...new Set([this.x0, this.x1])].map((at, n) =>
      label(this.x(at), this.height - 4, figure(at), n === 0 ? "start" : "end"),
    );
    return [...lines, ...ends];
  }

  private place(scaled: number): number {
    return this.foot - ((scaled - this.low) / (this.high - this.low)) * (this.foot - TOP);
  }

  private scaled(value: number | null): number | null {
    if (value === null) return null;
    const found = this.options.logarithmic ? Math.log10(value) : value;
    return Number.isFinite(found) ? found : null;
  }
}

/** Curves over a common axis; where a value is not finite the line is broken. */
export function lineChart(curves: Curve[], options: ChartOptions): HTMLElement {
  const { name, width, height = 200, stacked } = options;
  const series = stacked ? stack(curves) : curves;
  const axes = new Axes(series, options, height);
  const drawn = series.map((curve) => (stacked ? area(curve, axes) : line(curve, axes)));
  // The lowest of a stack is drawn last, over what stands on it.
  if (stacked) drawn.reverse();
  return picture(name, width, height, [
    ...axes.ticks(),
    ...drawn,
    ...marks(options, axes),
    level(options, axes),
    ...(stacked ? moments(curves, options, axes) : []),
  ]);
}

/** Pointing at a moment of a stack tells its parts. */
function moments(curves: Curve[], options: ChartOptions, axes: Axes): SVGElement[] {
  const { format = (value: number) => figure(value) } = options;
  const places = curves[0]?.points.map(([x]) => axes.x(x)) ?? [];
  return places.map((place, n) => {
    const left = n > 0 ? (places[n - 1] + place) / 2 : LEFT;
    const right = n < places.length - 1 ? (place + places[n + 1]) / 2 : options.width - RIGHT;
    const parts = curves.map((curve) => `${curve.name}: ${format(curve.points[n]?.[1] ?? 0)}`);
    const box = { x: left, y: TOP, width: Math.max(0, right - left), height: axes.foot - TOP };
    return svg("rect", { ...box, fill: "transparent" }, svg("title", {}, parts.join("\n")));
  });
}

/** An SVG of its own, named for those who do not see it. */
export function picture(
  name: string,
  width: number,
  height: number,
  parts: (SVGElement | null)[],
  role = "img",
): HTMLElement {
  const shape = { viewBox: `0 0 ${width} ${height}`, role, "aria-label": name };
  const drawing = svg("svg", { ...shape, class: "chart" }, svg("title", {}, name), ...parts);
  return h("div.chart-at", { style: `max-width:${width}px` }, drawing);
}

export const label = (x: number, y: number, text: string, anchor = "start"): SVGElement =>
  svg("text", { x, y, "text-anchor": anchor, "font-size": 11, fill: "var(--gv-dim)" }, text);

/** What each curve is called, with its colour. */
export function key(names: { name: string; colour: string }[]): HTMLElement {
  const one = ({ name, colour }: { name: string; colour: string }) =>
    h("span", {}, h("i.key", { style: `background:${colour}` }), name);
  return h("div.memory-legend.dim", {}, ...names.map(one));
}

function rule(x1: number, y1: number, x2: number, y2: number, dashed = false): SVGElement {
  const stroke = dashed ? "var(--gv-op-line)" : "var(--gv-line)";
  return svg("line", { x1, y1, x2, y2, stroke, "stroke-dasharray": dashed && "3 3" });
}

/** A single point is a dot. */
function line(curve: Curve, axes: Axes): SVGElement {
  const [first] = curve.points;
  const y = curve.points.length === 1 ? axes.y(first[1]) : null;
  if (y !== null) return svg("circle", { cx: axes.x(first[0]), cy: y, r: 3, fill: curve.colour });
  const stroke = { stroke: curve.colour, "stroke-width": 1.6 };
  return svg("path", { d: pathOf(curve.points, axes), fill: "none", ...stroke });
}

function area(curve: Curve, axes: Axes): SVGElement {
  const [first, last] = [curve.points[0]?.[0] ?? 0, curve.points.at(-1)?.[0] ?? 0];
  const around = `L${axes.x(last)} ${axes.foot}L${axes.x(first)} ${axes.foot}Z`;
  return svg("path", { d: pathOf(curve.points, axes) + around, fill: curve.colour });
}

/** A name that would lie on the one before it is left out. */
function marks({ marks: given = [], width }: ChartOptions, axes: Axes): SVGElement[] {
  let free = Number.NEGATIVE_INFINITY;
  return given.map(({ at, text }) => {
    const place = axes.x(at);
    const wide = text.length * LETTER;
    const before = place + wide > width;
    const from = before ? place - wide : place;
    const shown = from >= free;
    if (shown) free = from + wide + 4;
    const [x, anchor] = before ? [place - 2, "end"] : [place + 2, "start"];
    const words = shown && label(x, TOP - 4, text, anchor);
    return svg("g", {}, rule(place, TOP, place, axes.foot, true), words);
  });
}

function level({ level: given, width }: ChartOptions, axes: Axes): SVGElement | null {
  const y = given ? axes.y(given.value) : null;
  if (!given || y === null) return null;
  const words = label(width - RIGHT, y - 3, given.text, "end");
  return svg("g", {}, rule(LEFT, y, width - RIGHT, y, true), words);
}

function rangeOf(values: number[]): [number, number] {
  if (values.length === 0) return [0, 1];
  const low = values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return [low, high > low ? high : low + (Math.abs(low) || 1)];
}

/** Between the two; what is as good as zero is zero. */
function middle(low: number, high: number): number {
  const half = (low + high) / 2;
  return Math.abs(half) < 1e-9 * (high - low) ? 0 : half;
}

function stack(curves: Curve[]): Curve[] {
  const sums = new Map<number, number>();
  return curves.map((curve) => ({
    ...curve,
    points: curve.points.map(([x, y]): [number, number] => {
      const sum = (sums.get(x) ?? 0) + (y ?? 0);
      sums.set(x, sum);
      return [x, sum];
    }),
  }));
}

function pathOf(points: Curve["points"], axes: Axes): string {
  let path = "";
  let drawing = false;
  for (const [x, value] of points) {
    const y = axes.y(value);
    if (y !== null) path += `${drawing ? "L" : "M"}${axes.x(x).toFixed(1)} ${y.toFixed(1)}`;
    drawing = y !== null;
  }
  return path;
}
