// The top line: what runs, how much of it is drawn, what leaks, and the tools.
import { bytes, count } from "../model/format";
import type { Scene } from "../model/scene";
import type { Finding, Status } from "../model/types";
import type { Context } from "./context";
import { h } from "./dom";
import { icon } from "./icons";

export interface Tools {
  find(): void;
  fit(): void;
  save(kind: "svg" | "png" | "json"): void;
  switchLanguage(): void;
  /** Absent while the view is not docked. */
  undock(): (() => void) | undefined;
  toggleFolding(): void;
  goToFindings(): void;
}

export const isLeak = (finding: Finding): boolean =>
  finding.kind.startsWith("leak.") && finding.severity !== "info";

export class Header {
  readonly element = h("header", { class: "head" });
  private menuOpen = false;

  constructor(
    private readonly context: Context,
    private readonly tools: Tools,
  ) {}

  update(status: Status, scene: Scene, canFold: boolean): void {
    this.element.replaceChildren(
      h("b", { class: "brand" }, "gradviz"),
      this.state(status),
      this.counter(scene, canFold),
      h("span", { class: "space" }),
      this.leaks() ?? "",
      this.toolbar(),
    );
  }

  closeMenu(): boolean {
    const open = this.menuOpen;
    this.menuOpen = false;
    this.element.querySelector(".menu")?.remove();
    return open;
  }

  private state(status: Status): HTMLElement {
    const { say } = this.context;
    const cell = status.cell;
    const known = ["running", "failed", "interrupted"].includes(status.state);
    let words = say("state.idle");
    if (cell !== null) words = say(known ? `state.${status.state}` : "state.done", { cell });
    else if (status.state === "running") words = say("state.running_nowhere");
    const cost = status.overhead;
    const hint =
      cost && say("state.overhead", { ms: count(Math.round(cost.ms)), bytes: bytes(cost.bytes) });
    const look = known ? status.state : "idle";
    return h(
      "span",
      {
        class: `chip state ${look}`,
        "data-testid": "gv-state",
        "data-state": status.state,
        title: hint || undefined,
        role: "status",
      },
      h("i", { class: "dot", "aria-hidden": "true" }),
      words,
    );
  }

  private counter(scene: Scene, canFold: boolean): HTMLElement {
    const { say } = this.context;
    const fields = {
      n: count(scene.shown),
      total: count(scene.total),
      folded: count(scene.folded),
    };
    const words = say("count.nodes", fields);
    const common = {
      class: "chip count",
      "data-testid": "gv-count",
      "data-shown": scene.shown,
      "data-total": scene.total,
      "data-folded": scene.folded,
    };
    if (!canFold) return h("span", common, words);
    const hint = say(scene.folded > 0 ? "count.unfold" : "count.fold");
    return h(
      "button",
      { ...common, type: "button", title: hint, onclick: () => this.tools.toggleFolding() },
      words,
    );
  }

  /** Silent at zero. */
  private leaks(): HTMLElement | null {
    const found = this.context.store.findings.filter(isLeak);
    if (found.length === 0) return null;
    const size = found.reduce((sum, finding) => sum + finding.bytes, 0);
    const fields = { n: found.length, bytes: bytes(size) };
    return h(
      "button",
      {
        class: "chip leak",
        type: "button",
        "data-testid": "gv-leaks",
        "data-count": found.length,
        title: this.context.say("leaks.hint"),
        onclick: () => this.tools.goToFindings(),
      },
      this.context.say(found.length === 1 ? "leaks.one" : "leaks.many", fields),
    );
  }

  private toolbar(): HTMLElement {
    const { tools } = this;
    return h(
      "span",
      { class: "tools", role: "toolbar" },
      this.tool("find", () => tools.find()),
      this.tool("fit", () => tools.fit()),
      h(
        "span",
        { class: "menu-anchor" },
        this.tool("export", () => this.toggleMenu()),
        this.menuOpen && this.menu(),
      ),
      h(
        "button",
        {
          type: "button",
          class: "tool",
          title: this.context.say("tool.language_hint"),
          "data-testid": "gv-language",
          onclick: () => tools.switchLanguage(),
        },
        this.context.say("tool.language"),
      ),
      this.undock(),
    );
  }

  private tool(name: "find" | "fit" | "export", run: () => void): HTMLElement {
    const { say } = this.context;
    return h(
      "button",
      {
        type: "button",
        class: "tool",
        title: say(`tool.${name}_hint`),
        "aria-label": say(`tool.${name}_hint`),
        "data-testid": `gv-${name}`,
        onclick: run,
      },
      icon(name),
      h("span", { class: "tool-name" }, say(`tool.${name}`)),
    );
  }

  private undock(): HTMLElement | null {
    const undock = this.tools.undock();
    if (!undock) return null;
    const words = this.context.say("dock.close");
    return h(
      "button",
      {
        type: "button",
        class: "tool",
        title: words,
        "aria-label": words,
        "data-testid": "gv-undock",
        onclick: undock,
      },
      icon("undock"),
    );
  }

  private toggleMenu(): void {
    if (this.closeMenu()) return;
    this.menuOpen = true;
    this.element.querySelector(".menu-anchor")?.append(this.menu());
  }

  private menu(): HTMLElement {
    const entries = (["svg", "png", "json"] as const).map((kind) =>
      h(
        "button",
        {
          type: "button",
          role: "menuitem",
          "data-testid": `gv-export-${kind}`,
          onclick: () => {
            this.closeMenu();
            this.tools.save(kind);
          },
        },
        this.context.say(`tool.${kind}`),
      ),
    );
    return h("span", { class: "menu", role: "menu" }, ...entries);
  }
}
