// One step of the backward pass in words and numbers; below it, why a gradient is the number it is.
import { inLanguage } from "../i18n";
import { bytes, figure } from "../model/format";
import { type Recording, type Step, termsOf, type Why } from "../model/recording";
import type { Stats } from "../model/types";
import { chip } from "./chip";
import { type Context, placeLink } from "./context";
import { h, refill } from "./dom";
import { spelled } from "./trial";

const FEW = 6;
const PATHS = 12;

/** What a person thinks goes out. */
interface Guess {
  words: string;
  right: boolean;
}

/** As near as one can be by hand. */
const NEAR = 0.02;

const isFew = (stats: Stats | null): boolean =>
  stats !== null &&
  stats.values !== null &&
  stats.shape.reduce((product, size) => product * size, 1) <= FEW;

function guessOf(words: string, grad: Stats | null): Guess | null {
  if (words.trim() === "" || !grad) return null;
  const said = (words.replaceAll("−", "-").match(/-?[\d.]+(e-?\d+)?/gi) ?? []).map(Number);
  const flat = [grad.values].flat(Number.POSITIVE_INFINITY).map(Number);
  const near = (value: number, n: number) =>
    Math.abs(value - said[n]) <= NEAR * Math.max(Math.abs(value), 1e-3);
  return { words, right: said.length === flat.length && flat.every(near) };
}

export class StepCard {
  readonly element = h("section.step", { testid: "step" });
  /** What goes out stays hidden until somebody asks; what was guessed then, by position. */
  private quiz = false;
  private readonly guesses = new Map<number, (Guess | null)[]>();
  private latest: [Recording | null, number, number | null] = [null, 0, null];

  constructor(private readonly context: Context) {}

  /** `selected`: the node that a person looks at, whose gradient is explained. */
  update(recording: Recording | null, position: number, selected: number | null): void {
    const { say, language } = this.context;
    this.latest = [recording, position, selected];
    this.element.setAttribute("aria-label", say("player.step_name"));
    if (!recording) {
      this.element.replaceChildren();
      return;
    }
    const step = recording.steps[position - 1];
    const key = JSON.stringify([
      language,
      position,
      selected,
      recording.state,
      step,
      this.quiz,
      [...this.guesses],
    ]);
    refill(this.element, key, () => [
      this.quizButton(),
      ...(step ? this.step(recording, step, position) : this.start(recording)),
      this.why(recording, position, selected),
    ]);
  }

  private quizButton(): HTMLElement {
    const run = () => {
      this.ask(!this.quiz);
      const [recording] = this.latest;
      if (recording?.raw) recording.raw.quiz = this.quiz;
    };
    const { say } = this.context;
    const button = chip("quiz", say("player.quiz"), this.quiz, run, say("player.quiz_hint"));
    button.classList.add("quiz");
    const told = [...this.guesses.values()].flat().filter((guess) => guess !== null);
    const right = told.filter((guess) => guess.right).length;
    const score = told.length > 0 && say("player.score", { right, n: told.length });
    return h("div.quiz", {}, score ? h("span.dim", {}, `${score} `) : null, button);
  }

  /** Hides from now on what goes out, or no longer. */
  ask(quiz: boolean): void {
    this.quiz = quiz;
    this.guesses.clear();
    this.update(...this.latest);
  }

  /** In a quiz: room for a guess at each gradient of few numbers, and a button that shows them. */
  private reveal(step: Step, position: number): HTMLElement[] {
    const { say } = this.context;
    const inputs = step.sent.map(({ grad }) =>
      isFew(grad) ? h("input", { "aria-label": say("player.guess"), class: "guess" }) : null,
    );
    const run = () => {
      const made = inputs.map((input, n) => guessOf(input?.value ?? "", step.sent[n].grad));
      this.guesses.set(position, made);
      this.update(...this.latest);
    };
    const rows = inputs.map((input, n) => {
      // The notebook has a use of its own for this key.
      input?.addEventListener("keydown", (event) => {
        event.stopPropagation();
        if (event.key === "Enter") run();
      });
      return h("div", {}, input, " → ", this.node(step.sent[n].target));
    });
    const look = { class: "tool", testid: "reveal" };
    const hint = inputs.some((input) => input !== null) && say("player.guess");
    return [
      h("div.dim", {}, hint || ""),
      ...rows,
      h("button", { ...look, onclick: run }, say("player.reveal")),
    ];
  }

