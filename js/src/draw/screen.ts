// The canvas: draws what the camera sees, with less detail the smaller it gets.

import { Flag } from "../model/types";
import type { Camera } from "./camera";
import { CanvasPen, trace } from "./canvas-pen";
import { HEIGHT } from "./label";
import type { Attention, Picture, Sight } from "./picture";
import { styleOf } from "./shapes";
import type { Tokens } from "./tokens";

/** Below the first scale only blocks and lines, from the second names, from the third everything. */
const SHAPES_FROM = 0.26;
const NAMES_FROM = 0.46;
const ALL_FROM = 0.53;

export function paint(
  to: CanvasRenderingContext2D,
  ratio: number,
  camera: Camera,
  picture: Picture,
  attention: Attention,
  c: Tokens,
): Set<Sight> {
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.fillStyle = c.bg;
  to.fillRect(0, 0, camera.width, camera.height);
  to.setTransform(camera.k * ratio, 0, 0, camera.k * ratio, camera.x * ratio, camera.y * ratio);
  if (camera.k < SHAPES_FROM) return paintBlocks(to, camera, picture, attention, c);
  const words = camera.k < NAMES_FROM ? 0 : camera.k < ALL_FROM ? 1 : 2;
  return picture.draw(new CanvasPen(to), camera.seen(), words, attention, c);
}

/** Far away: one path for all lines, one for the blocks of each colour. */
function paintBlocks(
  to: CanvasRenderingContext2D,
  camera: Camera,
  picture: Picture,
  attention: Attention,
  c: Tokens,
): Set<Sight> {
  const seen = camera.seen();
  const sights = new Set<Sight>();
  to.setLineDash([]);
  to.lineWidth = 1 / camera.k;
  to.strokeStyle = c.opLine;
  to.beginPath();
  for (const route of picture.routes) {
    if (route.bottom < seen.top || route.top > seen.bottom) continue;
    if (route.right < seen.left || route.left > seen.right) continue;
    trace(to, route.forward);
    sights.add("data");
  }
  to.stroke();
  const blocks = new Map<string, Path2D>();
  for (const n of picture.inside(seen)) {
    const item = picture.scene.items[n];
    const mark = attention.markOf(item);
    const chosen = item.key === attention.selected || item.row.id === attention.selectedNode;
    const color = mark === "leak" ? c.leak : chosen ? c.leafLine : styleOf(item, c).stroke.color;
    let path = blocks.get(color);
    if (!path) {
      path = new Path2D();
      blocks.set(color, path);
    }
    const w = picture.widths[n];
    path.rect(picture.place.x[n] - w / 2, picture.y(n) - HEIGHT / 2, w, HEIGHT);
    sights.add(item.row.kind === "operation" && item.flags & Flag.root ? "root" : item.row.kind);
    if (mark === "leak") sights.add("leak");
  }
  for (const [color, path] of blocks) {
    to.fillStyle = color;
    to.fill(path);
  }
  return sights;
}

/** The whole picture in a corner, with a frame around what the camera sees. */
export function paintMap(
  to: CanvasRenderingContext2D,
  ratio: number,
  size: { width: number; height: number },
  camera: Camera,
  picture: Picture,
  c: Tokens,
): void {
  const fit = mapFit(size, picture);
  to.setTransform(ratio, 0, 0, ratio, 0, 0);
  to.fillStyle = c.panel;
  to.fillRect(0, 0, size.width, size.height);
  to.fillStyle = c.opLine;
  for (let n = 0; n < picture.scene.items.length; n++) {
    const w = Math.max(1.5, picture.widths[n] * fit.k);
    const h = Math.max(1.5, HEIGHT * fit.k);
    to.fillRect(
      picture.place.x[n] * fit.k + fit.x - w / 2,
      picture.y(n) * fit.k + fit.y - h / 2,
      w,
      h,
    );
  }
  const seen = camera.seen();
  to.strokeStyle = c.leafLine;
  to.lineWidth = 1;
  const left = Math.max(0.5, seen.left * fit.k + fit.x);
  const top = Math.max(0.5, seen.top * fit.k + fit.y);
  const right = Math.min(size.width - 0.5, seen.right * fit.k + fit.x);
  const bottom = Math.min(size.height - 0.5, seen.bottom * fit.k + fit.y);
  to.strokeRect(left, top, Math.max(3, right - left), Math.max(3, bottom - top));
}

export function mapFit(size: { width: number; height: number }, picture: Picture) {
  const { left, top, right, bottom } = picture.box;
  const k = Math.min(
    (size.width - 8) / (right - left || 1),
    (size.height - 8) / (bottom - top || 1),
  );
  const x = size.width / 2 - ((left + right) / 2) * k;
  const y = size.height / 2 - ((top + bottom) / 2) * k;
  return { k, x, y };
}
