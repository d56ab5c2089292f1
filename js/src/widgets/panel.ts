// A panel that shows plain data: its frame, its table twin, its files.
import { escapeXml } from "../draw/svg-pen";
import { chooseLanguage, type Fields, type Language, say } from "../i18n";
import { GraphStore } from "../model/store";
import { cockpitBody } from "../panels/bodies/cockpit";
import { findingsBody } from "../panels/bodies/findings";
import { flowBody } from "../panels/bodies/flow";
import { hooksBody } from "../panels/bodies/hooks";
import { ledgerBody } from "../panels/bodies/ledger";
import { ranksBody } from "../panels/bodies/ranks";
import { storageBody } from "../panels/bodies/storage";
import { tensorBody } from "../panels/bodies/tensor";
import { towerBody } from "../panels/bodies/tower";
import type { Body, Host, MakeBody, Raw } from "../panels/body";
import { h, refill } from "../panels/dom";
import { STYLE } from "../panels/style";
import { tableOf } from "../panels/table";
import { isRecord } from "../protocol/read";
import type { Settings } from "./app";
import { pageOf } from "./files";
import { detectTheme, download, hasCells, revealCell, watchTheme } from "./notebook";

export const BODIES: Record<string, MakeBody> = {
  cockpit: cockpitBody,
  findings: findingsBody,
  flow: flowBody,
  hooks: hooksBody,
  ledger: ledgerBody,
  ranks: ranksBody,
  storage: storageBody,
  tensor: tensorBody,
  tower: towerBody,
};

/** How a panel reaches its model; in a page of its own there is none. */
export interface Link {
  get(name: string): unknown;
  put(name: string, value: unknown): void;
  ask: ((content: Raw) => void) | null;
}

/** Traits that live only in this page. */
export function noLink(): Link {
  const traits = new Map<string, unknown>();
  return {
    get: (name) => traits.get(name),
    put: (name, value) => traits.set(name, value),
    ask: null,
  };
}

export class Panel implements Host {
  readonly element = h("div.gv.panel", { testid: "panel" });
  readonly store = new GraphStore();
  readonly frozen = true;
  language: Language = "en";
  private readonly head = h("div.head", {});
  private readonly note = h("div.alert.note", { role: "status", hidden: true });
  private readonly main = h("div.panel-body", {});
  private readonly body: Body;
  private readonly stopTheme: () => void;
  private readonly observer: ResizeObserver;
  private drawnAt = 0;
  private data: Raw = {};
  private asTable = false;

  constructor(
    host: HTMLElement,
    private readonly kind: string,
    private settings: Settings,
    private readonly link: Link,
  ) {
    this.body = BODIES[kind](this);
    host.dataset.lmSuppressShortcuts = "true";
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.element.append(this.head, this.note, this.main);
    shadow.replaceChildren(h("style", {}, STYLE), this.element);
    this.element.dataset.panel = kind;
    this.stopTheme = watchTheme(() => this.draw());
    this.observer = new ResizeObserver(() => this.width !== this.drawnAt && this.draw());
    this.observer.observe(this.main);
    this.configure(settings);
  }

  close(): void {
    this.observer.disconnect();
    this.stopTheme();
  }

  configure(settings: Settings): void {
    this.settings = settings;
    this.language = chooseLanguage(settings.language, navigator.language || "en");
    this.element.lang = this.language === "zh" ? "zh-CN" : "en";
    this.element.dataset.layout = settings.layout || "inline";
    this.draw();
  }

  take(data: unknown): void {
    this.data = isRecord(data) ? data : {};
    this.note.hidden = true;
    this.draw();
  }

  /** Words about the panel as a whole. */
  tell(key: string): void {
    this.note.textContent = this.say(key);
    this.note.hidden = false;
  }

  // What the body asks for.

  readonly say = (key: string, fields?: Fields): string => say(this.language, key, fields);

  get width(): number {
    return Math.max(280, Math.min(900, this.main.clientWidth - 28));
  }

  get ask() {
    return this.link.ask;
  }

  get(name: string): unknown {
    return this.link.get(name);
  }

