// A page of PDF: the picture as lines and letters, which stay sharp at any size and can be searched.

import type { Curve, Font, Pen, Stroke } from "./pen";
import type { Attention, Picture } from "./picture";
import { bare, MARGIN } from "./save";
import { plain, textWidth } from "./text";
import type { Tokens } from "./tokens";

/** A page may not be larger (PDF 1.4, appendix C). */
const MOST = 14400;
/** Of a quarter circle, as one curve. */
const ROUND = 0.5523;
/** A reader has these itself: the code font, Greek and mathematics, and an East Asian font for all else. */
const COURIER = 0;
const SYMBOL = 2;
const ASIAN = 3;
/** Letters that only the East Asian font has, at the width of the code font. */
const SQUEEZED = 4;
const FONTS = [
  "<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>",
  "<</Type/Font/Subtype/Type1/BaseFont/Courier-Bold/Encoding/WinAnsiEncoding>>",
  "<</Type/Font/Subtype/Type1/BaseFont/Symbol>>",
  "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H/DescendantFonts[" +
    "<</Type/Font/Subtype/CIDFontType0/BaseFont/STSong-Light/DW 1000" +
    "/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>" +
    "/FontDescriptor<</Type/FontDescriptor/FontName/STSong-Light/Flags 6/FontBBox[-25 -254 1000 880]" +
    "/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 880/StemV 93>>>>]>>",
];
/** Characters that the first two fonts know by another number. */
const WINDOWS: Record<string, number> = { "−": 0x96, "–": 0x96, "…": 0x85, "•": 0x95 };
const GREEK: Record<string, number> = { "∂": 0xb6, "∞": 0xa5, "→": 0xae, "√": 0xd6 };

/** A colour as red, green, blue and opacity, each from 0 to 1. */
type Rgb = [number, number, number, number];

const n = (value: number): string => String(Math.round(value * 100) / 100);
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

export class PdfPen implements Pen {
  /** Opacities in use; each is a graphics state of the page. */
  readonly opacities: number[] = [1];
  private readonly parts: string[] = [];

  constructor(private readonly colour: (css: string) => Rgb) {}

  get content(): string {
    return this.parts.join("\n");
  }

  rect(
    x: number,
    y: number,
    w: number,
    h: number,
    r: number,
    fill: string | null,
    stroke: Stroke | null,
  ): void {
    this.paint(box(x, y, w, h, Math.min(r, w / 2, h / 2)), fill, stroke);
  }

  circle(x: number, y: number, r: number, fill: string | null, stroke: Stroke | null): void {
    this.paint(box(x - r, y - r, 2 * r, 2 * r, r), fill, stroke);
  }

  curve(points: Curve, stroke: Stroke): void {
    let path = `${n(points[0])} ${n(points[1])} m`;
    for (let k = 2; k + 5 < points.length; k += 6)
      path += ` ${points
        .slice(k, k + 6)
        .map(n)
        .join(" ")} c`;
    this.paint(path, null, stroke);
  }

  polygon(points: readonly number[], fill: string): void {
    this.paint(`${lines(points)} h`, fill, null);
  }

  polyline(points: readonly number[], stroke: Stroke): void {
    this.paint(lines(points), null, stroke);
  }

  hatch(x: number, y: number, w: number, h: number, r: number, color: string): void {
    let path = "";
    for (let at = -h; at < w; at += 7) path += `${lines([x + at, y + h, x + at + h, y])} `;
    this.parts.push(`q ${box(x, y, w, h, r)} W n`);
    this.paint(path, null, { color, width: 1 });
    this.parts.push("Q");
  }

  text(x: number, y: number, text: string, font: Font): void {
    const words = plain(text);
    const left = font.align === "center" ? x - textWidth(words, font.size) / 2 : x;
    const runs = runsOf(words).map(([kind, codes]) => {
      const name = kind === COURIER && font.bold ? 1 : Math.min(kind, ASIAN);
      const shown = `/F${name} ${n(font.size)} Tf <${codes}> Tj`;
      return kind === SQUEEZED ? `60 Tz ${shown} 100 Tz` : shown;
    });
    const [red, green, blue] = this.colour(font.color);
    const place = `1 0 0 -1 ${n(left)} ${n(y)} Tm`;
    this.parts.push(`BT ${n(red)} ${n(green)} ${n(blue)} rg ${place} ${runs.join(" ")} ET`);
  }

  faded(alpha: number, draw: () => void): void {
    this.parts.push(`q ${this.see(alpha)}`);
    draw();
    this.parts.push("Q");
  }

  private see(alpha: number): string {
    let at = this.opacities.indexOf(alpha);
    if (at < 0) at = this.opacities.push(alpha) - 1;
    return `/G${at} gs`;
  }

  private paint(path: string, fill: string | null, stroke: Stroke | null): void {
    const before: string[] = [];
    const inside = fill && this.colour(fill);
    const around = stroke && this.colour(stroke.color);
    const alpha = (inside || around)?.[3] ?? 1;
    if (inside) before.push(`${inside.slice(0, 3).map(n).join(" ")} rg`);
    if (around) before.push(`${around.slice(0, 3).map(n).join(" ")} RG ${n(stroke.width)} w`);
    if (stroke) before.push(`[${(stroke.dash ?? []).map(n).join(" ")}] 0 d`);
    const how = inside ? (around ? "B" : "f") : around ? "S" : "n";
    const drawn = `${before.join(" ")} ${path} ${how}`;
    this.parts.push(alpha < 1 ? `q ${this.see(alpha)} ${drawn} Q` : drawn);
  }
}

