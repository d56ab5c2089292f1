// Names only what is on screen.
import type { Sight } from "../draw/picture";
import type { Context } from "./context";
import { h, svg } from "./dom";

const ORDER: Sight[] = [
  "leaf",
  "parameter",
  "untracked",
  "operation",
  "root",
  "group",
  "data",
  "gradient",
  "cut",
  "saved",
  "origin",
  "freed",
  "hook",
  "retains",
  "leak",
  "failed",
  "gone",
];

export class Legend {
  readonly element = h("div", { class: "legend", role: "group" });
  private shown = "";
  private width = 0;

  constructor(private readonly context: Context) {}

  update(sights: ReadonlySet<Sight>): void {
    const present = ORDER.filter((sight) => sights.has(sight));
    const key = `${this.context.language}:${present.join()}`;
    if (key === this.shown) return;
    this.shown = key;
    this.element.setAttribute("aria-label", this.context.say("legend.name"));
    this.element.replaceChildren(...present.map((sight) => this.entry(sight)));
    this.holdHeight();
  }

  /** At one width it only grows: if it shrank, the graph above would show more, and it would grow again. */
  private holdHeight(): void {
    const { style, offsetWidth } = this.element;
    if (offsetWidth !== this.width) style.minHeight = "";
    this.width = offsetWidth;
    style.minHeight = `${this.element.offsetHeight}px`;
  }

  private entry(sight: Sight): HTMLElement {
    return h("span", { class: "entry" }, symbol(sight), this.context.say(`legend.${sight}`));
  }
}

const frame = (width: number, ...children: SVGElement[]): SVGElement =>
  svg("svg", { width, height: 12, viewBox: `0 0 ${width} 12`, "aria-hidden": "true" }, ...children);

const box = (props: Record<string, string | number>): SVGElement =>
  svg("rect", { x: 1, y: 1.5, width: 16, height: 9, rx: 2.5, ...props });

const line = (props: Record<string, string | number>): SVGElement =>
  svg("path", { d: "M1 6h20", fill: "none", ...props });

function symbol(sight: Sight): SVGElement {
  const leaf = { fill: "var(--gv-leaf)", stroke: "var(--gv-leaf-line)" };
  const pill = { rx: 4.5, fill: "var(--gv-op)", stroke: "var(--gv-op-line)" };
  const square = { x: 1, y: 2, width: 8, height: 8, rx: 2, stroke: "var(--gv-saved)" };
  switch (sight) {
    case "leaf":
      return frame(18, box(leaf));
    case "parameter":
      return frame(
        18,
        box(leaf),
        svg("path", { d: "M1.5 2h6l-6 6z", fill: "var(--gv-leaf-line)" }),
      );
    case "untracked":
      return frame(
        18,
        box({ fill: "none", stroke: "var(--gv-op-line)", "stroke-dasharray": "3 2" }),
      );
    case "operation":
      return frame(18, box(pill));
    case "root":
      return frame(
        18,
        box({
          rx: 4.5,
          fill: "var(--gv-root)",
          stroke: "var(--gv-root-line)",
          "stroke-width": 1.8,
        }),
      );
    case "group":
      return frame(
        20,
        box({ ...pill, x: 3, y: 0.5, fill: "var(--gv-bg)" }),
        box({ ...pill, y: 2.5 }),
      );
    case "data":
      return frame(
        22,
        line({ stroke: "var(--gv-op-line)", "stroke-width": 1.5 }),
        head("var(--gv-op-line)"),
      );
    case "gradient":
      return frame(
        22,
        line({ stroke: "var(--gv-grad)", "stroke-width": 2, "stroke-dasharray": "4 3" }),
        head("var(--gv-grad)"),
      );
    case "cut":
      return frame(
        22,
        line({ stroke: "var(--gv-op-line)", "stroke-width": 1.5, "stroke-dasharray": "3 3" }),
      );
    case "saved":
      return frame(10, svg("rect", { ...square, fill: "var(--gv-saved)" }));
    case "origin":
      return frame(
        22,
        line({ stroke: "var(--gv-saved)", "stroke-width": 1.5, "stroke-dasharray": "1.5 2.5" }),
        head("var(--gv-saved)"),
      );
    case "freed":
      return frame(10, svg("rect", { ...square, fill: "none" }));
    case "hook":
      return frame(
        10,
        svg("path", {
          d: "M6.5 1L2.5 6.5L7 6L3.5 11",
          fill: "none",
          stroke: "var(--gv-leaf-line)",
          "stroke-width": 1.4,
        }),
      );
    case "retains":
      return frame(
        18,
        box(pill),
        box({
          x: 3.5,
          y: 4,
          width: 11,
          height: 4,
          rx: 2,
          fill: "none",
          stroke: "var(--gv-leaf-line)",
        }),
      );
    case "leak":
      return frame(
        18,
        box({ ...pill, stroke: "var(--gv-leak)", "stroke-width": 2.6, "stroke-opacity": 0.55 }),
      );
    case "failed":
      return frame(18, box({ ...pill, stroke: "var(--gv-error)", "stroke-width": 1.8 }));
    case "gone":
      return frame(18, box({ ...pill, opacity: 0.5 }));
  }
}

const head = (fill: string): SVGElement => svg("path", { d: "M22 6l-6-3.2v6.4z", fill });
