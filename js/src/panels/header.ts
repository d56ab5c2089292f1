// The top line: what runs, how much of it is drawn, what leaks, and the tools.
import { bytes, count } from "../model/format";
import { isLeak } from "../model/marks";
import type { Scene } from "../model/scene";
import type { Status } from "../model/types";
import type { Context } from "./context";
import { h, refill } from "./dom";
import { icon } from "./icons";

/** What is folded together. */
export const FOLDS = ["auto", "none", "sites", "modules", "cells", "near"] as const;
export type FoldBy = (typeof FOLDS)[number];

/** Kinds of file that a view can be saved as. */
export type Kind = "svg" | "png" | "pdf" | "dot" | "mmd" | "json" | "html";

export interface Tools {
  find(): void;
  fit(): void;
  save(kind: Kind): void;
  /** What this view can be saved as. */
  kinds(): readonly Kind[];
  switchLanguage(): void;
  /** Absent while the view is not docked. */
  undock(): (() => void) | undefined;
  toggleFolding(): void;
  foldBy(): FoldBy;
  fold(by: FoldBy): void;
  /** Whether each leaf is drawn once. */
  once(): boolean;
  toggleOnce(): void;
  /** Whether the graph is compared with how it was. */
  comparing(): boolean;
  compare(): void;
  goToFindings(): void;
  keys(): void;
}

type Menu = "export" | "fold";

const ELSEWHERE = ["pointerdown", "focusin", "keydown"];

export class Header {
  private readonly stateAt = h("span.slot", {});
  private readonly countAt = h("span.slot.count-at", {});
  private readonly leaksAt = h("span.slot.leaks-at", {});
  private readonly toolsAt = h("span.slot.tools-at", {});
  readonly element = h(
    "div.head",
    {},
    h("b.brand", {}, "gradviz"),
    this.stateAt,
    this.countAt,
    h("span.space", {}),
    this.leaksAt,
    this.toolsAt,
  );
  private readonly elsewhere = (event: Event) => this.closeFrom(event);
  private menuOpen: Menu | "" = "";

  constructor(
    private readonly context: Context,
    private readonly tools: Tools,
  ) {}

  update(status: Status, scene: Scene, canFold: boolean): void {
    const { language } = this.context;
    refill(this.stateAt, `${language}${JSON.stringify([status.state, status.cell])}`, () => [
      (!this.context.frozen || status.cell !== null) && this.state(status),
    ]);
    this.hintOverhead(status);
    const { shown, total, folded } = scene;
    refill(this.countAt, [language, shown, total, folded, canFold].join(), () => [
      this.counter(scene, canFold),
    ]);
    const leaks = this.context.store.findings.filter(isLeak);
    const size = leaks.reduce((sum, finding) => sum + finding.bytes, 0);
    refill(this.leaksAt, [language, leaks.length, size].join(), () => [
      this.leaks(leaks.length, size),
    ]);
    const docked = this.tools.undock() !== undefined;
    const comparing = this.tools.comparing();
    refill(this.toolsAt, [language, docked, comparing].join(), () => [this.toolbar()]);
  }

  closeMenu(): boolean {
    const open = this.menuOpen !== "";
    if (open) this.button(this.menuOpen)?.setAttribute("aria-expanded", "false");
    this.menuOpen = "";
    this.element.querySelector(".menu")?.remove();
    for (const kind of ELSEWHERE) window.removeEventListener(kind, this.elsewhere, true);
    return open;
  }

  /** On a click or a step of the focus outside the menu, and on Escape wherever the focus is. */
  private closeFrom(event: Event): void {
    if (event instanceof KeyboardEvent) {
      if (event.key !== "Escape") return;
      const inside = event.composedPath().includes(this.element);
      const button = this.button(this.menuOpen);
      this.closeMenu();
      if (!inside) return;
      event.preventDefault();
      event.stopPropagation();
      button?.focus();
    } else if (!this.isMenu(event)) this.closeMenu();
  }

  private isMenu(event: Event): boolean {
    const anchor = this.button(this.menuOpen)?.parentElement;
    return !!anchor && event.composedPath().includes(anchor);
  }

  private state(status: Status): HTMLElement {
    const { say } = this.context;
    const cell = status.cell;
    const known = ["running", "failed", "interrupted"].includes(status.state);
    let words = say("state.idle");
    if (cell !== null) words = say(known ? `state.${status.state}` : "state.done", { cell });
    else if (status.state === "running") words = say("state.running_nowhere");
    const look = known ? status.state : "idle";
    return h(
      "span",
      {
        class: `chip state ${look}`,
        testid: "state",
        "data-state": status.state,
        role: "status",
      },
      h("i.dot", { "aria-hidden": "true" }),
      words,
    );
  }

  private hintOverhead(status: Status): void {
    const cost = status.overhead;
    const fields = cost && { ms: count(Math.round(cost.ms)), bytes: bytes(cost.bytes) };
    this.stateAt.title = fields ? this.context.say("state.overhead", fields) : "";
  }

