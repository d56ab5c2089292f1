// The view: keeps the store, the layout and the panels together.
import { extentOf, labelOf } from "../draw/label";
import { type Attention, Picture, type Sight } from "../draw/picture";
import { chooseLanguage, type Fields, type Language, say } from "../i18n";
import { LayoutEngine, type Placement } from "../layout/engine";
import { diffOf } from "../model/diff";
import { BUDGET, MOST_DRAWN } from "../model/fold";
import { scalarOf } from "../model/format";
import { differ, headOf, turn } from "../model/iterations";
import { Marks } from "../model/marks";
import { Moments } from "../model/moments";
import { buildScene, EMPTY_SCENE, type Item, loopOf, type Scene } from "../model/scene";
import { GraphStore } from "../model/store";
import type { Delta, Detail, NodeRow } from "../model/types";
import type { Context } from "../panels/context";
import { Crumbs } from "../panels/crumbs";
import { h, refill } from "../panels/dom";
import { Find } from "../panels/find";
import { Findings } from "../panels/findings";
import { Graph } from "../panels/graph";
import { type FoldBy, Header, type Kind } from "../panels/header";
import { Inspector } from "../panels/inspector";
import { KeySheet, LAYERS } from "../panels/keys";
import { Legend } from "../panels/legend";
import { LoopBar } from "../panels/loop";
import { Memory } from "../panels/memory";
import { NodeList } from "../panels/nodelist";
import { STYLE } from "../panels/style";
import { toBundle } from "../protocol/bundle";
import { Client, type Wire } from "../protocol/client";
import { saveAs } from "./files";
import { detectTheme, hasCells, lightLine, revealCell, watchLines, watchTheme } from "./notebook";

export interface Settings {
  language: string;
  theme: string;
  layout: string;
  height: number;
  /** Where the view can go back under its cell. */
  undock?: () => void;
  /** This script, so that the view can be saved as a page; empty where it is not known. */
  script?: string;
  /** What is saved as JSON and in a page, when it is more than the graph in view. */
  data?: () => unknown;
}

/** What a widget that has the view inside it hears. */
export interface Listener {
  selected(): void;
  configured(): void;
  /** Keys of its own. */
  keys?: readonly string[];
  key(key: string): boolean;
}

/** After this long without an answer the view says that it waits. */
const LATE_MS = 400;
/** Rebuilding may take this share of the time at most, however large the graph is. */
const BUSY_SHARE = 4;
const MOST_GROWTH = 1.4;
const KINDS: readonly Kind[] = ["svg", "png", "pdf", "dot", "mmd", "json", "html"];

export class App implements Context {
  readonly now = new GraphStore();
  readonly moments = new Moments();
  readonly client: Client | null;
  readonly frozen: boolean;
  readonly attempt?: Context["attempt"];
  language: Language = "en";
  private readonly root = h("div.gv", { "data-testid": "gv" });
  private readonly alert = h("div.alert", { role: "alert", hidden: true, testid: "alert" });
  private readonly note = h("div.alert.note", { hidden: true, testid: "note" });
  private readonly empty = h("div.empty", { testid: "empty" });
  private readonly header: Header;
  private readonly graph: Graph;
  private readonly find: Find;
  private readonly legend: Legend;
  private readonly inspector: Inspector;
  private readonly findings: Findings;
  private readonly memory: Memory;
  private readonly list: NodeList;
  private readonly engine: LayoutEngine;
  private readonly choices = {
    by: "auto" as FoldBy,
    near: null as number | null,
    once: false,
    opened: new Set<string>(),
    closed: new Set<string>(),
  };
  private readonly crumbs: Crumbs;
  private readonly hidden = new Set<string>();
  private readonly sheet: KeySheet;
  private readonly loopBar = new LoopBar(this, (at) => this.goRound(at));
  /** The iteration that is shown of the loop that this group begins. */
  private iteration: { head: string; at: number } | null = null;
  /** The graph that this one is compared with. */
  private before: NodeRow[] | null = null;
  private readonly attention: Attention;
  private readonly marks = new Marks();
  private scene: Scene = EMPTY_SCENE;
  private place: Placement | null = null;
  private picture: Picture | null = null;
  private laidOut = "";
  private arranging = false;
  private stale = false;
  private height = 0;
  private timer = 0;
  private late = false;
  private lateTimer = 0;
  private listTimer = 0;
  private earliest = 0;
  private askedFor = "";
  private readonly stopTheme: () => void;
  private readonly stopLines: () => void;
  private putOut = () => {};

