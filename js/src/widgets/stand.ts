// Where a view stands: under its cell, or beside the notebook.
import { chooseLanguage, say } from "../i18n";
import { h } from "../panels/dom";
import type { App, Settings } from "./app";
import { dock, whenAttached } from "./dock";

/** Where the view stands: under its cell, or beside the notebook when it is to be docked and can be. */
export class Stand {
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
    else if (!this.undock) this.waitForPage();
    this.configure();
  }

  /** Until its place is known the view is nowhere: it would be seen to jump. */
  private waitForPage(): void {
    this.el.replaceChildren();
    this.stopWaiting = whenAttached(
      this.el,
      () => this.goBeside(),
      () => this.goHome(),
    );
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
    if (!undock) this.goHome();
    else if (this.room) this.tellWhere();
    this.configure();
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
    const back = h("button", { onclick: () => this.stay() }, word("here"));
    back.style.cssText =
      "font:inherit;color:inherit;background:none;cursor:pointer;padding:1px 8px;border-radius:4px;" +
      "border:1px solid var(--jp-border-color1,#9aa1ac)";
    this.el.replaceChildren(h("div.gradviz-docked", {}, `${word("beside")} `, back));
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
