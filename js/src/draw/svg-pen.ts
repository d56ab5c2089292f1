// Writes SVG text. Every word that came from outside is escaped; numbers are written by us.
import type { Curve, Font, Pen, Stroke } from "./pen";
import { MONO, plain } from "./text";

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export const escapeXml = (text: string): string =>
  plain(text).replace(/[&<>"']/g, (char) => ENTITIES[char]);

const n = (value: number): string => String(Math.round(value * 100) / 100);

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    fill: string | null,
    stroke: Stroke | null,
  ): void {
    this.parts.push(
      `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" rx="${n(r)}"${paint(fill, stroke)}/>`,
    );
  }

  circle(x: number, y: number, r: number, fill: string | null, stroke: Stroke | null): void {
    this.parts.push(`<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}"${paint(fill, stroke)}/>`);
  }

  curve(points: Curve, stroke: Stroke): void {
    let d = `M${n(points[0])} ${n(points[1])}`;
    for (let k = 2; k + 5 < points.length; k += 6) {
      d += `C${points
        .slice(k, k + 6)
        .map(n)
        .join(" ")}`;
    }
    this.parts.push(`<path d="${d}"${paint(null, stroke)}/>`);
  }

  polygon(points: readonly number[], fill: string): void {
    this.parts.push(`<polygon points="${points.map(n).join(" ")}"${paint(fill, null)}/>`);
  }

  polyline(points: readonly number[], stroke: Stroke): void {
    this.parts.push(`<polyline points="${points.map(n).join(" ")}"${paint(null, stroke)}/>`);
  }

  hatch(x: number, y: number, w: number, h: number, r: number, color: string): void {
    const id = `hatch-${this.clips++}`;
    let d = "";
    for (let at = -h; at < w; at += 7) d += `M${n(x + at)} ${n(y + h)}L${n(x + at + h)} ${n(y)}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" rx="${n(r)}"/></clipPath>`,
      `<path clip-path="url(#${id})" d="${d}"${paint(null, { color, width: 1 })}/>`,
    );
  }

  text(x: number, y: number, text: string, font: Font): void {
    const anchor = font.align === "center" ? ' text-anchor="middle"' : "";
    const weight = font.bold ? ' font-weight="600"' : "";
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" font-size="${font.size}" fill="${escapeXml(font.color)}"${anchor}${weight} xml:space="preserve">${escapeXml(text)}</text>`,
    );
  }

  faded(alpha: number, draw: () => void): void {
    this.parts.push(`<g opacity="${n(alpha)}">`);
    draw();
    this.parts.push("</g>");
  }

  finish(x: number, y: number, w: number, h: number, background: string, title: string): string {
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(w)}" height="${n(h)}" viewBox="${n(x)} ${n(y)} ${n(w)} ${n(h)}" font-family="${escapeXml(MONO)}">` +
      `<title>${escapeXml(title)}</title>` +
      `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${escapeXml(background)}"/>` +
      `${this.parts.join("")}</svg>`
    );
  }
}

function paint(fill: string | null, stroke: Stroke | null): string {
  const inside = ` fill="${fill ? escapeXml(fill) : "none"}"`;
  if (!stroke) return inside;
  const dash = stroke.dash?.length ? ` stroke-dasharray="${stroke.dash.map(n).join(" ")}"` : "";
  return `${inside} stroke="${escapeXml(stroke.color)}" stroke-width="${n(stroke.width)}"${dash}`;
}
