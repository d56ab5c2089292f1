// The graph on its canvas: camera, pointer and keys.
import { Camera } from "../draw/camera";
import { CORNERS, type Corner, freeCorner, type Overview } from "../draw/corner";
import { NAME, spoken } from "../draw/label";
import type { Attention, Picture, Sight } from "../draw/picture";
import { mapFit, paint, paintMap } from "../draw/screen";
import { LIGHT, readTokens, type Tokens } from "../draw/tokens";
import type { NodeRow } from "../model/types";
import { type Direction, neighbour } from "../model/walk";
import type { Context } from "./context";
import { h } from "./dom";

/** While following, the whole graph is shown down to this scale; of a larger one the newest part, names at 11 px. */
const WHOLE_LEAST = 0.6;
const FOLLOW_LEAST = 11 / NAME;
const TWEEN_MS = 150;
const DRAG_PX = 4;
const MOST_GREETED = 200;
/** While pictures follow one another faster than this, new nodes are simply there. */
const CALM_MS = 400;
const MAP: Overview = { width: 104, height: 76, inset: 12 };

export interface GraphEvents {
  select(item: number): void;
  clear(): void;
  toggleFold(item: number): void;
  open(): void;
  find(): void;
  escape(): boolean;
  /** Any other key; true when it meant something. */
  key(key: string): boolean;
  drawn(sights: Set<Sight>): void;
  /** The pointer is on this item, or on none. */
  hovered(row: NodeRow | null): void;
}

export class Graph {
  readonly element: HTMLElement;
  readonly camera = new Camera();
  tokens: Tokens = LIGHT;
  private picture: Picture | null = null;
  private readonly canvas = h("canvas", { "aria-hidden": "true" });
  private readonly map = h("canvas.map", { "aria-hidden": "true", hidden: true });
  private readonly observer: ResizeObserver;
  /** The camera follows the growing graph until a person moves it. */
  private following = true;
  private least = FOLLOW_LEAST;
  private held = false;
  private corner: Corner = CORNERS[0];
  private greeted = 0;
  private frame = 0;
  private tween: { from: number[]; to: number[]; start: number } | null = null;
  private drag: { x: number; y: number; moved: boolean } | null = null;

