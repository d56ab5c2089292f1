// Everything about the selected node: its facts at once, the rest as soon as Python has answered.

import type { Tokens } from "../draw/tokens";
import { inLanguage } from "../i18n";
import { bytes, count, figure, tupleOfText } from "../model/format";
import type { Item } from "../model/scene";
import {
  type Detail,
  Flag,
  type Hook,
  has,
  type NodeRow,
  type Place,
  type Saved,
} from "../model/types";
import { type Context, placeLink } from "./context";
import { h, refill } from "./dom";
import { adviceOf } from "./findings";
import { tensorView } from "./tensor";
import { checkPart, whatIfPart } from "./trial";

const TABS = ["value", "grad", "saved", "hooks", "alive", "source"] as const;
type Tab = (typeof TABS)[number];

export interface Selected {
  row: NodeRow;
  /** The item it is drawn as; absent when it is folded away. */
  item: Item | null;
  uses: number;
  /** No answer for a while. */
  late: boolean;
}

export class Inspector {
  readonly element = h("aside.inspector", { testid: "inspector" });
  private tab: Tab = "value";
  private selected: Selected | null = null;
  private tokens: Tokens | null = null;

  constructor(private readonly context: Context) {}

  update(selected: Selected | null, tokens: Tokens): void {
    this.selected = selected;
    this.tokens = tokens;
    const { say, store } = this.context;
    this.element.setAttribute("aria-label", say("inspect.name"));
    this.element.classList.toggle("idle", selected === null);
    if (!selected) {
      this.element.removeAttribute("data-node-id");
      const some = store.nodes.size > 0;
      const hint = () => [some && h("p.dim.hint", {}, say("inspect.hint"))];
      refill(this.element, `${this.context.language}${some}`, hint);
      return;
    }
    const { row } = selected;
    this.element.setAttribute("data-node-id", String(row.id));
    const detail = store.details.get(row.id) ?? {};
    refill(this.element, this.key(selected, detail), () => [
      this.head(row, detail),
      this.facts(selected),
      this.tabs(row, detail),
      this.body(selected, detail),
    ]);
  }

  /** All that the panel shows, in one text. */
  private key(selected: Selected, detail: Detail): string {
    const { store, language } = this.context;
    const { row, item, uses, late } = selected;
    const findings = store.findingsOf(row.id);
    const state = late ? store.status.state : "";
    const folded = item?.members?.length;
    return JSON.stringify([
      language,
      this.tab,
      row,
      folded,
      uses,
      state,
      detail,
      findings,
      store.trials.get(`check:${row.id}`),
      store.trials.get(`whatif:${row.id}`),
      this.tokens,
    ]);
  }

  /** Opens a tab. */
  turnTo(tab: Tab): void {
    this.choose(tab, true);
  }

  focus(): void {
    this.element.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
  }

  private head(row: NodeRow, detail: Detail): HTMLElement {
    const { say } = this.context;
    const title =
      row.label || (row.kind === "operation" ? say("inspect.unnamed") : say(`kind.${row.kind}`));
    const former = this.context.store.formerly.get(row.id);
    const place = placeOf(row, detail);
    const link = place && placeLink(this.context, place);
    const kind = row.kind === "operation" ? h("code", {}, row.op) : say(`kind.${row.kind}`);
    return h(
      "div.inspector-head",
      {},
      h("h3", { class: row.label ? "named" : "dim" }, title),
      former && former !== row.label && h("div.dim", {}, say("inspect.formerly", { name: former })),
      h("div.dim", {}, kind, link ? " · " : null, link),
    );
  }