  constructor(
    host: HTMLElement,
    private settings: Settings,
    wire: Wire | null,
    private readonly outer: Listener | null = null,
  ) {
    this.frozen = wire === null;
    this.client = wire && new Client(wire, this.listener());
    if (this.client)
      this.attempt = ({ written, ...asked }) => {
        this.store.trials.set(`${asked.what}:${asked.id}`, { written });
        this.client?.attempt(asked);
      };
    this.attention = {
      selected: "",
      hovered: "",
      selectedNode: null,
      hoveredNode: null,
      markOf: (item) => this.marks.of(item),
      hidden: this.hidden,
    };
    this.header = new Header(this, this.tools());
    this.graph = new Graph(this, this.attention, this.graphEvents());
    this.crumbs = new Crumbs(this, (belongs) => this.frame(belongs));
    this.find = new Find(this, this.finder());
    const press = (key: string) => this.graph.press(key);
    this.sheet = new KeySheet(this, this.outer?.keys ?? [], press, this.hidden);
    this.legend = new Legend(this);
    this.inspector = new Inspector(this);
    this.findings = new Findings(this);
    this.memory = new Memory(this);
    this.list = new NodeList(this, (item) => this.marks.of(item) === "leak");
    this.engine = new LayoutEngine((error) => this.warn(this.say("graph.worker", { error }), true));
    this.mount(host);
    this.stopTheme = watchTheme(() => this.applyTheme());
    this.stopLines = this.frozen ? () => {} : watchLines((cell, line) => this.light(cell, line));
    this.configure(settings);
  }

  close(): void {
    this.stopTheme();
    this.stopLines();
    this.putOut();
    this.header.closeMenu();
    this.graph.close();
    this.engine.close();
    for (const timer of [this.timer, this.lateTimer, this.listTimer]) clearTimeout(timer);
  }

  configure(settings: Settings): void {
    this.settings = { ...settings, data: settings.data ?? this.settings.data };
    const { root } = this;
    this.language = chooseLanguage(settings.language, navigator.language || "en");
    root.lang = this.language === "zh" ? "zh-CN" : "en";
    root.dataset.layout = settings.layout || "inline";
    this.height = Math.max(240, settings.height || 420);
    root.style.setProperty("--gv-height", `${this.height}px`);
    this.applyTheme();
    this.graph.rename();
    this.laidOut = "";
    // A view that has just come is told its settings more than once, and its graph right after.
    if (this.picture) this.refresh();
    else this.schedule();
    this.outer?.configured();
  }

  /** Puts a card before the details and a band right below the graph, where it needs no scrolling. */
  furnish(card: HTMLElement, band: HTMLElement): void {
    const side = h("div.side", {}, card);
    this.inspector.element.replaceWith(side);
    side.append(this.inspector.element);
    this.legend.element.after(band);
  }

  /** What is shown: the graph of now, or of an earlier moment. */
  get store(): GraphStore {
    return this.moments.past ?? this.now;
  }

  /** Shows the graph after a cell; null: as it is now. */
  readonly travel = (cell: number | null): void => {
    this.moments.go(cell);
    this.refreshAll();
  };

  private refreshAll(): void {
    this.marks.update(this.store.findings);
    this.hurry();
    this.schedule();
  }

  get selectedNode(): number | null {
    return this.attention.selectedNode;
  }

