// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Sender } from "../dev/frames.mjs";
import { network } from "../dev/scenes.mjs";
import { columnWidth } from "../src/widgets/dock";
import { detectTheme, revealCell } from "../src/widgets/notebook";
import widget from "../src/widgets/widget";

type Listener = (...args: unknown[]) => void;

class Model {
  readonly sent: unknown[] = [];
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(readonly traits: Record<string, unknown>) {}

  get = (name: string) => this.traits[name];
  send = (message: unknown) => this.sent.push(message);

  on = (event: string, listener: Listener) => {
    const known = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, known.add(listener));
  };

  off = (event: string, listener?: Listener) => {
    if (listener) this.listeners.get(event)?.delete(listener);
  };

  emit(event: string, ...args: unknown[]): void {
    for (const listener of this.listeners.get(event) ?? []) listener(...args);
  }

  heard = () => [...this.listeners.values()].reduce((sum, all) => sum + all.size, 0);
}

const traits = { language: "en", theme: "light", placement: "inline", height: 420, bundle: "" };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});

afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
  delete document.body.dataset.jpThemeLight;
});

function show(model: Model, place: HTMLElement = document.body) {
  const el = document.createElement("div");
  const close = widget.render({ model: model as never, el });
  place.append(el);
  vi.advanceTimersByTime(1000);
  return { el, close };
}

const view = (place: ParentNode) => place.querySelector(".gradviz-host")!.shadowRoot!;
const count = (place: ParentNode) =>
  view(place).querySelector("[data-testid=gv-count]")!.textContent;

function notebook(): HTMLElement {
  document.body.innerHTML =
    '<div class="jp-NotebookPanel"><div class="jp-Notebook">' +
    '<div class="jp-Cell" id="one"><div class="jp-InputPrompt">[7]:</div></div><div id="out"></div></div></div>';
  return document.getElementById("out")!;
}

test("a live widget says that it is ready and draws what it is sent", () => {
  const model = new Model(traits);
  const { el, close } = show(model);
  expect(model.sent).toEqual([{ t: "ready", seq: -1, language: "en" }]);
  const s = network();
  const { message, buffers } = new Sender().frame(s.nodes, s.edges, { status: s.bundle().status });
  model.emit("msg:custom", message, buffers);
  vi.advanceTimersByTime(1000);
  expect(count(el)).toBe("10 nodes");
  close();
  expect(model.heard()).toBe(0);
});

test("a frozen widget draws its bundle and asks no one", () => {
  const model = new Model({ ...traits, bundle: JSON.stringify(network().bundle()) });
  const { el, close } = show(model);
  expect(count(el)).toBe("10 nodes");
  expect(model.sent).toEqual([]);
  close();
});

test("a changed trait is taken up", () => {
  const model = new Model({ ...traits });
  const { el, close } = show(model);
  model.traits.language = "zh";
  model.emit("change:language");
  vi.advanceTimersByTime(100);
  expect(count(el)).toBe("0 个节点");
  close();
});

test("docked, the view stands beside its notebook and goes back when asked", () => {
  const out = notebook();
  const { close } = show(new Model({ ...traits, placement: "dock" }), out);
  const panel = document.querySelector(".jp-NotebookPanel")!;
  const book = document.querySelector<HTMLElement>(".jp-Notebook")!;
  expect(panel.querySelector(":scope > .gradviz-dock .gradviz-host")).not.toBeNull();
  expect(book.style.paddingRight).not.toBe("");
  expect(out.textContent).toContain("docked to the right");
  out.querySelector("button")!.click();
  expect(panel.querySelector(".gradviz-dock")).toBeNull();
  expect(book.style.paddingRight).toBe("");
  expect(out.querySelector(".gradviz-host")).not.toBeNull();
  close();
});

test("a view that is to stand beside the notebook is not seen under its cell before", () => {
  const el = document.createElement("div");
  const close = widget.render({ model: new Model({ ...traits, placement: "dock" }) as never, el });
  notebook().append(el);
  expect(el.querySelector(".gradviz-host")).toBeNull();
  vi.advanceTimersByTime(1000);
  expect(document.querySelector(".gradviz-dock .gradviz-host")).not.toBeNull();
  close();
});