  private facts(selected: Selected): HTMLElement {
    const { say } = this.context;
    const { row, item, uses } = selected;
    const size = row.bytes > 0 ? ` · ${count(row.bytes)} B` : "";
    const truth = (flag: number) => (has(row, flag) ? "True" : "False");
    const facts: [string, string][] = [
      [say("inspect.shape"), `${tupleOfText(row.shape)} ${row.dtype}`],
      [say("inspect.device"), `${row.device}${size}`],
      ["requires_grad", truth(Flag.requiresGrad)],
      ["is_leaf", truth(Flag.isLeaf)],
      ["retains_grad", truth(Flag.retainsGrad)],
      ["_version", String(row.version)],
      ["grad_fn", row.kind === "operation" ? row.op : "None"],
    ];
    const list = h("dl", {});
    for (const [name, value] of facts) {
      list.append(h("dt", {}, name), h("dd", { "data-fact": name }, h("code", {}, value)));
    }
    const { nodes } = this.context.store;
    const made = [...nodes.values()].filter(({ creator }) => creator === row.id);
    const creator = nodes.get(row.creator);
    if (creator && row.creator >= 0) list.append(...this.pair("creator", [creator]));
    if (made.length > 0) list.append(...this.pair("second", made));
    if (item?.members) {
      const words = say("inspect.members_of", { n: count(item.members.length) });
      list.append(h("dt", {}, say("inspect.members")), h("dd", {}, words));
    } else if (uses > 1)
      list.append(h("dt", {}), h("dd.dim", {}, say("inspect.uses", { n: uses })));
    return list;
  }

  private pair(name: string, rows: NodeRow[]): HTMLElement[] {
    const links = rows.flatMap(({ id }) => [this.nodeLink(id), " "]);
    return [h("dt", {}, this.context.say(`inspect.${name}`)), h("dd", {}, ...links)];
  }

