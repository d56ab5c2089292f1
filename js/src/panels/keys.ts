// The keys of the graph, each with what it does; a click does it too.
import type { Context } from "./context";
import { h } from "./dom";

/** Layers of the picture, by the key that shows and hides them. */
export const LAYERS = ["f", "g", "s", "h", "m"];
const COMMON = ["Enter", " ", "/", "+", "-", "o", "w", "[", "]", ...LAYERS];
/** Of the backward player. */
export const STEPS = ["n", "p", "c", "b"];

export class KeySheet {
  readonly element = h("div.keys", {
    role: "group",
    hidden: true,
    testid: "keys",
    onkeydown: (event: KeyboardEvent) => event.key === "Escape" && this.close(),
  });

  /** `press` does what the key does; `hidden` are the layers that are not shown. */
  constructor(
    private readonly context: Context,
    private readonly more: readonly string[],
    private readonly press: (key: string) => void,
    private readonly hidden: ReadonlySet<string>,
  ) {}

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    this.fill();
  }

  close(): boolean {
    const open = !this.element.hidden;
    this.element.hidden = true;
    return open;
  }

  private fill(): void {
    const { say } = this.context;
    this.element.setAttribute("aria-label", say("tool.keys"));
    this.element.replaceChildren(
      h("p", {}, h("kbd", {}, "← ↑ ↓ →"), say("keys.walk")),
      ...[...COMMON, ...this.more].map((key) => this.entry(key)),
      h("p", {}, h("kbd", {}, "Esc"), say("keys.leave")),
    );
  }

  private entry(key: string): HTMLElement {
    const { say } = this.context;
    const show = () => {
      if (LAYERS.includes(key)) entry.setAttribute("aria-pressed", String(!this.hidden.has(key)));
    };
    const press = () => {
      this.press(key);
      show();
    };
    const sign = h("kbd", {}, key === " " ? "␣" : key);
    const entry = h("button", { onclick: press }, sign, say(`keys.${NAMES[key] ?? key}`));
    show();
    return entry;
  }
}

/** Of keys that no text can be called after. */
const NAMES: Record<string, string> = {
  Enter: "details",
  " ": "fit",
  "/": "find",
  "+": "nearer",
  "-": "farther",
  "[": "earlier",
  "]": "later",
};