  private start(recording: Recording): HTMLElement[] {
    const { say } = this.context;
    const first = recording.plan[0];
    return [
      h("h3", {}, say("player.before")),
      h("p.dim", {}, say("player.before_hint")),
      first === undefined ? h("p", {}) : h("p", {}, `${say("player.next")} `, this.node(first)),
    ];
  }

  private step(recording: Recording, step: Step, position: number): (HTMLElement | null)[] {
    const { say } = this.context;
    const row = this.context.store.nodes.get(step.node);
    const place = row && row.line > 0 ? { cell: row.cell, line: row.line, code: row.code } : null;
    const link = place && placeLink(this.context, place);
    return [
      h(
        "h3",
        {},
        h("span.dim", {}, say("player.at", { n: position, total: recording.plan.length })),
        " ",
        this.node(step.node),
        row?.label ? h("span.dim", {}, ` ${row.op}`) : null,
        link ? " · " : null,
        link,
      ),
      step.stop ? h("p.bad", { role: "status" }, say(`player.stop_${step.stop}`)) : null,
      this.part("in", this.cameIn(recording, step, position)),
      step.rule.en ? this.part("rule", this.rule(step)) : null,
      ...(this.quiz && !this.guesses.has(position)
        ? [this.part("out", this.reveal(step, position))]
        : [
            this.part("out", this.goesOut(step, this.guesses.get(position))),
            step.added.length > 0 ? this.part("added", this.added(step)) : null,
          ]),
      step.freed.length > 0 ? this.part("freed", this.freed(step)) : null,
      step.hooks.length > 0 ? this.part("hooks", this.hooks(step.hooks)) : null,
    ];
  }

  private part(name: string, rows: HTMLElement[]): HTMLElement {
    const title = this.context.say(`player.${name}`);
    return h("div.step-part", { "data-part": name }, h("b", {}, title), ...rows);
  }

  private cameIn(recording: Recording, step: Step, position: number): HTMLElement[] {
    const { say } = this.context;
    const terms = termsOf(recording, step.node, position - 1);
    const rows = step.arrived.map((grad) => h("div", {}, h("code", {}, this.brief(grad))));
    if (terms.length < 2) {
      if (terms.length === 0) rows.push(h("div.dim", {}, say("player.seed")));
      else rows[0]?.append(h("span.dim", {}, ` ${say("player.from")} `), this.node(terms[0].from));
      return rows;
    }
    const parts = terms.map(({ from, grad }, n) =>
      h(
        "div",
        {},
        h("code", {}, `${n > 0 ? "+ " : "  "}${this.brief(grad)}`),
        h("span.dim", {}, ` ${say("player.from")} `),
        this.node(from),
      ),
    );
    const sums = step.arrived.map((grad) => h("div", {}, h("code", {}, `= ${this.brief(grad)}`)));
    return [...parts, ...sums];
  }

  private rule(step: Step): HTMLElement[] {
    const written = (formula: Record<string, string>) =>
      inLanguage(this.context.language, formula)
        .split(/\s{2,}/)
        .map((line) => h("code.line", {}, line));
    const lines = written(step.rule);
    if (!step.numbers.en || step.numbers.en === step.rule.en) return lines;
    const numbers = written(step.numbers);
    const same = lines.map((line, n) =>
      h("div", {}, line, numbers[n] ? h("div.numbers-line", {}, "= ", numbers[n]) : null),
    );
    return same;
  }