  private tabs(row: NodeRow, detail: Detail): HTMLElement {
    const fields: Partial<Record<Tab, number>> = {
      saved: detail.saved?.length ?? row.savedTotal,
      hooks: detail.hooks?.length ?? row.hooks,
    };
    const buttons = TABS.map((tab) =>
      h(
        "button",
        {
          role: "tab",
          testid: `tab-${tab}`,
          "aria-selected": String(tab === this.tab),
          tabindex: tab === this.tab ? 0 : -1,
          onclick: () => this.choose(tab, false),
        },
        this.context.say(`inspect.${tab}`, { n: fields[tab] ?? 0 }),
      ),
    );
    const turn = (event: KeyboardEvent) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const next = (TABS.indexOf(this.tab) + step + TABS.length) % TABS.length;
      this.choose(TABS[next], true);
    };
    return h("div.tabs", { role: "tablist", onkeydown: turn }, ...buttons);
  }

  private choose(tab: Tab, focus: boolean): void {
    this.tab = tab;
    if (this.tokens) this.update(this.selected, this.tokens);
    if (focus) this.focus();
  }

  private body(selected: Selected, detail: Detail): HTMLElement {
    const panel = h("div.tab-panel", { role: "tabpanel", "data-tab": this.tab });
    const parts = this.parts(selected, detail);
    if (parts) panel.append(...parts);
    else panel.append(h("p.dim", { testid: "queued" }, this.missing(selected)));
    return panel;
  }

  /** Null while the answer is not there. */
  private parts(selected: Selected, detail: Detail): (HTMLElement | string)[] | null {
    const { row } = selected;
    switch (this.tab) {
      case "value":
        return this.value(row, detail);
      case "grad":
        return this.grad(row, detail);
      case "saved":
        return detail.saved
          ? this.saved(row, detail.saved)
          : row.savedTotal === 0
            ? this.saved(row, [])
            : null;
      case "hooks":
        return detail.hooks ? this.hooks(detail.hooks) : row.hooks === 0 ? this.hooks([]) : null;
      case "alive":
        return this.alive(row, detail);
      case "source":
        return this.source(row, detail);
    }
  }

  private missing(selected: Selected): string {
    const { context } = this;
    if (context.frozen) return context.say("inspect.frozen");
    if (!selected.late) return "";
    return context.say(
      context.store.status.state === "running" ? "inspect.queued" : "inspect.waiting",
    );
  }

  private value(row: NodeRow, detail: Detail): HTMLElement[] | null {
    if (detail.value) {
      const view = tensorView(this.context, detail.value, this.tokens!);
      const parts = [view, this.shared(detail), whatIfPart(this.context, row, detail.value)];
      return parts.filter((part) => part !== null);
    }
    return detail.answered ? [this.note("inspect.no_value")] : null;
  }

  /** Who lies in the same memory. */
  private shared(detail: Detail): HTMLElement | null {
    const { say, store } = this.context;
    const others = (detail.shares ?? []).filter((id) => store.nodes.has(id));
    if (others.length === 0) return null;
    const links = others.flatMap((id, n) => [
      n > 0 ? say("inspect.comma") : " ",
      this.nodeLink(id),
    ]);
    return h("div.rule", { testid: "shares" }, h("b", {}, say("inspect.shares")), ...links);
  }

  private nodeLink(id: number): HTMLElement {
    const { label, op } = this.context.store.nodes.get(id)!;
    return h("button.link", { onclick: () => this.context.show(id) }, label || op);
  }

  private grad(row: NodeRow, detail: Detail): HTMLElement[] | null {
    const parts: HTMLElement[] = [];
    if (detail.grad)
      parts.push(tensorView(this.context, detail.grad, this.tokens!), ...this.added(detail));
    else if (detail.answered) parts.push(this.note(`grad_state.${gradState(row, detail)}`));
    else return null;
    const formula = inLanguage(this.context.language, detail.formula ?? {});
    if (formula) parts.push(this.rule(formula));
    const check = checkPart(this.context, row);
    return check ? [...parts, check] : parts;
  }

  /** Which lines have added to the gradient, and how often. */
  private added(detail: Detail): HTMLElement[] {
    const lines = (detail.added ?? []).flatMap(({ count, place }) =>
      place ? this.line(place, `×${count}`) : [],
    );
    return lines.length > 0 ? [h("b", {}, this.context.say("inspect.added")), ...lines] : [];
  }

  private rule(formula: string): HTMLElement {
    const title = h("b", {}, this.context.say("inspect.rule"));
    return h("div.rule", {}, title, h("code", { testid: "formula" }, formula));
  }

  private saved(row: NodeRow, saved: Saved[]): HTMLElement[] {
    if (saved.length === 0) return [this.note("inspect.no_saved")];
    return saved.map((one) => this.savedRow(row, one));
  }

  /** Whose tensor it is: a link where that can be seen. */
  private sourceOf(row: NodeRow, { source, label }: Saved): HTMLElement | null {
    if (source === row.id) return h("span.dim", {}, this.context.say("inspect.own_result"));
    if (source !== null && this.context.store.nodes.has(source)) return this.nodeLink(source);
    return label ? h("code", {}, label) : null;
  }

  private savedRow(row: NodeRow, one: Saved): HTMLElement {
    const { say } = this.context;
    const source = this.sourceOf(row, one);
    const clash = one.state === "alive" && one.version_saved !== one.version_now;
    const versions = say("inspect.versions", { saved: one.version_saved, now: one.version_now });
    const shape = one.shape.length === 0 ? "()" : one.shape.join("×");
    // Of what is freed Python may know neither shape nor size.
    const known = one.state !== "freed" || one.bytes > 0;
    return h(
      "div.entry-row",
      { testid: "saved", "data-state": one.state },
      h("i", { class: `square ${one.state}`, "aria-hidden": "true" }),
      h(
        "div",
        {},
        h("div", {}, h("code.name", {}, one.name), source && " = ", source),
        h(
          "div.dim",
          {},
          known && h("code", {}, `${shape} ${one.dtype}`),
          known && ` · ${bytes(one.bytes)} · `,
          say(`inspect.saved_${one.state}`),
        ),
        known && h("div.dim", {}, versions),
        clash && h("div.bad", {}, say("inspect.changed")),
      ),
    );
  }

  private hooks(hooks: Hook[]): HTMLElement[] {
    if (hooks.length === 0) return [this.note("inspect.no_hooks")];
    return hooks.map((hook) =>
      h(
        "div.entry-row",
        { testid: "hook" },
        h("span.dim", {}, this.context.say(`hook.${hook.kind}`)),
        h(
          "div",
          {},
          h("code.name", {}, hook.name),
          hook.owner && ` · ${hook.owner}`,
          hook.place ? " · " : null,
          hook.place && placeLink(this.context, hook.place),
          this.calls(hook),
        ),
      ),
    );
  }

  /** How often it was called, and what it made of the gradient. */
  private calls({ calls, before, after }: Hook): HTMLElement | null {
    if (calls === null) return null;
    const { say } = this.context;
    const norms = before !== null && after !== null;
    return h(
      "div.dim",
      {},
      say("inspect.hook_calls", { n: count(calls) }),
      norms && ` · ${say("inspect.norm")} `,
      norms && h("code", {}, `${figure(before)} → ${figure(after)}`),
    );
  }

  private alive(row: NodeRow, detail: Detail): HTMLElement[] | null {
    const { context } = this;
    const parts = context.store.findingsOf(row.id).map((finding) => adviceOf(context, finding));
    const holders = detail.holders ?? [];
    if (holders.length > 0) {
      parts.push(
        h(
          "div.holders",
          {},
          h("b", {}, context.say("inspect.held_by")),
          ...holders.map((holder) => h("code", { testid: "holder" }, holder)),
        ),
      );
    } else if (!has(row, Flag.alive)) parts.push(this.note("inspect.not_alive"));
    else if (detail.answered && parts.length === 0) parts.push(this.note("inspect.no_holder"));
    const { nodes = 0, bytes: size = 0 } = detail.keeps ?? {};
    const keeps = { nodes: count(nodes), bytes: bytes(size) };
    if (nodes > 0) parts.push(h("p.dim", {}, context.say("inspect.keeps", keeps)));
    return parts.length > 0 ? parts : null;
  }

  private source(row: NodeRow, detail: Detail): HTMLElement[] | null {
    const place = placeOf(row, detail);
    const places: Place[] = place ? [place] : [];
    for (const call of detail.calls ?? []) if (!samePlace(call, place)) places.push(call);
    const { say } = this.context;
    const lines = places.map((one, n) => this.line(one, n > 0 ? say("inspect.called") : ""));
    const changes = detail.changes ?? [];
    if (changes.length > 0) lines.push(h("b", {}, say("inspect.history")));
    for (const { version, place: at } of changes) if (at) lines.push(this.line(at, `v${version}`));
    return lines.length > 0 ? lines : [this.note("inspect.no_source")];
  }

  private line(place: Place, words: string): HTMLElement {
    const { context } = this;
    const inside = place.function && place.function !== "<module>";
    return h(
      "div.source",
      {},
      h(
        "div.dim",
        {},
        words ? `${words} ` : null,
        placeLink(context, place),
        inside ? h("code", {}, ` ${place.function}`) : null,
      ),
      place.code ? h("pre", {}, place.code.trim()) : null,
    );
  }

  private note(key: string): HTMLElement {
    return h("p.dim", {}, this.context.say(key));
  }
}

const samePlace = (a: Place, b: Place | null): boolean =>
  b !== null && a.cell === b.cell && a.line === b.line && (a.file ?? "") === (b.file ?? "");

/** From the answer, else from the row, which is there at once. */
function placeOf(row: NodeRow, detail: Detail): Place | null {
  if (detail.place) return detail.place;
  if (row.line <= 0) return null;
  return { cell: row.cell >= 0 ? row.cell : null, line: row.line, code: row.code };
}

/** A key of the catalogue, with or without its table. */
function gradState(row: NodeRow, detail: Detail): string {
  const given = detail.grad_state?.split(".").at(-1) ?? "";
  if (given !== "" && given !== "present") return given;
  if (!has(row, Flag.requiresGrad)) return "none_untracked";
  return row.kind === "operation" && !has(row, Flag.retainsGrad) ? "none_nonleaf" : "none_yet";
}
