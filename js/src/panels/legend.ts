// Names only what is on screen.
import type { Sight } from "../draw/picture";
import type { Context } from "./context";
import { h } from "./dom";

export class Legend {
  readonly element = h("div.legend", { role: "group" });
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
    const [width, drawing] = SYMBOLS[sight];
    const entry = h("span.entry", {});
    entry.innerHTML = `<svg width="${width}" height="12" viewBox="0 0 ${width} 12" aria-hidden="true">${drawing}</svg>`;
    entry.append(this.context.say(`legend.${sight}`));
    return entry;
  }
}

// Drawings of 12 px height, as fixed markup: no name of the person's ever comes in here. Of an attribute
// that is given twice, HTML takes the first.
const LEAF = "var(--gv-leaf-line)";
const OP = "var(--gv-op-line)";
const box = (look: string): string =>
  `<rect ${look} x="1" y="1.5" width="16" height="9" rx="2.5"/>`;
const pill = (look = ""): string => box(`${look} rx="4.5" fill="var(--gv-op)" stroke="${OP}"`);
const square = (fill: string): string =>
  `<rect x="1" y="2" width="8" height="8" rx="2" stroke="var(--gv-saved)" fill="${fill}"/>`;
const line = (color: string, width: number, dash: string): string =>
  `<path d="M1 6h20" fill="none" stroke="${color}" stroke-width="${width}" stroke-dasharray="${dash}"/>`;
const arrow = (color: string, width: number, dash: string): string =>
  `${line(color, width, dash)}<path d="M22 6l-6-3.2v6.4z" fill="${color}"/>`;

const leaf = box(`fill="var(--gv-leaf)" stroke="${LEAF}"`);

/** Width and drawing. */
const SYMBOLS: Record<Sight, [number, string]> = {
  leaf: [18, leaf],
  parameter: [18, `${leaf}<path d="M1.5 2h6l-6 6z" fill="${LEAF}"/>`],
  untracked: [18, box(`fill="none" stroke="${OP}" stroke-dasharray="3 2"`)],
  operation: [18, pill()],
  root: [18, pill('fill="var(--gv-root)" stroke="var(--gv-root-line)" stroke-width="1.8"')],
  second: [18, pill('stroke="var(--gv-grad)"')],
  group: [20, pill('fill="var(--gv-bg)" x="3" y="0.5"') + pill('y="2.5"')],
  data: [22, arrow(OP, 1.5, "none")],
  gradient: [22, arrow("var(--gv-grad)", 2, "4 3")],
  pair: [22, arrow("var(--gv-grad)", 1.5, "1.5 2.5")],
  cut: [22, line(OP, 1.5, "3 3")],
  saved: [10, square("var(--gv-saved)")],
  origin: [22, arrow("var(--gv-saved)", 1.5, "1.5 2.5")],
  freed: [10, square("none")],
  hook: [
    10,
    `<path d="M6.5 1L2.5 6.5L7 6L3.5 11" fill="none" stroke="${LEAF}" stroke-width="1.4"/>`,
  ],
  retains: [
    18,
    `${pill()}<rect x="3.5" y="4" width="11" height="4" rx="2" fill="none" stroke="${LEAF}"/>`,
  ],
  leak: [18, pill('stroke="var(--gv-leak)" stroke-width="2.6" stroke-opacity=".55"')],
  trouble: [12, '<circle cx="6" cy="6" r="5" fill="var(--gv-error)"/>'],
  failed: [18, pill('stroke="var(--gv-error)" stroke-width="1.8"')],
  gone: [18, pill('opacity=".5"')],
};
const ORDER = Object.keys(SYMBOLS) as Sight[];