  put(name: string, value: unknown): void {
    this.link.put(name, value);
    this.draw();
  }

  show(): void {}

  canReveal(): boolean {
    return hasCells();
  }

  reveal(cell: number): boolean {
    return revealCell(cell);
  }

  draw(): void {
    this.drawnAt = this.width;
    const { theme } = this.settings;
    this.element.dataset.theme = detectTheme(theme);
    this.element.toggleAttribute("data-bound", theme !== "light" && theme !== "dark");
    refill(this.head, `${this.language}${this.asTable}`, () => [
      h("b.brand", {}, this.say(`panel.${this.kind === "storage" ? "storages" : this.kind}`)),
      h("span.space", {}),
      this.tools(),
    ]);
    const empty = Object.keys(this.data).length === 0;
    const focused = this.focused();
    const parts = empty
      ? []
      : this.asTable
        ? [tableOf(this.body.table(this.data))]
        : this.body.draw(this.data);
    this.main.replaceChildren(...parts.filter((part) => part !== null));
    if (focused)
      this.main
        .querySelector<HTMLElement>(`[data-testid="${CSS.escape(focused)}"]`)
        ?.focus({ preventScroll: true });
  }

  private focused(): string | null {
    const { activeElement } = this.element.getRootNode() as ShadowRoot;
    return activeElement && this.main.contains(activeElement)
      ? activeElement.getAttribute("data-testid")
      : null;
  }

  private tools(): HTMLElement {
    const tool = (name: string, pressed: boolean | null, run: () => void) =>
      h(
        "button.tool",
        {
          testid: `${name}`,
          title: this.say(`tool.${name}_hint`),
          "aria-pressed": pressed === null ? undefined : String(pressed),
          onclick: run,
        },
        this.say(`tool.${name}`),
      );
    return h(
      "span.tools",
      { role: "toolbar" },
      tool("table", this.asTable, () => {
        this.asTable = !this.asTable;
        this.draw();
      }),
      tool("save_svg", null, () => this.save("svg")),
      tool("save_json", null, () => this.save("json")),
      this.settings.script ? tool("save_html", null, () => this.save("html")) : null,
      tool("language", null, () => {
        const language = this.language === "zh" ? "en" : "zh";
        this.link.put("language", language);
        this.configure({ ...this.settings, language });
      }),
    );
  }

  private save(kind: "svg" | "json" | "html"): void {
    const name = `gradviz-${this.kind}.${kind}`;
    const json = JSON.stringify(this.data);
    if (kind === "json") download(name, new Blob([json], { type: "application/json" }));
    else if (kind === "html") {
      const parts = {
        script: this.settings.script ?? "",
        pageTitle: this.say("tool.page_title"),
        language: this.language,
      };
      download(name, new Blob([pageOf(json, parts)], { type: "text/html" }));
    } else {
      const drawing = chartsOf(this.element);
      if (drawing) download(name, new Blob([drawing], { type: "image/svg+xml" }));
    }
  }
}

/** All charts below one another as one SVG, the colours in force written in. */
export function chartsOf(root: HTMLElement): string {
  const charts = [...root.querySelectorAll<SVGSVGElement>("svg.chart")];
  if (charts.length === 0) return "";
  const style = getComputedStyle(root);
  let [top, wide] = [0, 0];
  const parts = charts.map((chart) => {
    const [, , width, height] = (chart.getAttribute("viewBox") ?? "0 0 0 0").split(" ").map(Number);
    const inner = [...chart.childNodes]
      .map((child) => new XMLSerializer().serializeToString(child))
      .join("");
    const part = `<g transform="translate(0 ${top})">${inner}</g>`;
    top += height + 12;
    wide = Math.max(wide, width);
    return part;
  });
  const background = escapeXml(style.getPropertyValue("--gv-bg").trim() || "#ffffff");
  const body = parts
    .join("")
    .replace(/var\((--[\w-]+)\)/g, (_, name) => escapeXml(style.getPropertyValue(name).trim()));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${top}" font-family="sans-serif"><rect width="${wide}" height="${top}" fill="${background}"/>${body}</svg>`;
}