  get selectedName(): string {
    return this.selectedRow()?.label ?? "";
  }

  /** Selects the node with this name, or the newest that belongs to a module of this name. */
  choose(name: string): void {
    if (name === "" || name === this.selectedName) return;
    const newest = [...this.store.nodes.values()].reverse();
    // Another panel may know `model[0].weight` as `0.weight`.
    const isIt = (label: string) => {
      const path = label.replaceAll("[", ".").replaceAll("]", "");
      return label === name || path === name || path.endsWith(`.${name}`);
    };
    const found = newest.find((row) => isIt(row.label)) ?? newest.find((row) => isIt(row.module));
    if (found) this.show(found.id);
  }

  /** The node that the backward pass is at. */
  set running(node: number | null) {
    if (node === this.attention.running) return;
    this.attention.running = node;
    const [item] = node === null ? [] : (this.scene.byNode.get(node) ?? []);
    if (item !== undefined) this.graph.bring(item, false);
    this.graph.redraw();
  }

  markStops(nodes: ReadonlySet<number>): void {
    this.attention.stops = new Set(nodes);
    this.graph.redraw();
  }

  // What panels ask for.

  readonly say = (key: string, fields?: Fields): string => say(this.language, key, fields);

  show(id: number): void {
    const item = this.drawingOf(id);
    if (item === undefined) {
      this.select("", id);
      return;
    }
    this.select(this.scene.items[item].key, id);
    this.graph.bring(item, false);
  }

  /** Of several drawings of a node the one in view, else the newest. */
  private drawingOf(id: number): number | undefined {
    const drawings = this.scene.byNode.get(id) ?? [];
    if (drawings.length < 2) return drawings[0];
    const seen = new Set(this.graph.inView());
    return drawings.find((n) => seen.has(n)) ?? drawings.at(-1);
  }

  canReveal(): boolean {
    return hasCells();
  }

  reveal(cell: number): boolean {
    return revealCell(cell);
  }

  /** A delta from a frame or a bundle. */
  take(delta: Delta): void {
    this.now.apply(delta);
    const { state, cell } = this.now.status;
    if (!this.frozen && cell !== null && state !== "running") this.moments.remember(cell, this.now);
    if (delta.replace) this.askedFor = "";
    this.marks.update(this.store.findings);
    if (!this.frozen) this.ask();
    // The last picture of a cell does not wait, and the first is there in the page's next frame.
    if (state !== "running" || !this.picture) this.hurry();
    if (this.picture) this.schedule();
    else this.refresh();
  }

  private listener() {
    return {
      delta: (delta: Delta) => {
        this.alert.hidden = true;
        this.take(delta);
      },
      detail: (id: number, detail: Detail) => {
        this.store.putDetail(id, detail);
        if (id !== this.attention.selectedNode) return;
        this.settleLate();
        this.schedule();
      },
      tried: (answer: Record<string, unknown>) => {
        const key = `${answer.what}:${answer.id}`;
        this.store.trials.set(key, { ...this.store.trials.get(key), why: "", ...answer });
        this.updateInspector();
      },
      pong: () => {},
      trouble: (lasting: boolean) => {
        if (lasting) this.warn(this.say("graph.lost"), false);
      },
    };
  }

  private mount(host: HTMLElement): void {
    // Shortcuts of the notebook must not fire while keys move through the graph.
    host.dataset.lmSuppressShortcuts = "true";
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.graph.element.append(
      this.empty,
      this.crumbs.element,
      this.find.element,
      this.sheet.element,
    );
    const stage = h(
      "div.stage",
      {},
      this.graph.element,
      this.loopBar.element,
      this.legend.element,
      this.list.element,
    );
    this.root.append(
      this.header.element,
      this.alert,
      this.note,
      h("div.main", {}, stage, this.inspector.element),
      this.findings.element,
      this.memory.element,
    );
    shadow.replaceChildren(h("style", {}, STYLE), this.root);
  }