const lines = (points: readonly number[]): string => {
  let path = "";
  for (let k = 0; k + 1 < points.length; k += 2)
    path += `${n(points[k])} ${n(points[k + 1])} ${k > 0 ? "l" : "m"} `;
  return path.trimEnd();
};

/** A rectangle with round corners. */
function box(x: number, y: number, w: number, h: number, r: number): string {
  const [right, foot, s] = [x + w, y + h, r * (1 - ROUND)];
  const curve = (...points: number[]) => `${points.map(n).join(" ")} c`;
  return [
    `${n(x + r)} ${n(y)} m ${n(right - r)} ${n(y)} l`,
    curve(right - s, y, right, y + s, right, y + r),
    `${n(right)} ${n(foot - r)} l`,
    curve(right, foot - s, right - s, foot, right - r, foot),
    `${n(x + r)} ${n(foot)} l`,
    curve(x + s, foot, x, foot - s, x, foot - r),
    `${n(x)} ${n(y + r)} l`,
    curve(x, y + s, x + s, y, x + r, y),
    "h",
  ].join(" ");
}

/** Neighbours of one font together: the font, and its characters as hexadecimal digits. */
function runsOf(text: string): [number, string][] {
  const runs: [number, string][] = [];
  for (const char of text) {
    const [font, codes] = coded(char);
    const last = runs.at(-1);
    if (last?.[0] === font) last[1] += codes;
    else runs.push([font, codes]);
  }
  return runs;
}

function coded(char: string): [number, string] {
  const code = char.codePointAt(0)!;
  if (code < 0x7f || (code >= 0xa0 && code <= 0xff)) return [COURIER, hex(code, 2)];
  if (WINDOWS[char]) return [COURIER, hex(WINDOWS[char], 2)];
  if (GREEK[char]) return [SYMBOL, hex(GREEK[char], 2)];
  return [textWidth(char, 1) < 1 ? SQUEEZED : ASIAN, code > 0xffff ? "25a1" : hex(code, 4)];
}

/** The picture on a page of its size. `canvas` reads colours that are not plain hexadecimal ones. */
export async function toPdf(
  picture: Picture,
  attention: Attention,
  c: Tokens,
  canvas: CanvasRenderingContext2D | null,
): Promise<Blob> {
  const pen = new PdfPen(reader(canvas));
  const { left, top, right, bottom } = picture.box;
  const [w, h] = [right - left + 2 * MARGIN, bottom - top + 2 * MARGIN];
  pen.rect(left - MARGIN, top - MARGIN, w, h, 0, c.bg, null);
  picture.draw(pen, picture.box, 2, bare(attention), c);
  const k = Math.min(1, MOST / w, MOST / h);
  const [x, y] = [(MARGIN - left) * k, (h - MARGIN + top) * k];
  const turn = `${k.toFixed(5)} 0 0 ${(-k).toFixed(5)} ${n(x)} ${n(y)} cm\n`;
  return written(turn + pen.content, w * k, h * k, pen.opacities);
}

/** The objects of a file and the table that says where they are. */
async function written(drawing: string, w: number, h: number, opacities: number[]): Promise<Blob> {
  const packed = new Blob([drawing]).stream().pipeThrough(new CompressionStream("deflate"));
  const stream = new Uint8Array(await new Response(packed).arrayBuffer());
  const names = (letter: string, count: number, from: number) =>
    Array.from({ length: count }, (_, at) => `/${letter}${at} ${from + at} 0 R`).join("");
  const states = opacities.map((alpha) => `<</Type/ExtGState/ca ${n(alpha)}/CA ${n(alpha)}>>`);
  const resources = `/Font<<${names("F", 4, 5)}>>/ExtGState<<${names("G", states.length, 9)}>>`;
  const objects: (string | Uint8Array)[][] = [
    ["<</Type/Catalog/Pages 2 0 R>>"],
    ["<</Type/Pages/Kids[3 0 R]/Count 1>>"],
    [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${n(w)} ${n(h)}]/Contents 4 0 R/Resources<<${resources}>>>>`,
    ],
    [`<</Filter/FlateDecode/Length ${stream.length}>>stream\n`, stream, "\nendstream"],
    ...FONTS.map((font) => [font]),
    ...states.map((state) => [state]),
  ];
  const parts: (string | Uint8Array)[] = [];
  let at = 0;
  const put = (part: string | Uint8Array) => {
    parts.push(part);
    at += part.length;
  };
  put("%PDF-1.4\n");
  const places = objects.map((object, number) => {
    const place = at;
    put(`${number + 1} 0 obj\n`);
    object.forEach(put);
    put("\nendobj\n");
    return place;
  });
  const start = at;
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  put(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  put(`trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`);
  return new Blob(parts as BlobPart[], { type: "application/pdf" });
}

/** Reads a colour as CSS writes it; a theme's may have any form, which a canvas makes a plain one. */
function reader(to: CanvasRenderingContext2D | null): (css: string) => Rgb {
  const known = new Map<string, Rgb>();
  return (css) => {
    let found = known.get(css);
    if (!found) {
      if (to) to.fillStyle = css;
      found = channels(to ? String(to.fillStyle) : css);
      known.set(css, found);
    }
    return found;
  };
}

function channels(css: string): Rgb {
  const digits = /^#(..)(..)(..)$/.exec(css);
  if (digits) {
    const [red, green, blue] = digits.slice(1).map((two) => Number.parseInt(two, 16) / 255);
    return [red, green, blue, 1];
  }
  const [red = 0, green = 0, blue = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return [red / 255, green / 255, blue / 255, alpha];
}