  private counter(scene: Scene, canFold: boolean): HTMLElement {
    const { say } = this.context;
    const fields = {
      n: count(scene.shown),
      total: count(scene.total),
      folded: count(scene.folded),
    };
    const whole = scene.shown === scene.total;
    const part = scene.folded > 0 ? "count.nodes" : "count.some";
    const words = say(whole ? "count.all" : part, fields);
    const common = {
      class: "chip count",
      testid: "count",
      "data-shown": scene.shown,
      "data-total": scene.total,
      "data-folded": scene.folded,
    };
    if (!canFold) return h("span", common, words);
    const hint = say(scene.folded > 0 ? "count.unfold" : "count.fold");
    return h(
      "button",
      { ...common, title: hint, onclick: () => this.tools.toggleFolding() },
      words,
    );
  }

  /** Silent at zero. */
  private leaks(found: number, size: number): HTMLElement | null {
    if (found === 0) return null;
    const { say } = this.context;
    const words = say("leaks.count", { n: found });
    return h(
      "button.chip.leak",
      {
        testid: "leaks",
        "data-count": found,
        title: say("leaks.hint"),
        onclick: () => this.tools.goToFindings(),
      },
      size > 0 ? `${words} · ${bytes(size)}` : words,
    );
  }

  private toolbar(): HTMLElement {
    const { tools } = this;
    const { say } = this.context;
    const undock = tools.undock();
    return h(
      "span.tools",
      { role: "toolbar" },
      this.tool("find", () => tools.find()),
      this.tool("fit", () => tools.fit()),
      this.anchor("fold"),
      this.tool("compare", () => tools.compare(), tools.comparing()),
      this.anchor("export"),
      this.plain("language", say("tool.language_hint"), tools.switchLanguage, say("tool.language")),
      this.plain("help", say("tool.keys"), tools.keys, "?"),
      undock && this.plain("undock", say("dock.close"), undock, icon("undock")),
    );
  }

  private plain(
    testid: string,
    title: string,
    onclick: () => void,
    sign: string | SVGElement,
  ): HTMLElement {
    // What is written on a button is part of its name.
    const name = typeof sign === "string" ? `${sign} ${title}` : title;
    return h("button.tool", { title, "aria-label": name, testid, onclick }, sign);
  }

  private anchor(name: Menu): HTMLElement {
    const button = this.tool(name, () => this.toggleMenu(name));
    button.setAttribute("aria-haspopup", "menu");
    button.setAttribute("aria-expanded", String(this.menuOpen === name));
    return h("span.menu-anchor", {}, button, this.menuOpen === name && this.menu(name));
  }

  private button(name: Menu | ""): HTMLElement | null {
    return this.element.querySelector<HTMLElement>(`[data-testid="gv-${name}"]`);
  }

  private tool(
    name: "find" | "fit" | "export" | "fold" | "compare",
    run: () => void,
    pressed?: boolean,
  ): HTMLElement {
    const { say } = this.context;
    return h(
      "button.tool",
      {
        title: say(`tool.${name}_hint`),
        "aria-label": `${say(`tool.${name}`)}: ${say(`tool.${name}_hint`)}`,
        testid: name,
        "aria-pressed": pressed === undefined ? undefined : String(pressed),
        onclick: run,
      },
      icon(name),
      h("span.tool-name", {}, say(`tool.${name}`)),
    );
  }

  private toggleMenu(name: Menu): void {
    const open = this.menuOpen;
    if (this.closeMenu() && open === name) return;
    this.menuOpen = name;
    const button = this.button(name);
    button?.setAttribute("aria-expanded", "true");
    const menu = this.menu(name);
    button?.parentElement?.append(menu);
    menu.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    for (const kind of ELSEWHERE) window.addEventListener(kind, this.elsewhere, true);
  }

  private menu(name: Menu): HTMLElement {
    const { tools } = this;
    const entries =
      name === "export"
        ? tools
            .kinds()
            .map((kind) => this.entry(`export-${kind}`, `tool.${kind}`, () => tools.save(kind)))
        : [...FOLDS.map((by) => this.foldEntry(by)), this.onceEntry()];
    const menu = h("span.menu", { role: "menu" }, ...entries);
    menu.addEventListener("keydown", (event) => turn(menu, event));
    return menu;
  }

  private foldEntry(by: FoldBy): HTMLElement {
    const { tools } = this;
    return this.entry(`fold-${by}`, `fold.${by}`, () => tools.fold(by), by === tools.foldBy());
  }

  private onceEntry(): HTMLElement {
    const { tools } = this;
    const entry = this.entry("fold-once", "fold.once", () => tools.toggleOnce(), tools.once());
    entry.setAttribute("role", "menuitemcheckbox");
    return entry;
  }

  private entry(name: string, words: string, run: () => void, checked?: boolean): HTMLElement {
    const choose = () => {
      this.closeMenu();
      run();
    };
    return h(
      "button",
      {
        role: checked === undefined ? "menuitem" : "menuitemradio",
        "aria-checked": checked === undefined ? undefined : String(checked),
        testid: name,
        onclick: choose,
      },
      this.context.say(words),
    );
  }
}

/** Arrow keys move through a menu. */
function turn(menu: HTMLElement, event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  event.stopPropagation();
  const entries = [...menu.querySelectorAll<HTMLElement>("button")];
  const { activeElement } = menu.getRootNode() as ShadowRoot;
  const at = entries.indexOf(activeElement as HTMLElement);
  entries[(at + step + entries.length) % entries.length].focus();
}
