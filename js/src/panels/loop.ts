// The iterations of a folded loop: a slider over them, and in what one differs from another.
import type { Context } from "./context";
import { h } from "./dom";

export interface Loop {
  /** The iteration that is shown, from 0; null: the newest of each. */
  at: number | null;
  of: number;
  differ(at: number, other: number): { here: string[]; there: string[] };
}

export class LoopBar {
  private readonly words = h("label", { for: "gv-iteration" });
  private readonly slider = h("input", {
    type: "range",
    id: "gv-iteration",
    min: 1,
    testid: "iteration",
    oninput: () => this.go(Number(this.slider.value) - 1),
  });
  private readonly other = h("input", {
    type: "number",
    min: 1,
    testid: "other",
    oninput: () => this.compare(),
  });
  private readonly beside = h("span");
  private readonly than = h("label", {}, this.beside, " ", this.other);
  private readonly told = h("span.said", { role: "status", testid: "differs" });
  private readonly end = h("button.tool", { onclick: () => this.go(null) });
  readonly element = h(
    "div.loop",
    { hidden: true, testid: "loop" },
    this.words,
    this.slider,
    this.than,
    this.told,
    this.end,
  );
  private loop: Loop | null = null;

  constructor(
    private readonly context: Context,
    private readonly go: (at: number | null) => void,
  ) {}

  update(loop: Loop | null): void {
    const before = this.loop?.at;
    this.loop = loop;
    this.element.hidden = loop === null;
    if (!loop) return;
    const { say } = this.context;
    const { at, of } = loop;
    const n = (at ?? of - 1) + 1;
    this.words.textContent = say("loop.at", { n, of });
    this.slider.max = this.other.max = String(of);
    this.slider.value = String(n);
    this.beside.textContent = say("loop.than");
    this.than.hidden = this.told.hidden = this.end.hidden = at === null;
    this.end.textContent = say("loop.end");
    // It is compared with the one before, until a person has chosen another.
    const followed = before == null || this.other.value === String(Math.max(1, before));
    if (at !== null && followed) this.other.value = String(Math.max(1, at));
    this.compare();
  }

  private compare(): void {
    const { loop } = this;
    if (!loop || loop.at === null) return;
    const other = Math.min(loop.of, Math.max(1, Number(this.other.value) || 1)) - 1;
    const { here, there } = loop.differ(loop.at, other);
    const { say } = this.context;
    const parts = [
      here.length > 0 ? say("loop.here", { names: here.join(", ") }) : "",
      there.length > 0 ? say("loop.there", { names: there.join(", ") }) : "",
    ];
    this.told.textContent = parts.join(" ").trim() || say("compare.same");
  }
}