  constructor(
    private readonly context: Context,
    private readonly attention: Attention,
    private readonly events: GraphEvents,
  ) {
    this.element = h("div.graph", { tabindex: 0, role: "application" }, this.canvas, this.map);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.element);
    this.listen();
  }

  close(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  show(picture: Picture | null, fresh: boolean): void {
    const first = this.picture === null;
    this.greet(picture, fresh);
    this.picture = picture;
    if (picture && (first || fresh) && !this.held) this.follow(first);
    else if (picture && this.following) this.follow(false);
    this.held = false;
    this.redraw();
  }

  /** Items that are new in a growing picture come up softly. */
  private greet(picture: Picture | null, fresh: boolean): void {
    const before = this.picture?.scene.byKey;
    const now = performance.now();
    const busy = now - this.greeted < CALM_MS;
    this.greeted = now;
    if (!before || !picture || fresh || busy || stillness()) return;
    const keys = new Set<string>();
    for (const key of picture.scene.byKey.keys()) if (!before.has(key)) keys.add(key);
    if (keys.size === 0 || keys.size > MOST_GREETED) return;
    this.attention.emerging = { keys, share: 0 };
  }

  retheme(): void {
    // Before it has a size it is not in the page, and styles would be worked out for nothing.
    if (this.element.isConnected && this.camera.width < 2) return;
    this.tokens = readTokens(this.element);
    this.redraw();
  }

  rename(): void {
    this.element.setAttribute("aria-label", this.context.say("graph.name"));
    this.map.title = this.context.say("graph.map");
  }

  redraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame((now) => this.paint(now));
  }

  /** The next picture is another view of the same graph: the camera stays where it is. */
  hold(): void {
    this.following = false;
    this.held = true;
  }

  /** Everything, however small. */
  fitAll(): void {
    this.following = true;
    this.least = 0;
    if (this.picture) this.moveTo(this.camera.fit(this.picture.box));
  }

  /** Brings an item into view; stays put when it already is. */
  bring(item: number, centre: boolean): void {
    const { picture, camera } = this;
    if (!picture) return;
    const box = picture.boxOf(item);
    if (!centre && camera.k >= 0.5 && camera.holds(box)) return;
    this.following = false;
    if (!centre && camera.k >= 0.5) this.moveTo(camera.include(box));
    else {
      const k = Math.min(Math.max(camera.k, 0.8), 1.2);
      this.moveTo(camera.centre(picture.place.x[item], picture.y(item), k));
    }
  }

  /** All of these items, as large as they fit. */
  showTogether(items: readonly number[]): void {
    const { picture } = this;
    if (!picture || items.length === 0) return;
    this.following = false;
    this.moveTo(this.camera.fit(picture.around(items)));
  }

  inView(): number[] {
    return this.picture?.inside(this.camera.seen()) ?? [];
  }

  private follow(jump: boolean): void {
    this.following = true;
    const { picture, camera } = this;
    if (!picture) return;
    const newest = this.start();
    const focus = newest < 0 ? undefined : picture.place.x[newest];
    const whole = camera.fit(picture.box);
    const goal = whole.k >= WHOLE_LEAST ? whole : camera.fit(picture.box, this.least, focus);
    if (jump) this.set(goal);
    else this.moveTo(goal);
  }

  private set(goal: { k: number; x: number; y: number }): void {
    this.tween = null;
    Object.assign(this.camera, goal);
    this.redraw();
  }

  private moveTo(goal: { k: number; x: number; y: number }): void {
    const { k, x, y } = this.camera;
    if (Math.abs(goal.k - k) < 1e-4 && Math.abs(goal.x - x) + Math.abs(goal.y - y) < 0.5) return;
    if (stillness()) {
      this.set(goal);
      return;
    }
    this.tween = { from: [k, x, y], to: [goal.k, goal.x, goal.y], start: performance.now() };
    this.redraw();
  }

  private paint(now: number): void {
    this.frame = 0;
    this.advance(now);
    const to = this.canvas.getContext("2d");
    if (!to || this.camera.width < 2) return;
    const ratio = window.devicePixelRatio || 1;
    if (!this.picture) {
      to.setTransform(1, 0, 0, 1, 0, 0);
      to.clearRect(0, 0, this.canvas.width, this.canvas.height);
      this.map.hidden = true;
      this.element.dataset.painted = "0";
      this.events.drawn(new Set());
      return;
    }
    const sights = paint(to, ratio, this.camera, this.picture, this.attention, this.tokens);
    this.element.dataset.painted = String(this.picture.scene.items.length);
    this.paintMap(ratio);
    this.events.drawn(sights);
  }

  private advance(now: number): void {
    this.emerge(now);
    if (!this.tween) return;
    const { from, to, start } = this.tween;
    const share = Math.min(1, Math.max(0, (now - start) / TWEEN_MS));
    const eased = 1 - (1 - share) ** 3;
    const [k, x, y] = from.map((value, n) => value + (to[n] - value) * eased);
    Object.assign(this.camera, { k, x, y });
    if (share < 1) this.redraw();
    else this.tween = null;
  }

  private emerge(now: number): void {
    const { emerging } = this.attention;
    if (!emerging) return;
    emerging.share = Math.min(1, Math.max(0, (now - this.greeted) / TWEEN_MS));
    if (emerging.share === 1) this.attention.emerging = undefined;
    else this.redraw();
  }

  /** Only when there is more than what is seen. */
  private paintMap(ratio: number): void {
    const { picture, camera, map } = this;
    const small = camera.width < 360 || camera.height < 200;
    map.hidden = !picture || small || camera.holds(picture.box);
    if (map.hidden || !picture) return;
    map.classList.toggle("aside", !this.settleMap(picture));
    map.width = MAP.width * ratio;
    map.height = MAP.height * ratio;
    const to = map.getContext("2d");
    if (to) paintMap(to, ratio, MAP, camera, picture, this.tokens);
  }

  /** Puts the overview into a corner that no item is in; false when there is none. */
  private settleMap(picture: Picture): boolean {
    const boxes = picture.inside(this.camera.seen()).map((n) => picture.boxOf(n));
    const corner = freeCorner(this.camera, MAP, boxes, [this.corner, ...CORNERS]);
    if (!corner) return false;
    this.corner = corner;
    const { style } = this.map;
    style.inset = "auto";
    for (const edge of corner) style[edge] = `${MAP.inset}px`;
    return true;
  }

  private resize(): void {
    const { width, height } = this.element.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    // The first time is when the view has come into the page: only now are its colours known.
    this.tokens = readTokens(this.element);
    const first = this.camera.width < 2;
    this.camera.width = width;
    this.camera.height = height;
    if (this.picture && this.following) this.follow(first || this.tween === null);
    // At once: a resized canvas is blank until it is painted.
    cancelAnimationFrame(this.frame);
    this.paint(performance.now());
  }

  private listen(): void {
    const { element } = this;
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", () => this.drop());
    element.addEventListener("pointerleave", () => this.hover(-1));
    element.addEventListener("dblclick", (event) => this.double(event));
    element.addEventListener("keydown", (event) => this.key(event));
    this.map.addEventListener("pointerdown", (event) => this.jump(event));
    this.map.addEventListener("pointermove", (event) => {
      if (event.buttons === 1) this.jump(event);
    });
  }

  /** A plain wheel scrolls the notebook; only with Ctrl or Cmd does it zoom. */
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.following = false;
    this.tween = null;
    const { x, y } = this.point(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.camera.zoomAt(x, y, Math.exp(-event.deltaY * lines * 0.0022));
    this.redraw();
  }

  private point(event: MouseEvent): { x: number; y: number } {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private itemAt(event: MouseEvent): number {
    if (!this.picture) return -1;
    const { x, y } = this.point(event);
    const at = this.camera.toWorld(x, y);
    return this.picture.hit(at.x, at.y);
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || event.target !== this.canvas) return;
    this.element.setPointerCapture(event.pointerId);
    this.drag = { ...this.point(event), moved: false };
  }

  private move(event: PointerEvent): void {
    const { drag } = this;
    if (!drag) {
      this.hover(event.target === this.canvas ? this.itemAt(event) : -1);
      return;
    }
    const at = this.point(event);
    const [dx, dy] = [at.x - drag.x, at.y - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < DRAG_PX) return;
    this.element.classList.add("dragging");
    this.following = false;
    this.tween = null;
    this.camera.x += dx;
    this.camera.y += dy;
    this.drag = { ...at, moved: true };
    this.redraw();
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drop();
    if (!drag || drag.moved) return;
    const item = this.itemAt(event);
    if (item >= 0) this.events.select(item);
    else this.events.clear();
  }

  private drop(): void {
    this.drag = null;
    this.element.classList.remove("dragging");
  }

  private double(event: MouseEvent): void {
    const item = this.itemAt(event);
    if (item >= 0) this.events.toggleFold(item);
  }

  private hover(item: number): void {
    const hovered = item >= 0 && this.picture ? this.picture.scene.items[item] : null;
    const key = hovered?.key ?? "";
    if (key === this.attention.hovered) return;
    this.attention.hovered = key;
    this.attention.hoveredNode = hovered?.row.id ?? null;
    this.events.hovered(hovered?.row ?? null);
    this.element.classList.toggle("pointing", hovered !== null);
    const { say } = this.context;
    const hint = hovered?.members ? `\n${say("graph.open_hint")}` : "";
    this.element.title = hovered ? spoken(hovered, say) + hint : "";
    this.redraw();
  }

  private jump(event: PointerEvent): void {
    if (!this.picture) return;
    event.stopPropagation();
    const box = this.map.getBoundingClientRect();
    const fit = mapFit(MAP, this.picture);
    const x = (event.clientX - box.left - fit.x) / fit.k;
    const y = (event.clientY - box.top - fit.y) / fit.k;
    this.following = false;
    this.set(this.camera.centre(x, y));
  }

  private key(event: KeyboardEvent): void {
    if (event.target !== this.element || event.altKey) return;
    if (event.key === "Escape") {
      if (!this.events.escape()) this.element.blur();
    } else if (event.ctrlKey || event.metaKey || !this.press(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Does what a key means here; false when it means nothing. */
  press(key: string): boolean {
    const direction = ARROWS[key];
    if (direction) this.walk(direction);
    else if (key === "Enter") this.events.open();
    else if (key === " ") this.fitAll();
    else if (key === "/") this.events.find();
    else if (key === "+" || key === "=") this.zoom(1.25);
    else if (key === "-") this.zoom(0.8);
    else return this.events.key(key);
    return true;
  }

  private zoom(factor: number): void {
    const { camera } = this;
    this.following = false;
    camera.zoomAt(camera.width / 2, camera.height / 2, factor);
    this.redraw();
  }

  private walk(direction: Direction): void {
    const { picture } = this;
    if (!picture || picture.scene.items.length === 0) return;
    const from = picture.scene.byKey.get(this.attention.selected);
    const to = from === undefined ? this.start() : this.step(from, direction);
    if (to < 0) return;
    this.events.select(to);
    this.bring(to, false);
  }

  private step(from: number, direction: Direction): number {
    const { scene, place } = this.picture!;
    return neighbour(scene, place.x, place.layer, from, direction);
  }

  /** The newest operation: where reading a graph begins. */
  private start(): number {
    const { items } = this.picture!.scene;
    for (let n = items.length - 1; n >= 0; n--) if (!items[n].leaf) return n;
    return items.length - 1;
  }
}

const stillness = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

const ARROWS: Record<string, Direction | undefined> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};
