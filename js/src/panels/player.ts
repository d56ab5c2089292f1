// The band under the graph: rewind, back, play, forward, a line to scrub, what happens, breakpoints.
import type { Recording } from "../model/recording";
import { chip } from "./chip";
import type { Context } from "./context";
import { h, refill } from "./dom";
import { icon } from "./icons";

export interface PlayerTools {
  /** Show the graph after so many steps; runs on where they have not run yet. */
  go(position: number): void;
  togglePlay(): void;
  abort(): void;
  setBreakOnNan(on: boolean): void;
  setBreakNorm(norm: number): void;
}

export interface PlayerState {
  recording: Recording | null;
  position: number;
  playing: boolean;
  /** There is a sweep to run on. */
  live: boolean;
  busy: boolean;
  breakOnNan: boolean;
  breakNorm: number;
}

export class PlayerBand {
  readonly element = h("section.player", { testid: "player" });
  private readonly buttons = h("span.tools", { role: "toolbar" });
  private readonly line = h("input", {
    type: "range",
    min: 0,
    step: 1,
    testid: "scrub",
  });
  private readonly words = h("span.said", { role: "status", testid: "said" });
  private readonly breaks = h("span.breaks", {});

  constructor(
    private readonly context: Context,
    private readonly tools: PlayerTools,
  ) {
    this.element.append(this.buttons, this.line, this.words, this.breaks);
    this.line.addEventListener("input", () => tools.go(Number(this.line.value)));
    this.line.addEventListener("keydown", (event) => event.stopPropagation());
  }

  update(state: PlayerState): void {
    const { say, language } = this.context;
    const { recording, position, playing, live } = state;
    const total = recording?.plan.length ?? 0;
    this.element.setAttribute("aria-label", say("player.name"));
    this.element.dataset.position = String(position);
    this.element.dataset.state = recording?.state ?? "";
    this.line.max = String(total);
    this.line.value = String(position);
    this.line.setAttribute("aria-label", say("player.scrub"));
    this.line.setAttribute("aria-valuetext", say("player.at", { n: position, total }));
    this.words.textContent = this.said(state);
    refill(this.buttons, JSON.stringify([language, position, total, playing, live]), () => [
      this.button("start", "rewind", position > 0, () => this.tools.go(0)),
      this.button("back", "back", position > 0, () => this.tools.go(position - 1)),
      this.button(
        playing ? "pause" : "play",
        playing ? "pause" : "play",
        position < total || playing,
        () => this.tools.togglePlay(),
      ),
      this.button("forward", "forward", position < total, () => this.tools.go(position + 1)),
      live ? this.abort() : null,
    ]);
    refill(this.breaks, JSON.stringify([language, live, state.breakOnNan, state.breakNorm]), () =>
      live ? [this.nan(state.breakOnNan), this.norm(state.breakNorm)] : [],
    );
  }

  private said(state: PlayerState): string {
    const { say, store } = this.context;
    const { recording, position, busy } = state;
    if (!recording) return "";
    if (busy) return say("player.busy");
    const total = recording.plan.length;
    if (recording.state === "failed" && position >= recording.steps.length) {
      return say("player.failed", { error: recording.error });
    }
    if (recording.state === "aborted") return say("player.aborted");
    const step = recording.steps[position - 1];
    if (!step) return say("player.ready", { total });
    const name = (id: number) => {
      const row = store.nodes.get(id);
      return row ? row.label || row.op || row.kind : `#${id}`;
    };
    const into = step.added.map(({ leaf }) => `${name(leaf)}.grad +=`);
    const at = say("player.at", { n: position, total });
    return [at, name(step.node), ...into].join(" · ");
  }

  private button(
    name: string,
    drawn: Parameters<typeof icon>[0],
    able: boolean,
    run: () => void,
  ): HTMLElement {
    const words = this.context.say(`player.${name}`);
    const { playing } = { playing: name === "play" || name === "pause" };
    return h(
      "button",
      {
        class: playing ? "tool main-tool" : "tool",
        title: words,
        "aria-label": words,
        testid: `player-${name}`,
        disabled: !able,
        onclick: run,
      },
      icon(drawn),
    );
  }

  private abort(): HTMLElement {
    const { say } = this.context;
    const hint = { title: say("player.abort_hint"), testid: "player-abort" };
    const run = { class: "tool", onclick: () => this.tools.abort() };
    return h("button", { ...run, ...hint }, say("player.abort"));
  }

  private nan(on: boolean): HTMLElement {
    const run = () => this.tools.setBreakOnNan(!on);
    return chip("break-nan", this.context.say("player.break_nan"), on, run);
  }

  private norm(limit: number): HTMLElement {
    const { say } = this.context;
    const input = h("input", {
      type: "number",
      min: 0,
      step: "any",
      value: limit > 0 ? limit : "",
      placeholder: "–",
      "aria-label": say("player.break_norm"),
      testid: "break-norm",
    });
    input.addEventListener("change", () => this.tools.setBreakNorm(Number(input.value) || 0));
    input.addEventListener("keydown", (event) => event.stopPropagation());
    return h("label.dim", {}, `${say("player.break_norm")} `, input);
  }
}
