// The anywidget: one view on one model of Python.

import { chooseLanguage, say } from "../i18n";
import { h } from "../panels/dom";
import { readBundle } from "../protocol/bundle";
import { App, type Settings } from "./app";
import { dock, whenAttached } from "./dock";
import { start } from "./start";

interface Model {
  get(name: string): unknown;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback?: (...args: never[]) => void): void;
  send(message: unknown): void;
}

/** The widget manager says that the kernel was restarted, shut down or that it closed the connection. */
const LOST = ["comm_live_update", "comm:close"];
const TRAITS = ["language", "theme", "placement", "height"] as const;

function settingsOf(model: Model): Settings {
  const height = Number(model.get("height"));
  return {
    language: String(model.get("language") ?? "auto"),
    theme: String(model.get("theme") ?? "auto"),
    layout: String(model.get("placement") ?? "inline"),
    height: Number.isFinite(height) ? height : 0,
    script: String(model.get("_esm") ?? ""),
  };
}

/** Where the view stands: under its cell, or beside the notebook when it is to be docked and can be. */
class Stand {
  private undock: (() => void) | null = null;
  private stopWaiting = () => {};
  private home = false;
  /** There is room beside the notebook. */
  private room = true;

  constructor(
    private readonly el: HTMLElement,
    private readonly host: HTMLElement,
    private readonly app: App,
    private settings: Settings,
  ) {
    this.apply(settings);
  }

  apply(settings: Settings): void {
    this.settings = settings;
    this.stopWaiting();
    if (settings.layout !== "dock" || this.home) this.goHome();
    else if (!this.undock) this.stopWaiting = whenAttached(this.el, () => this.goBeside());
    this.configure();
  }

  close(): void {
    this.stopWaiting();
    this.undock?.();
    this.undock = null;
  }

  private goBeside(): void {
    const language = chooseLanguage(this.settings.language, navigator.language || "en");
    const word = (key: string) => say(language, `dock.${key}`);
    this.room = true;
    const tenant = {
      leave: () => this.stay(),
      room: (enough: boolean) => this.move(enough),
    };
    const undock = dock(this.el, this.host, word("resize"), tenant);
    this.undock = undock;
    if (undock && this.room) this.tellWhere();
    if (undock) this.configure();
  }

  /** The notebook became too narrow for a column beside it, or wide enough again. */
  private move(enough: boolean): void {
    this.room = enough;
    if (enough) this.tellWhere();
    else this.el.replaceChildren(this.host);
    this.configure();
  }

  private tellWhere(): void {
    const language = chooseLanguage(this.settings.language, navigator.language || "en");
    const word = (key: string) => say(language, `dock.${key}`);
    const back = h("button", { type: "button", onclick: () => this.stay() }, word("here"));
    back.style.cssText =
      "font:inherit;color:inherit;background:none;cursor:pointer;padding:1px 8px;border-radius:4px;" +
      "border:1px solid var(--jp-border-color1,#9aa1ac)";
    this.el.replaceChildren(h("div", { class: "gradviz-docked" }, `${word("beside")} `, back));
  }

  /** Back under the cell, because the person wants it there. */
  private stay(): void {
    this.home = true;
    this.goHome();
  }

  private goHome(): void {
    this.undock?.();
    this.undock = null;
    this.el.replaceChildren(this.host);
    this.configure();
  }

  private configure(): void {
    const { settings } = this;
    const beside = this.undock !== null && this.room;
    const layout = beside ? "dock" : settings.layout === "page" ? "page" : "inline";
    this.host.style.height = beside ? "100%" : "";
    this.app.configure({ ...settings, layout, undock: beside ? () => this.stay() : undefined });
  }
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = h("div", { class: "gradviz-host" });
  el.append(host);
  const frozen = readBundle(String(model.get("bundle") ?? ""));
  const wire = { send: (message: unknown) => model.send(message), now: () => performance.now() };
  const app = new App(host, settingsOf(model), frozen ? null : wire);
  const stand = new Stand(el, host, app, settingsOf(model));
  const receive = (message: unknown, buffers: DataView[] = []) =>
    app.client?.receive(message, buffers);
  const configure = () => stand.apply(settingsOf(model));
  model.on("msg:custom", receive as never);
  for (const trait of TRAITS) model.on(`change:${trait}`, configure);
  const lose = () => app.lose();
  if (!frozen) for (const event of LOST) model.on(event, lose);
  if (frozen) app.take(frozen.delta);
  app.client?.ready();
  return () => {
    model.off("msg:custom", receive as never);
    for (const trait of TRAITS) model.off(`change:${trait}`, configure);
    for (const event of LOST) model.off(event, lose);
    stand.close();
    app.close();
  };
}

// In a page that a view was saved as there is no widget manager.
if (document.getElementById("gradviz-data")) start();

export default { render };
