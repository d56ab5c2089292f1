import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { hostile, marks, network } from "../dev/scenes.mjs";
import { type Box, Camera } from "../src/draw/camera";
import { CORNERS, freeCorner } from "../src/draw/corner";
import { gradientWidth } from "../src/draw/edges";
import { NAME } from "../src/draw/label";
import { PdfPen, toPdf } from "../src/draw/pdf";
import { Picture, type Sight } from "../src/draw/picture";
import { toSvg } from "../src/draw/save";
import { SvgPen } from "../src/draw/svg-pen";
import { plain, shorten, textWidth } from "../src/draw/text";
import { DARK, diverging, LIGHT, type Tokens } from "../src/draw/tokens";
import { draw, type Sketch } from "./help";

const quiet = {
  selected: "",
  hovered: "",
  selectedNode: null,
  hoveredNode: null,
  markOf: () => null,
};

function pictureOf(sketch: Sketch): Picture {
  const { scene, labels, output } = draw(sketch);
  let forward = 0;
  const bends = scene.links.map((link) => (link.back ? null : output.bends[forward++]));
  return new Picture(scene, { ...output, bends }, labels);
}

test("a saved picture of hostile names is well-formed and inert", () => {
  const svg = toSvg(pictureOf(hostile()), quiet, LIGHT, "<title>");
  expect(svg).not.toMatch(/<(img|script|b|svg\/)/);
  expect(svg.match(/<svg /g)).toHaveLength(1);
  expect(svg).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(svg).not.toContain("\u202e");
  expect(svg.match(/ on\w+="/)).toBeNull();
});

test("a PDF's table says where its objects are, and its letters stay letters", async () => {
  const file = await toPdf(pictureOf(network()), quiet, LIGHT, null);
  const bytes = Buffer.from(await file.arrayBuffer());
  const text = bytes.toString("latin1");
  const places = [...text.matchAll(/^(\d{10}) 00000 n/gm)].map(([, at]) => Number(at));
  const objects = places.map((at) => text.slice(at, at + String(places.length).length + 6));
  expect(objects.map((one) => one.split(" obj")[0])).toEqual(places.map((_, n) => `${n + 1} 0`));
  expect(text.lastIndexOf("xref\n0")).toBe(Number(text.match(/startxref\n(\d+)/)![1]));
  const [head, length] = text.match(/Length (\d+)>>stream\n/)!;
  const from = text.indexOf(head) + head.length;
  const drawing = inflateSync(bytes.subarray(from, from + Number(length))).toString();
  const name = Buffer.from("fc1.weight").toString("hex");
  expect(drawing).toContain(`<${name}> Tj`);
  expect(drawing).not.toMatch(/NaN|undefined/);
});

test("each letter of a PDF is set in a font that has it", () => {
  const pen = new PdfPen(() => [0, 0, 0, 1]);
  pen.text(0, 0, "a)×−∂叶\u202e", { size: 10, color: "#000", bold: true });
  expect(pen.content).toContain(
    "/F1 10 Tf <6129d796> Tj /F2 10 Tf <b6> Tj /F3 10 Tf <53f6> Tj 60 Tz /F3 10 Tf <2423> Tj 100 Tz",
  );
});

test("the legend learns what was drawn, and no more", () => {
  const sights = (sketch: Sketch): Set<Sight> => {
    const picture = pictureOf(sketch);
    return picture.draw(new SvgPen(), picture.box, 2, quiet, LIGHT);
  };
  const seen = sights(network());
  for (const sight of [
    "parameter",
    "operation",
    "root",
    "untracked",
    "saved",
    "freed",
    "gradient",
    "cut",
    "hook",
    "retains",
  ] as const) {
    if (sight !== "untracked") expect(seen).toContain(sight);
  }
  expect(seen).not.toContain("leaf");
  expect(seen).not.toContain("failed");
  expect(sights(marks())).toContain("failed");
});

test("gradients are drawn only where one has flowed", () => {
  const dashes = (sketch: Sketch) =>
    toSvg(pictureOf(sketch), quiet, LIGHT, "").split(`stroke="${LIGHT.grad}"`).length - 1;
  const s = network();
  expect(dashes(s)).toBe(
    s.edges.filter((edge: { grad_norm: number | null }) => edge.grad_norm !== null).length,
  );
  for (const edge of s.edges) edge.grad_norm = null;
  expect(dashes(s)).toBe(0);
});

test("a larger gradient is a wider line", () => {
  const widths = [0, 1e-6, 1e-2, 1, 1e2, Number.POSITIVE_INFINITY].map(gradientWidth);
  expect(widths).toEqual([...widths].sort((a, b) => a - b));
  expect(widths[0]).toBeGreaterThan(0);
  expect(Math.max(...widths)).toBeLessThanOrEqual(4);
});

test("every label has room for its words", () => {
  for (const sketch of [network(), hostile(), marks()]) {
    for (const label of pictureOf(sketch).labels) {
      const words =
        textWidth(label.title, 12) + textWidth(label.op, 12) + (label.title && label.op ? 8 : 0);
      expect(label.width).toBeGreaterThanOrEqual(words + 20);
    }
  }
});

test("long words lose their middle, and wide characters count double", () => {
  expect(shorten("encoder.layers.11.attention.weight", 12, 120)).toMatch(/^encoder.*….*weight$/);
  expect(textWidth(shorten("权重".repeat(40), 12, 120), 12)).toBeLessThanOrEqual(120);
  expect(shorten("short", 12, 120)).toBe("short");
  expect(textWidth("权", 12)).toBe(12);
});

test("characters that hide or turn text are shown", () => {
  expect(plain("a\u202eb\u0000c\u200bd\n")).toBe("a␣b␣c␣d␣");
});

test("zooming keeps the point under the pointer", () => {
  const camera = new Camera();
  Object.assign(camera, { width: 800, height: 600, x: 10, y: 20 });
  const before = camera.toWorld(300, 200);
  camera.zoomAt(300, 200, 1.7);
  expect(camera.toWorld(300, 200).x).toBeCloseTo(before.x);
  expect(camera.toWorld(300, 200).y).toBeCloseTo(before.y);
  for (let n = 0; n < 99; n++) camera.zoomAt(0, 0, 9);
  expect(camera.k).toBeLessThanOrEqual(3);
});

test("fit shows everything, and where that would be too small, the newest part", () => {
  const camera = new Camera();
  Object.assign(camera, { width: 800, height: 600 });
  const box = { left: 0, top: 0, right: 400, bottom: 9000 };
  Object.assign(camera, camera.fit(box));
  expect(camera.holds(box)).toBe(true);
  Object.assign(camera, camera.fit(box, 0.8));
  expect(camera.k).toBe(0.8);
  expect(camera.seen().bottom).toBeGreaterThan(9000);
  Object.assign(camera, camera.fit({ left: 0, top: 0, right: 100, bottom: 80 }));
  expect(camera.k).toBe(1);
});

test("the overview stands in a corner where no item is, and nowhere when there is none", () => {
  const camera = new Camera();
  Object.assign(camera, { width: 480, height: 400, k: 0.5, x: 0, y: 0 });
  const overview = { width: 100, height: 80, inset: 10 };
  const at = (x: number, y: number) => ({ left: x, right: x + 20, top: y, bottom: y + 20 });
  const [topRight, topLeft, bottomRight] = CORNERS;
  const find = (...boxes: Box[]) => freeCorner(camera, overview, boxes, CORNERS);
  expect(find(at(400, 400))).toBe(topRight);
  expect(find(at(800, 40))).toBe(topLeft);
  expect(find(at(800, 40), at(100, 40))).toBe(bottomRight);
  expect(find(at(800, 40), at(100, 40), at(800, 700), at(100, 700))).toBeUndefined();
});

test("followed, a graph is as large as its names need: 11 px", () => {
  const camera = new Camera();
  Object.assign(camera, { width: 480, height: 400 });
  const least = 11 / NAME;
  expect(camera.fit({ left: 0, top: 0, right: 495, bottom: 400 }, least).k).toBeGreaterThan(least);
  const wide = camera.fit({ left: 0, top: 0, right: 900, bottom: 400 }, least, 800);
  expect(wide.k).toBe(least);
  expect(800 * wide.k + wide.x).toBeLessThan(480);
});

function contrast(a: string, b: string): number {
  const light = (hex: string) => {
    const [r, g, blue] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

test.each([
  ["light", LIGHT],
  ["dark", DARK],
])("%s: every text meets WCAG AA on what it stands on", (_, c: Tokens) => {
  for (const ground of [c.bg, c.panel, c.op, c.leaf, c.root]) {
    expect(contrast(c.text, ground)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(c.dim, ground)).toBeGreaterThanOrEqual(4.5);
  }
  for (const mark of [c.leafLine, c.leak, c.error, c.rootLine]) {
    expect(contrast(mark, c.bg)).toBeGreaterThanOrEqual(4.5);
  }
  expect(diverging(c, 0)).not.toBe(diverging(c, 1));
  expect(diverging(c, -1)).not.toBe(diverging(c, 1));
});
