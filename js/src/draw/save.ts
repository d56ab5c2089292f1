// The picture as a file.
import { CanvasPen } from "./canvas-pen";
import type { Attention, Picture } from "./picture";
import { SvgPen } from "./svg-pen";
import type { Tokens } from "./tokens";

export const MARGIN = 24;
const MOST_PIXELS = 8000;

/** Without what only the screen shows. */
export const bare = (attention: Attention): Attention => ({
  ...attention,
  selected: "",
  hovered: "",
  selectedNode: null,
  hoveredNode: null,
  lines: undefined,
  emerging: undefined,
});

export function toSvg(picture: Picture, attention: Attention, c: Tokens, title: string): string {
  const pen = new SvgPen();
  picture.draw(pen, picture.box, 2, bare(attention), c);
  const { left, top, right, bottom } = picture.box;
  const [w, h] = [right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
  return pen.finish(left - MARGIN, top - MARGIN, w, h, c.bg, title);
}

export function toCanvas(picture: Picture, attention: Attention, c: Tokens): HTMLCanvasElement {
  const { left, top, right, bottom } = picture.box;
  const [w, h] = [right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
  const k = Math.min(2, MOST_PIXELS / w, MOST_PIXELS / h);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(w * k);
  canvas.height = Math.ceil(h * k);
  const to = canvas.getContext("2d");
  if (!to) return canvas;
  to.fillStyle = c.bg;
  to.fillRect(0, 0, canvas.width, canvas.height);
  to.setTransform(k, 0, 0, k, (MARGIN - left) * k, (MARGIN - top) * k);
  picture.draw(new CanvasPen(to), picture.box, 2, bare(attention), c);
  return canvas;
}
