// The line to find a node by.
import type { Scene } from "../model/scene";
import { search } from "../model/walk";
import type { Context } from "./context";
import { h } from "./dom";

const LISTED = 8;

export interface Found {
  choose(item: number): void;
  close(): void;
  scene(): Scene;
}

export class Find {
  readonly element = h("div.find", { hidden: true });
  private readonly input = h("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  private readonly results = h("div.results", { role: "listbox" });
  private matches: number[] = [];
  private at = -1;

  constructor(
    private readonly context: Context,
    private readonly found: Found,
  ) {
    this.element.append(this.input, this.results);
    this.input.addEventListener("input", () => this.look());
    this.input.addEventListener("keydown", (event) => this.key(event));
  }

  open(): void {
    const words = this.context.say("find.placeholder");
    this.element.hidden = false;
    this.input.placeholder = words;
    this.input.setAttribute("aria-label", words);
    this.input.focus();
    this.input.select();
    this.look();
  }

  close(): boolean {
    if (this.element.hidden) return false;
    this.element.hidden = true;
    this.found.close();
    return true;
  }

  private look(): void {
    this.matches = search(this.found.scene(), this.input.value);
    this.at = -1;
    this.list();
  }

  private list(): void {
    const { say } = this.context;
    const scene = this.found.scene();
    const rows: HTMLElement[] = this.matches.slice(0, LISTED).map((item, n) => {
      const { title, row } = scene.items[item];
      return h(
        "button",
        {
          role: "option",
          "aria-selected": String(n === this.at),
          tabindex: -1,
          onclick: () => this.go(n),
        },
        h("b", {}, title || row.op || row.kind),
        h("span.dim", {}, title ? row.op : "", " ", row.shape),
      );
    });
    const { length } = this.matches;
    if (length > LISTED) rows.push(h("small.dim", {}, say("find.count", { n: length })));
    if (length === 0 && this.input.value.trim() !== "") {
      rows.push(h("small.dim", {}, say("find.none")));
    }
    this.results.replaceChildren(...rows);
  }

  private key(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" || event.key === "ArrowDown") this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowUp") this.step(-1);
    else return;
    event.preventDefault();
  }

  private step(by: number): void {
    const count = Math.min(this.matches.length, LISTED);
    if (count > 0) this.go((this.at + by + count) % count);
  }

  private go(n: number): void {
    this.at = n;
    this.found.choose(this.matches[n]);
    this.list();
  }
}