test.each([0, 10_000])("with no notebook after %d ms the view stands under its cell", (wait) => {
  const el = document.createElement("div");
  const close = widget.render({ model: new Model({ ...traits, placement: "dock" }) as never, el });
  vi.advanceTimersByTime(wait);
  document.body.append(el);
  vi.advanceTimersByTime(1000);
  expect(el.querySelector(".gradviz-host")).not.toBeNull();
  close();
});

test("there is room for one view beside a notebook, and none is left when it closes", () => {
  const out = notebook();
  const first = show(new Model({ ...traits, placement: "dock" }), out);
  const second = show(new Model({ ...traits, placement: "dock" }), out);
  expect(document.querySelectorAll(".gradviz-dock")).toHaveLength(1);
  expect(first.el.querySelector(".gradviz-host")).not.toBeNull();
  second.close();
  expect(document.querySelectorAll(".gradviz-dock")).toHaveLength(0);
  first.close();
});

test("views that do not share a script still leave the place to one another", async () => {
  const out = notebook();
  const first = show(new Model({ ...traits, placement: "dock" }), out);
  vi.resetModules();
  const { default: other } = await import("../src/widgets/widget");
  const el = document.createElement("div");
  out.append(el);
  const close = other.render({ model: new Model({ ...traits, placement: "dock" }) as never, el });
  vi.advanceTimersByTime(1000);
  expect(document.querySelectorAll(".gradviz-dock")).toHaveLength(1);
  expect(first.el.querySelector(".gradviz-host")).not.toBeNull();
  close();
  first.close();
});

test("the column leaves the notebook its room, and is not there when it cannot", () => {
  expect(columnWidth(1400)).toBe(480);
  expect(columnWidth(1400, 2000)).toBe(840);
  expect(columnWidth(840)).toBe(378);
  expect(columnWidth(700)).toBe(315);
  expect(columnWidth(640)).toBe(0);
  for (let panel = 300; panel < 2000; panel += 7) {
    const width = columnWidth(panel, 5000);
    if (width > 0) expect(panel - width).toBeGreaterThanOrEqual(320);
    if (panel < 900) expect(width).toBeLessThanOrEqual(panel * 0.45);
  }
});

test("in a narrow notebook a docked view stands under its cell", () => {
  const out = notebook();
  const panel = document.querySelector<HTMLElement>(".jp-NotebookPanel")!;
  Object.defineProperty(panel, "clientWidth", { value: 460 });
  const { el, close } = show(new Model({ ...traits, placement: "dock" }), out);
  expect(el.querySelector(".gradviz-host")).not.toBeNull();
  expect(document.querySelector<HTMLElement>(".gradviz-dock")!.style.display).toBe("none");
  expect(document.querySelector<HTMLElement>(".jp-Notebook")!.style.paddingRight).toBe("");
  close();
  expect(document.querySelector(".gradviz-dock")).toBeNull();
});

test("a view whose kernel has gone says so until it hears from one again", () => {
  const model = new Model(traits);
  const { el, close } = show(model);
  const alert = view(el).querySelector<HTMLElement>("[data-testid=gv-alert]")!;
  expect(alert.hidden).toBe(true);
  model.emit("comm_live_update");
  expect(alert.textContent).toContain("kernel of this view has gone");
  const s = network();
  const { message, buffers } = new Sender().frame(s.nodes, s.edges, { status: s.bundle().status });
  model.emit("msg:custom", message, buffers);
  expect(alert.hidden).toBe(true);
  close();
  expect(model.heard()).toBe(0);
});

test("where there is no notebook a docked view stays in its place", () => {
  const { el, close } = show(new Model({ ...traits, placement: "dock" }));
  expect(el.querySelector(".gradviz-host")).not.toBeNull();
  expect(document.querySelector(".gradviz-dock")).toBeNull();
  close();
});

test("a line of a cell can be shown where the cell is", () => {
  notebook();
  const cell = document.getElementById("one")!;
  cell.scrollIntoView = vi.fn();
  expect(revealCell(7)).toBe(true);
  expect(cell.scrollIntoView).toHaveBeenCalled();
  expect(revealCell(8)).toBe(false);
});

test("the theme is the notebook's unless one is asked for", () => {
  document.body.dataset.jpThemeLight = "false";
  expect(detectTheme("auto")).toBe("dark");
  expect(detectTheme("light")).toBe("light");
  document.body.dataset.jpThemeLight = "true";
  expect(detectTheme("auto")).toBe("light");
});
