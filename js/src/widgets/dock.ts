// Docking beside the notebook: the view moves out of its cell into a column at the right of the notebook's panel.
import { h } from "../panels/dom";

const PANEL = ".jp-NotebookPanel";
const NOTEBOOK = ".jp-Notebook";
const WIDTH = 480;
const LEAST = 340;
/** The notebook keeps at least this share of the panel. */
const SHARE = 0.6;

/** Calls `found` once `element` is in the page. An output is rendered before it is put there. */
export function whenAttached(element: HTMLElement, found: () => void): () => void {
  let tries = 0;
  let timer = 0;
  const look = () => {
    if (element.isConnected) found();
    else if (tries++ < 100) timer = window.setTimeout(look, 50);
  };
  look();
  return () => clearTimeout(timer);
}

/** Who stands beside each notebook: there is room for one. */
const places = new WeakMap<HTMLElement, { column: Column; leave: () => void }>();

/**
 * A column at the right of the notebook that `origin` is in; null where there is no such notebook.
 * Who stood there before is told to leave, as `leave` will be.
 */
export function dock(
  origin: HTMLElement,
  host: HTMLElement,
  hint: string,
  leave: () => void,
): (() => void) | null {
  const panel = origin.closest<HTMLElement>(PANEL);
  const notebook = panel?.querySelector<HTMLElement>(NOTEBOOK);
  if (!panel || !notebook) return null;
  places.get(panel)?.leave();
  const column = new Column(panel, notebook, host, hint);
  places.set(panel, { column, leave });
  return () => {
    column.close();
    if (places.get(panel)?.column === column) places.delete(panel);
  };
}

class Column {
  private readonly element: HTMLElement;
  private readonly observer: ResizeObserver;
  private width = WIDTH;
  private readonly before: string;

  constructor(
    private readonly panel: HTMLElement,
    private readonly notebook: HTMLElement,
    host: HTMLElement,
    hint: string,
  ) {
    this.before = notebook.style.paddingRight;
    const handle = h("div", { class: "gradviz-dock-handle", title: hint });
    handle.style.cssText =
      "position:absolute;left:-3px;top:0;bottom:0;width:7px;cursor:col-resize;z-index:1;touch-action:none";
    handle.addEventListener("pointerdown", (event) => this.drag(handle, event));
    this.element = h("div", { class: "gradviz-dock" }, handle, host);
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
    const room = this.panel.clientWidth * SHARE;
    const width = Math.round(Math.max(LEAST, Math.min(this.width, room)));
    this.element.style.top = `${this.notebook.offsetTop}px`;
    this.element.style.width = `${width}px`;
    this.notebook.style.boxSizing = "border-box";
    this.notebook.style.paddingRight = `${width + 8}px`;
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