  private applyTheme(): void {
    const { theme } = this.settings;
    this.root.dataset.theme = detectTheme(theme);
    this.root.toggleAttribute("data-bound", theme !== "light" && theme !== "dark");
    this.graph.retheme();
    this.updateInspector();
  }

  /** Python will send nothing more, unless a frame shows otherwise. */
  lose(): void {
    this.warn(this.say("graph.gone"), false);
  }

  private warn(words: string, mild: boolean): void {
    this.alert.classList.toggle("note", mild);
    this.alert.textContent = words;
    this.alert.hidden = false;
  }

  // Rebuilding: at most one at a time, and never so often that the page has no time for its reader.

  private hurry(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    this.earliest = 0;
  }

  private schedule(): void {
    if (this.timer !== 0) return;
    const wait = Math.max(0, this.earliest - performance.now());
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.refresh();
    }, wait);
  }

  private refresh(): void {
    if (this.arranging) {
      this.stale = true;
      return;
    }
    const start = performance.now();
    this.scene = buildScene(
      this.store,
      this.choices,
      this.choices.by === "none" ? MOST_DRAWN : BUDGET,
    );
    this.turnRound();
    this.keepSelection();
    const labels = this.scene.items.map((item) => labelOf(item, this.say, this.valueOf(item)));
    const arranged = `${this.moments.at}:${this.store.structure}:${this.language}:${this.choices.by}:${this.choices.near}:${this.choices.once}:${[...this.choices.opened, "|", ...this.choices.closed].join()}`;
    if (this.place && arranged === this.laidOut) this.finish(this.scene, this.place, labels, false);
    else {
      const scene = this.scene;
      this.arranging = true;
      this.engine.run(
        scene,
        (n) => extentOf(scene.items[n], labels[n]),
        (place) => {
          this.arranging = false;
          this.laidOut = arranged;
          this.finish(scene, place, labels, place.fresh);
          if (this.stale) this.schedule();
          this.stale = false;
        },
      );
    }
    this.earliest = start + (performance.now() - start) * (1 + BUSY_SHARE);
    this.updatePanels();
    this.updateNote();
  }

  private finish(
    scene: Scene,
    place: Placement,
    labels: ReturnType<typeof labelOf>[],
    fresh: boolean,
  ): void {
    this.place = place;
    this.picture = scene.items.length > 0 ? new Picture(scene, place, labels) : null;
    this.updateEmpty();
    this.growInline();
    this.graph.show(this.picture, fresh);
    this.scheduleList();
  }

  /** Under a cell a larger graph may take some more height than was asked for, so that it stays legible. */
  private growInline(): void {
    const { layout, height } = this.settings;
    if (layout !== "inline" || !this.picture) return;
    const { top, bottom } = this.picture.box;
    const wanted = Math.min(height * MOST_GROWTH, (bottom - top) * 0.8 + 40);
    if (wanted <= this.height) return;
    this.height = wanted;
    this.root.style.setProperty("--gv-height", `${Math.round(wanted)}px`);
  }

  private updatePanels(): void {
    const canFold = this.scene.folded > 0 || [...this.scene.repeats.values()].some((n) => n > 1);
    const { activeElement } = this.root.getRootNode() as ShadowRoot;
    const focused = activeElement?.getAttribute("data-testid");
    this.header.update(this.store.status, this.scene, canFold);
    this.findings.update();
    this.memory.update();
    this.updateInspector();
    if (focused)
      this.root
        .querySelector<HTMLElement>(`[data-testid="${focused}"]`)
        ?.focus({ preventScroll: true });
  }

  /** What Python says about the picture as a whole. */
  private updateNote(): void {
    const note = this.store.status.note.split(".").at(-1);
    const words = [note ? this.say(`note.${note}`) : "", this.differs()].filter(
      (one) => one !== "",
    );
    const { at } = this.moments;
    this.note.hidden = words.length === 0 && at === null;
    refill(this.note, JSON.stringify([words, at, this.language]), () =>
      at === null ? words : [this.wayBack(at), ...words],
    );
  }

  private wayBack(cell: number): HTMLElement {
    const back = { class: "link", testid: "now" };
    const button = h("button", { ...back, onclick: () => this.travel(null) }, this.say("time.now"));
    return h("span", {}, `${this.say("time.at", { cell })} `, button, " ");
  }

  /** What came and what is gone since the graph that it is compared with. */
  private differs(): string {
    if (!this.before) return "";
    const { came, gone } = diffOf(this.before, this.store.nodes.values());
    this.attention.came = came;
    if (came.size + gone.length === 0) return this.say("compare.same");
    const line = (row: NodeRow) => (row.line > 0 ? `${row.op}:${row.line}` : row.op);
    const names = [...new Set(gone.map(line))].slice(0, 6).join(", ");
    const told = this.say("compare.came", { n: came.size });
    return gone.length === 0
      ? told
      : `${told} ${this.say("compare.gone", { n: gone.length, names })}`;
  }

  private frame(belongs: (row: NodeRow) => boolean): void {
    const at = this.scene.items.flatMap((item, n) => (belongs(item.row) ? [n] : []));
    this.graph.showTogether(at);
  }

  private updateEmpty(): void {
    this.empty.hidden = this.picture !== null;
    if (this.picture) return;
    const hint = this.frozen ? null : h("span", {}, this.say("graph.empty_hint"));
    const words = this.say(this.frozen ? "graph.empty_frozen" : "graph.empty");
    this.empty.replaceChildren(h("b", {}, words), hint ?? "");
  }

  private updateInspector(): void {
    const row = this.selectedRow();
    this.crumbs.update(row);
    this.updateLoop();
    if (!row) {
      this.inspector.update(null, this.graph.tokens);
      return;
    }
    const at = this.scene.byKey.get(this.attention.selected);
    const item = at === undefined ? null : this.scene.items[at];
    const uses = this.scene.byNode.get(row.id)?.length ?? 1;
    const saved = this.store.details.get(row.id)?.saved ?? [];
    this.attention.origins = saved.flatMap(({ source }) => source ?? []);
    this.inspector.update({ row, item, uses, late: this.late }, this.graph.tokens);
  }

  // Iterations of a folded loop.

  private headOfSelected(): Item | null {
    const at = this.scene.byKey.get(this.attention.selected);
    return at === undefined ? null : headOf(this.scene, this.scene.items[at]);
  }

  private headShown(): Item | null {
    const at = this.iteration && this.scene.byKey.get(this.iteration.head);
    return at == null ? null : this.scene.items[at];
  }

  private turnRound(): void {
    const head = this.headShown();
    if (!head?.members) this.iteration = null;
    else turn(this.scene, this.store, head, Math.min(this.iteration!.at, head.members.length - 1));
  }

  /** Shows another iteration of the loop; null: the newest again. */
  private goRound(at: number | null): void {
    const head = this.headShown() ?? this.headOfSelected();
    this.iteration = at === null || !head ? null : { head: head.key, at };
    this.hurry();
    this.refresh();
    const n = this.scene.byKey.get(this.attention.selected);
    if (n !== undefined && this.scene.items[n].members)
      this.select(this.attention.selected, this.scene.items[n].row.id);
  }

  private updateLoop(): void {
    const head = this.headShown() ?? this.headOfSelected();
    this.loopBar.update(
      head && {
        at: this.iteration?.at ?? null,
        of: head.members!.length,
        differ: (at, other) => differ(this.scene, this.store, head, at, other),
      },
    );
  }

  /** A scalar's value, when it came along. */
  private valueOf(item: Item): number | null {
    return scalarOf(this.store.details.get(item.row.id)?.value?.values);
  }

  // Selection.

  private selectedRow(): NodeRow | undefined {
    const id = this.attention.selectedNode;
    return id === null ? undefined : this.store.nodes.get(id);
  }

  private select(key: string, id: number): void {
    const again = id === this.attention.selectedNode;
    this.attention.selected = key;
    this.attention.selectedNode = id;
    if (!again) this.askedFor = "";
    this.ask();
    this.updateInspector();
    this.graph.redraw();
    this.outer?.selected();
  }

  /** The drawing that was selected may be gone: its node may have another. */
  private keepSelection(): void {
    const { attention, scene } = this;
    if (attention.selectedNode === null) return;
    if (!this.store.nodes.has(attention.selectedNode)) this.clearSelection();
    else if (!this.stillDrawn()) {
      const at = scene.byNode.get(attention.selectedNode)?.[0];
      attention.selected = at === undefined ? "" : scene.items[at].key;
    }
  }

  /** Whether the selected item still stands for the selected node. */
  private stillDrawn(): boolean {
    const { selected, selectedNode } = this.attention;
    const at = this.scene.byKey.get(selected);
    if (at === undefined || selectedNode === null) return false;
    return this.scene.byNode.get(selectedNode)?.includes(at) ?? false;
  }

  private clearSelection(): boolean {
    const had = this.attention.selectedNode !== null;
    this.attention.selected = "";
    this.attention.selectedNode = null;
    this.askedFor = "";
    this.updateInspector();
    this.graph.redraw();
    this.outer?.selected();
    return had;
  }

  /** Asks once for each state of the selected node. */
  private ask(): void {
    const row = this.selectedRow();
    if (!this.client || !row) return;
    const { state, cell } = this.store.status;
    const version = [
      row.id,
      state,
      cell,
      row.flags,
      row.version,
      row.gradNorm,
      row.savedAlive,
      row.hooks,
    ].join();
    if (version === this.askedFor) return;
    this.askedFor = version;
    this.settleLate();
    this.client.inspect(row.id);
    this.lateTimer = window.setTimeout(() => {
      this.late = true;
      this.updateInspector();
    }, LATE_MS);
  }

  private settleLate(): void {
    clearTimeout(this.lateTimer);
    this.late = false;
  }

  // What the panels' controls do.

  private graphEvents() {
    return {
      select: (n: number) => {
        const item = this.scene.items[n];
        if (item) this.select(item.key, item.row.id);
      },
      clear: () => this.clearSelection(),
      toggleFold: (n: number) => this.toggleFold(n),
      open: () => this.inspector.focus(),
      find: () => this.tools().find(),
      escape: () =>
        this.header.closeMenu() || this.find.close() || this.sheet.close() || this.clearSelection(),
      drawn: (sights: Set<Sight>) => this.drawn(sights),
      hovered: (row: NodeRow | null) => {
        this.putOut();
        this.putOut = row && row.line > 0 ? lightLine(row.cell, row.line) : () => {};
      },
      key: (key: string) => (this.outer?.key(key) ?? false) || this.turn(key) || this.shortcut(key),
    };
  }

  /** What a line of code has made is drawn as if the pointer were on it. */
  private light(cell: number, line: number): void {
    const rows = cell < 0 ? [] : [...this.store.nodes.values()];
    const made = rows.filter((row) => row.cell === cell && row.line === line);
    if (made.length === 0 && !this.attention.lines?.size) return;
    this.attention.lines = new Set(made.map((row) => row.id));
    this.graph.redraw();
  }

  /** One cell back or forth in time. */
  private turn(key: string): boolean {
    if (key !== "[" && key !== "]") return false;
    this.moments.turn(key === "[" ? -1 : 1);
    this.refreshAll();
    return true;
  }

  private shortcut(key: string): boolean {
    if (LAYERS.includes(key)) {
      if (!this.hidden.delete(key)) this.hidden.add(key);
      this.memory.element.hidden = this.hidden.has("m");
      this.graph.redraw();
    } else if (key === "o") this.toggleFold(this.scene.byKey.get(this.attention.selected) ?? -1);
    else if (key === "w" && this.selectedRow()) this.inspector.turnTo("alive");
    else if (key === "?") this.sheet.toggle();
    else return false;
    return true;
  }

  private drawn(sights: Set<Sight>): void {
    this.legend.update(sights);
    this.scheduleList();
  }

  private scheduleList(): void {
    if (this.listTimer !== 0) return;
    this.listTimer = window.setTimeout(() => {
      this.listTimer = 0;
      if (this.picture) this.list.update(this.picture, () => this.graph.inView());
      else this.list.clear();
    }, 60);
  }

  private finder() {
    return {
      choose: (n: number) => {
        const item = this.scene.items[n];
        this.select(item.key, item.row.id);
        this.graph.bring(n, true);
      },
      close: () => this.graph.element.focus({ preventScroll: true }),
      scene: () => this.scene,
    };
  }

  private tools() {
    return {
      find: () => {
        this.header.closeMenu();
        this.find.open();
      },
      fit: () => this.graph.fitAll(),
      save: (kind: Kind) => this.save(kind),
      kinds: () => (this.settings.script ? KINDS : KINDS.slice(0, -1)),
      switchLanguage: () => {
        const language = this.language === "zh" ? "en" : "zh";
        this.client?.language(language);
        this.configure({ ...this.settings, language });
      },
      undock: () => this.settings.undock,
      toggleFolding: () => this.toggleFolding(),
      foldBy: () => this.choices.by,
      fold: (by: FoldBy) => this.foldBy(by),
      once: () => this.choices.once,
      toggleOnce: () => {
        this.choices.once = !this.choices.once;
        this.schedule();
      },
      comparing: () => this.before !== null,
      compare: () => this.compare(),
      keys: () => this.sheet.toggle(),
      goToFindings: () =>
        this.findings.element.scrollIntoView({ block: "nearest", behavior: "smooth" }),
    };
  }

  private toggleFold(n: number): void {
    const item = this.scene.items[n];
    if (!item) return;
    const { opened, closed } = this.choices;
    const key = item.site;
    if (item.members && item.leaf) opened.add(key);
    else if (item.members && item.row.kind === "operation") {
      const loop = closed.delete(key) ? [] : loopOf(this.scene, item);
      for (const { site } of loop) opened.add(site);
    } else if (!opened.delete(key)) {
      if ((this.scene.repeats.get(key) ?? 0) < 2) return;
      closed.add(key);
    }
    this.graph.hold();
    this.schedule();
  }

  /** Folds everything that repeats, or goes back to what fits. */
  private toggleFolding(): void {
    const { opened, closed } = this.choices;
    const any = opened.size + closed.size > 0 || this.choices.by !== "auto";
    opened.clear();
    closed.clear();
    this.choices.by = "auto";
    if (!any && this.scene.folded > 0) this.choices.by = "none";
    else if (!any) {
      for (const [site, times] of this.scene.repeats) if (times > 1) closed.add(site);
    }
    this.schedule();
  }

  private foldBy(by: FoldBy): void {
    Object.assign(this.choices, { by, near: this.selectedNode ?? this.store.newest });
    if (by === "near") this.graph.fitAll();
    this.choices.opened.clear();
    this.choices.closed.clear();
    this.schedule();
  }

  /** From now on tells what is another than now; or no longer. */
  private compare(): void {
    this.before = this.before ? null : [...this.store.nodes.values()];
    this.attention.came = undefined;
    this.schedule();
  }

  private save(kind: Kind): void {
    const { store, language, picture, attention } = this;
    const { tokens } = this.graph;
    const [title, pageTitle] = [this.say("graph.name"), this.say("tool.page_title")];
    const script = this.settings.script ?? "";
    const data = this.settings.data?.() ?? toBundle(store, language);
    saveAs(kind, { store, language, picture, attention, tokens, title, pageTitle, script, data });
  }
}
