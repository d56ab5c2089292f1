// Docking beside the notebook: the view moves out of its cell into a column at the right of the notebook's panel.
import { h } from "../panels/dom";

const PANEL = ".jp-NotebookPanel";
const NOTEBOOK = ".jp-Notebook";
const WIDTH = 480;
/** In a narrower column the view stands better under its cell. */
const LEAST = 300;
/** What the notebook keeps. */
const LEAST_NOTEBOOK = 320;
/** Of a panel narrower than ROOMY the column takes at most the first share, else the second. */
const SHARES = [0.45, 0.6];
const ROOMY = 900;
/** Each view may have its own copy of this script: they hear of one another through the panel. */
const TAKEN = "gradviz-dock-taken";

export interface Tenant {
  /** Another view takes the place. */
  leave(): void;
  /** Whether there is room beside the notebook now; without room `host` is no longer in the column. */
  room(enough: boolean): void;
}

/**
 * Calls `found` once `element` is in the page, for an output is rendered before it is put there;
 * `never` when it has not come after five seconds.
 */
export function whenAttached(
  element: HTMLElement,
  found: () => void,
  never: () => void,
): () => void {
  let tries = 0;
  let timer = 0;
  const look = () => {
    if (element.isConnected) found();
    else if (tries++ < 100) timer = window.setTimeout(look, 50);
    else never();
  };
  look();
  return () => clearTimeout(timer);
}

/** How wide the column may be in a panel of this width; 0 where it does not fit. */
export function columnWidth(panel: number, wanted = WIDTH): number {
  const share = panel * SHARES[panel < ROOMY ? 0 : 1];
  const most = Math.floor(Math.min(share, panel - LEAST_NOTEBOOK));
  return most < LEAST ? 0 : Math.round(Math.max(LEAST, Math.min(wanted, most)));
}

/**
 * A column at the right of the notebook that `origin` is in; null where there is no such notebook.
 * Who stood there before is told to leave, as `tenant` will be.
 */
export function dock(
  origin: HTMLElement,
  host: HTMLElement,
  hint: string,
  tenant: Tenant,
): (() => void) | null {
  const panel = origin.closest<HTMLElement>(PANEL);
  const notebook = panel?.querySelector<HTMLElement>(NOTEBOOK);
  if (!panel || !notebook) return null;
  panel.dispatchEvent(new CustomEvent(TAKEN));
  const column = new Column(panel, notebook, host, hint, tenant);
  const leave = () => tenant.leave();
  panel.addEventListener(TAKEN, leave);
  return () => {
    panel.removeEventListener(TAKEN, leave);
    column.close();
  };
}

class Column {
  private readonly element: HTMLElement;
  private readonly observer: ResizeObserver;
  private width = WIDTH;
  private enough = true;
  private readonly before: string;

  constructor(
    private readonly panel: HTMLElement,
    private readonly notebook: HTMLElement,
    private readonly host: HTMLElement,
    hint: string,
    private readonly tenant: Tenant,
  ) {
    this.before = notebook.style.paddingRight;
    const handle = h("div.gradviz-dock-handle", { title: hint });
    handle.style.cssText =
      "position:absolute;left:-3px;top:0;bottom:0;width:7px;cursor:col-resize;z-index:1;touch-action:none";
    handle.addEventListener("pointerdown", (event) => this.drag(handle, event));
    this.element = h("div.gradviz-dock", {}, handle, host);
    this.element.style.cssText =
      "position:absolute;right:0;bottom:0;z-index:5;border-left:1px solid var(--jp-border-color2,#e2e4e8);" +
      "background:var(--jp-layout-color1,#fff);box-sizing:border-box";
    panel.append(this.element);
    this.observer = new ResizeObserver(() => this.place());
    this.observer.observe(panel);
    this.observer.observe(notebook);
    this.place();
  }

  close(): void {
    this.observer.disconnect();
    this.element.remove();
    this.notebook.style.paddingRight = this.before;
  }

  private place(): void {
    // A panel behind another tab has no width: nothing is moved for that.
    const panel = this.panel.clientWidth;
    const width = panel === 0 ? this.width : columnWidth(panel, this.width);
    this.settle(width > 0);
    if (width === 0) return;
    this.element.style.top = `${this.notebook.offsetTop}px`;
    this.element.style.width = `${width}px`;
    this.notebook.style.boxSizing = "border-box";
    this.notebook.style.paddingRight = `${width + 8}px`;
  }

  private settle(enough: boolean): void {
    if (enough === this.enough) return;
    this.enough = enough;
    this.element.hidden = !enough;
    this.element.style.display = enough ? "" : "none";
    if (enough) this.element.append(this.host);
    else this.notebook.style.paddingRight = this.before;
    this.tenant.room(enough);
  }

  private drag(handle: HTMLElement, start: PointerEvent): void {
    start.preventDefault();
    handle.setPointerCapture(start.pointerId);
    const from = this.element.offsetWidth + start.clientX;
    const move = (event: PointerEvent) => {
      this.width = from - event.clientX;
      this.place();
    };
    const stop = () => {
      handle.removeEventListener("pointermove", move);
      handle.removeEventListener("pointerup", stop);
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", stop);
  }
}
