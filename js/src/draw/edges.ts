// Where links run: from the foot of one item to the head of the next, and gradients beside them the other way.
import type { Placement } from "../layout/engine";
import type { Link, Scene } from "../model/scene";
import { HEIGHT, PITCH } from "./label";
import type { Curve, Pen } from "./pen";
import type { Tokens } from "./tokens";

const PORT = 18;
const BESIDE = 8;
const STRAIGHT = 18;
const ARROW = 8;
/** How far the edges of a folded item stand out above it. */
export const STACK = 6;

export interface Route {
  forward: Curve;
  /** From target to source, beside the forward curve. */
  backward: Curve;
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export const rowY = (layer: number): number => layer * PITCH;

/** Routes of all links, by link. */
export function routeLinks(scene: Scene, place: Placement, widths: ArrayLike<number>): Route[] {
  const ports = assignPorts(scene, place, widths);
  return scene.links.map((link, n) =>
    link.back
      ? loop(link, place, widths)
      : run(link, n, place, ports, scene.items[link.target].members ? STACK : 0),
  );
}

interface Ports {
  out: Float64Array;
  in: Float64Array;
}

/** Links that share an end stand side by side there, in the order in which they come. */
function assignPorts(scene: Scene, place: Placement, widths: ArrayLike<number>): Ports {
  const ports = {
    out: new Float64Array(scene.links.length),
    in: new Float64Array(scene.links.length),
  };
  const heads: number[][] = scene.items.map(() => []);
  const feet: number[][] = scene.items.map(() => []);
  scene.links.forEach((link, n) => {
    if (link.back) return;
    heads[link.target].push(n);
    feet[link.source].push(n);
  });
  const last = (n: number) => place.bends[n]?.at(-1) ?? place.x[scene.links[n].source];
  const first = (n: number) => place.bends[n]?.[0] ?? place.x[scene.links[n].target];
  heads.forEach((links, item) => {
    spread(links, last, place.x[item], widths[item], PORT, ports.in);
  });
  feet.forEach((links, item) => {
    spread(links, first, place.x[item], widths[item], PORT, ports.out);
    // An only way out that nearly leads straight down does so.
    const [only] = links;
    if (links.length !== 1 || place.bends[only]) return;
    if (Math.abs(ports.in[only] - place.x[item]) <= STRAIGHT) ports.out[only] = ports.in[only];
  });
  return ports;
}

function spread(
  links: number[],
  towards: (n: number) => number,
  x: number,
  width: number,
  port: number,
  into: Float64Array,
): void {
  links.sort((a, b) => towards(a) - towards(b) || a - b);
  const step = Math.min(port, (width - 24) / Math.max(1, links.length));
  links.forEach((n, k) => {
    into[n] = x + (k - (links.length - 1) / 2) * step;
  });
}

/** `lift` is how far above its head the target already begins. */
function run(link: Link, n: number, place: Placement, ports: Ports, lift: number): Route {
  const from = { x: ports.out[n], y: rowY(place.layer[link.source]) + HEIGHT / 2 };
  const to = { x: ports.in[n], y: rowY(place.layer[link.target]) - HEIGHT / 2 - lift };
  const bends = place.bends[n] ?? [];
  const side = beside(from.x, to.x, place.x[link.target]);
  const above = place.layer[link.source];
  const forward = path(from.x, from.y, to.x, to.y, bends, above, 0.5);
  const shifted = bends.map((x) => x + side);
  // Where the way leads sideways, the gradient turns lower, or the two would lie on one another.
  const lag = 0.2 * Math.min(1, Math.abs(to.x - from.x) / 80);
  const backward = reversed(
    path(from.x + side, from.y, to.x + side, to.y, shifted, above, 0.5 + lag),
  );
  const xs = [from.x, to.x, ...bends];
  return {
    forward,
    backward,
    top: from.y,
    bottom: to.y,
    left: Math.min(...xs) - BESIDE,
    right: Math.max(...xs) + BESIDE,
  };
}

/** Gradients run on the outer side, so that the two directions of neighbours do not mix. */
function beside(from: number, to: number, middle: number): number {
  const lean = Math.abs(to - middle) > 1 ? to - middle : from - to;
  return lean > 1 ? BESIDE : -BESIDE;
}

/** `turn` is how far down, from 0 to 1, the way goes sideways. */
function path(
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  bends: readonly number[],
  above: number,
  turn: number,
): number[] {
  const points = [x0, y0];
  let [x, y] = [x0, y0];
  bends.forEach((bend, k) => {
    const middle = rowY(above + 1 + k);
    curveTo(points, x, y, bend, middle - HEIGHT / 2, turn);
    curveTo(points, bend, middle - HEIGHT / 2, bend, middle + HEIGHT / 2, 0.5);
    [x, y] = [bend, middle + HEIGHT / 2];
  });
  curveTo(points, x, y, x1, y1, turn);
  return points;
}

function curveTo(
  points: number[],
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  turn: number,
): void {
  const level = y0 + (y1 - y0) * turn;
  points.push(x0, level, x1, level, x1, y1);
}

function reversed(points: readonly number[]): number[] {
  const result: number[] = [];
  for (let k = points.length - 2; k >= 0; k -= 2) result.push(points[k], points[k + 1]);
  return result;
}

/** Back to an earlier item of a folded loop, along the right side. */
function loop(link: Link, place: Placement, widths: ArrayLike<number>): Route {
  const forward = aside(link.source, link.target, place, widths, 1);
  const [x0, y0, out, , , , x1, y1] = forward;
  const backward = reversed(forward.map((value, k) => (k % 2 === 0 ? value + BESIDE : value)));
  const [left, right] = [Math.min(x0, x1), out + BESIDE];
  return { forward, backward, top: Math.min(y0, y1), bottom: Math.max(y0, y1), left, right };
}

/** From item to item around everything between them, at the right (`side` 1) or the left (-1). */
export function aside(
  source: number,
  target: number,
  place: Placement,
  widths: ArrayLike<number>,
  side: 1 | -1,
): Curve {
  const [x0, x1] = [source, target].map((n) => place.x[n] + (side * widths[n]) / 2);
  const [y0, y1] = [source, target].map((n) => rowY(place.layer[n]));
  const far = side * Math.max(side * x0, side * x1);
  const out = far + side * (26 + Math.min(40, Math.abs(y0 - y1) / 12));
  return [x0, y0, out, y0, out, y1, x1 + side * 2, y1];
}

/** Wider for a larger gradient, by the log of its norm: 1 px up to 1e-4, 4 px from 1e2. */
export function gradientWidth(norm: number): number {
  if (!Number.isFinite(norm)) return 4;
  if (norm <= 0) return 1;
  return Math.min(4, Math.max(1, 1 + (Math.log10(norm) + 4) / 2));
}

export interface EdgeLook {
  lit: boolean;
  failed: boolean;
}

export function drawForward(pen: Pen, link: Link, route: Route, look: EdgeLook, c: Tokens): void {
  if (link.back && !look.lit) pen.faded(0.45, () => drawWay(pen, link, route, look, c));
  else drawWay(pen, link, route, look, c);
}

function drawWay(pen: Pen, link: Link, route: Route, look: EdgeLook, c: Tokens): void {
  const color = look.failed ? c.error : look.lit ? c.leafLine : c.opLine;
  const dash = link.cut ? [3, 3] : undefined;
  pen.curve(route.forward, { color, width: look.lit ? 2 : 1.5, dash });
  arrow(pen, route.forward, color);
}

export function drawBackward(pen: Pen, link: Link, route: Route, look: EdgeLook, c: Tokens): void {
  if (link.gradNorm === null) return;
  const color = look.failed ? c.error : c.grad;
  const width = gradientWidth(link.gradNorm);
  pen.curve(route.backward, { color, width, dash: [5, 4] });
  arrow(pen, route.backward, color, width);
}

export function drawOrigin(pen: Pen, way: Curve, color: string): void {
  pen.curve(way, { color, width: 1.5, dash: [1.5, 3] });
  arrow(pen, way, color);
}

function arrow(pen: Pen, points: Curve, color: string, width = 1.5): void {
  const at = points.length;
  const [x, y] = [points[at - 2], points[at - 1]];
  const [dx, dy] = [x - points[at - 4], y - points[at - 3]];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [long, half] = [ARROW + (width - 1.5) * 0.8, ARROW / 2 + (width - 1.5) * 0.5];
  const [bx, by] = [x - ux * long, y - uy * long];
  pen.polygon([x, y, bx - uy * half, by + ux * half, bx + uy * half, by - ux * half], color);
}