  private goesOut(step: Step, guesses?: (Guess | null)[]): HTMLElement[] {
    const { say } = this.context;
    if (step.sent.length === 0) return [h("div.dim", {}, say("player.nothing_out"))];
    return step.sent.map(({ target, grad }, n) => {
      const guess = guesses?.[n];
      return h(
        "div",
        {},
        h("code", {}, this.brief(grad)),
        h("span.dim", {}, " → "),
        this.node(target),
        guess
          ? h("span", { class: guess.right ? "" : "bad" }, guess.right ? " ✓" : ` ✗ ${guess.words}`)
          : null,
      );
    });
  }

  private added(step: Step): HTMLElement[] {
    const { say } = this.context;
    return step.added.flatMap(({ leaf, before, amount, after, hooks }) => [
      h("div", {}, this.node(leaf), h("code", {}, `.grad += ${this.brief(amount)}`)),
      h(
        "div.dim",
        {},
        h("code", {}, `${before ? this.brief(before) : "None"} → ${this.brief(after)}`),
      ),
      ...(hooks.length > 0
        ? [h("div.dim", {}, `${say("player.hooks")} `, ...this.hooks(hooks))]
        : []),
    ]);
  }

  private freed(step: Step): HTMLElement[] {
    return step.freed.map(({ name, shape, bytes: size }) =>
      h(
        "div",
        {},
        h("i.square.freed", { "aria-hidden": "true" }),
        " ",
        h("code.name", {}, name),
        h("span.dim", {}, size > 0 ? ` ${shape.join("×") || "()"} · ${bytes(size)}` : ""),
      ),
    );
  }

  private hooks(hooks: string[]): HTMLElement[] {
    return hooks.map((hook) => {
      const [kind, ...name] = hook.split(" ");
      return h(
        "div",
        {},
        h("span.dim", {}, this.context.say(`hook.${kind}`)),
        " ",
        h("code", {}, name.join(" ")),
      );
    });
  }

  private why(recording: Recording, position: number, selected: number | null): HTMLElement | null {
    const why = recording.why.find((one) => one.leaf === selected);
    if (!why || position < recording.plan.length) return null;
    return h("div.step-part", { "data-part": "why" }, ...this.whyRows(why));
  }

  private whyRows(why: Why): HTMLElement[] {
    const { say } = this.context;
    const title = h("b", {}, say("player.why", { n: why.paths }));
    if (why.shares.length === 0) return [title, h("div.dim", {}, say("player.why_not"))];
    const rows = why.shares
      .slice(0, PATHS)
      .map(({ nodes, share }, n) =>
        h(
          "div.path",
          { testid: "path" },
          h("code", {}, `${n > 0 ? "+ " : "  "}${this.brief(share)}`),
          h("div.dim", {}, ...this.path(nodes)),
        ),
      );
    const left = why.shares.length - PATHS;
    if (left > 0) rows.push(h("div.dim", {}, say("findings.more", { n: left })));
    return [title, ...rows, h("div", {}, h("code", {}, `= ${this.brief(why.total)}`))];
  }

  private path(nodes: number[]): (HTMLElement | string)[] {
    return nodes.flatMap((id, n) => (n > 0 ? [" → ", this.node(id)] : [this.node(id)]));
  }

  private node(id: number): HTMLElement {
    const row = this.context.store.nodes.get(id);
    const name = row ? row.label || row.op || row.kind : `#${id}`;
    const link = { class: "link name", onclick: () => this.context.show(id) };
    return h("button", link, name);
  }

  /** The numbers themselves when they are few, else their size and norm. */
  private brief(stats: Stats | null): string {
    if (!stats) return this.context.say("player.undefined");
    if (isFew(stats)) return spelled(stats.values);
    const shape = stats.shape.join("×") || "()";
    return `${shape} ‖·‖ ${figure(stats.norm)}`;
  }
}
