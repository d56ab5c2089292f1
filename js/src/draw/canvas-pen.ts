import type { Curve, Font, Pen, Stroke } from "./pen";
import { MONO } from "./text";

const HATCH = 7;

export class CanvasPen implements Pen {
  constructor(private readonly to: CanvasRenderingContext2D) {}

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    fill: string | null,
    stroke: Stroke | null,
  ): void {
    this.to.beginPath();
    this.to.roundRect(x, y, w, h, Math.max(0, r));
    this.paint(fill, stroke);
  }

  circle(x: number, y: number, r: number, fill: string | null, stroke: Stroke | null): void {
    this.to.beginPath();
    this.to.arc(x, y, r, 0, 2 * Math.PI);
    this.paint(fill, stroke);
  }

  curve(points: Curve, stroke: Stroke): void {
    this.to.beginPath();
    trace(this.to, points);
    this.paint(null, stroke);
  }

  polygon(points: readonly number[], fill: string): void {
    this.to.beginPath();
    this.lines(points);
    this.to.closePath();
    this.paint(fill, null);
  }

  polyline(points: readonly number[], stroke: Stroke): void {
    this.to.beginPath();
    this.lines(points);
    this.paint(null, stroke);
  }

  hatch(x: number, y: number, w: number, h: number, r: number, color: string): void {
    this.to.save();
    this.to.beginPath();
    this.to.roundRect(x, y, w, h, r);
    this.to.clip();
    this.to.beginPath();
    for (let at = -h; at < w; at += HATCH) {
      this.to.moveTo(x + at, y + h);
      this.to.lineTo(x + at + h, y);
    }
    this.paint(null, { color, width: 1 });
    this.to.restore();
  }

  text(x: number, y: number, text: string, font: Font): void {
    this.to.font = `${font.bold ? "600 " : ""}${font.size}px ${MONO}`;
    this.to.fillStyle = font.color;
    this.to.textAlign = font.align ?? "left";
    this.to.fillText(text, x, y);
  }

  faded(alpha: number, draw: () => void): void {
    const before = this.to.globalAlpha;
    this.to.globalAlpha = before * alpha;
    draw();
    this.to.globalAlpha = before;
  }

  private lines(points: readonly number[]): void {
    this.to.moveTo(points[0], points[1]);
    for (let k = 2; k < points.length; k += 2) this.to.lineTo(points[k], points[k + 1]);
  }

  private paint(fill: string | null, stroke: Stroke | null): void {
    if (fill) {
      this.to.fillStyle = fill;
      this.to.fill();
    }
    if (!stroke) return;
    this.to.strokeStyle = stroke.color;
    this.to.lineWidth = stroke.width;
    this.to.setLineDash((stroke.dash as number[]) ?? []);
    this.to.stroke();
  }
}

export function trace(to: CanvasRenderingContext2D, points: Curve): void {
  to.moveTo(points[0], points[1]);
  for (let k = 2; k + 5 < points.length; k += 6) {
    to.bezierCurveTo(
      points[k],
      points[k + 1],
      points[k + 2],
      points[k + 3],
      points[k + 4],
      points[k + 5],
    );
  }
}
