// The backward player: the graph's view with a band to play by and a card for the step.
import { deltaAt, type Recording } from "../model/recording";
import { STEPS } from "../panels/keys";
import { PlayerBand } from "../panels/player";
import { StepCard } from "../panels/step";
import { readSteps } from "../protocol/recording";
import { App, type Settings } from "./app";

const PERIOD_MS = 700;

/** What the player asks of Python; absent where there is none. */
export interface Driver {
  /** Run until `to` steps are done; null: until a breakpoint or the end. */
  drive(to: number | null): void;
  abort(): void;
  breakOnNan(on: boolean): void;
  breakNorm(norm: number): void;
  breakpoints(nodes: number[]): void;
  moved(position: number): void;
}

export class Player {
  readonly app: App;
  private readonly band: PlayerBand;
  private readonly card: StepCard;
  private recording: Recording | null = null;
  private position = 0;
  private playing = false;
  private busy = false;
  private asked = false;
  private timer = 0;
  private readonly stops = new Set<number>();
  private breaks = { nan: true, norm: 0 };

  constructor(
    host: HTMLElement,
    settings: Settings,
    private driver: Driver | null,
  ) {
    const data = () => this.recording?.raw;
    this.app = new App(host, { ...settings, data }, null, {
      selected: () => this.tell(),
      configured: () => this.tell(),
      keys: STEPS,
      key: (key) => this.key(key),
    });
    this.card = new StepCard(this.app);
    this.band = new PlayerBand(this.app, {
      go: (position) => this.wish(position),
      togglePlay: () => this.togglePlay(),
      abort: () => this.driver?.abort(),
      setBreakOnNan: (on) => this.setBreaks({ ...this.breaks, nan: on }),
      setBreakNorm: (norm) => this.setBreaks({ ...this.breaks, norm }),
    });
    this.app.furnish(this.card.element, this.band.element);
  }

  close(): void {
    clearTimeout(this.timer);
    this.app.close();
  }

  take(recording: Recording, position: number): void {
    this.recording = recording;
    this.busy = false;
    this.position = Math.min(position, recording.steps.length);
    const whole = { ...deltaAt(recording, this.position), replace: true };
    for (const [id, detail] of recording.details) {
      whole.details.set(id, { ...detail, ...whole.details.get(id) });
    }
    this.app.take(whole);
    if (recording.raw.quiz === true && !this.asked) this.card.ask(true);
    this.asked = true;
    this.tell();
    this.goOn();
  }

  /** Python has gone: what is known can still be played. */
  lose(): void {
    this.driver = null;
    this.tell();
  }

  /** Steps that have just run. */
  takeSteps(since: number, steps: unknown): void {
    if (!this.recording || since > this.recording.steps.length) return;
    this.recording.steps = [...this.recording.steps.slice(0, since), ...readSteps(steps)];
    this.busy = false;
    this.goTo(this.recording.steps.length);
  }

  /** Python cannot run the sweep now. */
  putOff(): void {
    this.busy = true;
    this.playing = false;
    this.tell();
  }

  goTo(position: number): void {
    this.show(position);
    this.driver?.moved(this.position);
    this.goOn();
  }

  /** As far as it is known here. */
  show(position: number): void {
    if (!this.recording) return;
    this.position = Math.max(0, Math.min(position, this.recording.steps.length));
    this.app.take(deltaAt(this.recording, this.position));
    this.tell();
  }

  setBreaks(breaks: { nan: boolean; norm: number }): void {
    if (breaks.nan !== this.breaks.nan) this.driver?.breakOnNan(breaks.nan);
    if (breaks.norm !== this.breaks.norm) this.driver?.breakNorm(breaks.norm);
    this.breaks = breaks;
    this.tell();
  }

  private get live(): boolean {
    return this.driver !== null && this.recording?.state === "paused";
  }

  /** Within what has run the picture moves; beyond it the sweep runs on. */
  private wish(position: number): void {
    if (!this.recording) return;
    if (position <= this.recording.steps.length) this.goTo(position);
    else if (this.live) this.driver?.drive(position);
  }

  private togglePlay(): void {
    this.playing = !this.playing;
    if (this.playing) this.wish(this.position + 1);
    this.tell();
  }

  /** While it plays: the next step after a moment, unless something is to be looked at. */
  private goOn(): void {
    clearTimeout(this.timer);
    const { recording, position } = this;
    if (!this.playing || !recording) return;
    const step = recording.steps[position - 1];
    const next = recording.plan[position];
    const stopped = step?.stop || this.stops.has(next) || position >= recording.plan.length;
    if (stopped || (position >= recording.steps.length && !this.live)) {
      this.playing = false;
      this.tell();
      return;
    }
    this.timer = window.setTimeout(() => this.playing && this.wish(position + 1), PERIOD_MS);
  }

  private key(key: string): boolean {
    const selected = this.app.selectedNode;
    if (key === "n") this.wish(this.position + 1);
    else if (key === "p" || key === "u") this.wish(this.position - 1);
    else if (key === "c") this.togglePlay();
    else if (key === "b" && selected !== null) this.toggleStop(selected);
    else return false;
    return true;
  }

  private toggleStop(node: number): void {
    if (!this.stops.delete(node)) this.stops.add(node);
    this.app.markStops(this.stops);
    this.driver?.breakpoints([...this.stops]);
  }

  private tell(): void {
    const { recording, position, playing, busy, live, breaks } = this;
    if (!this.band) return;
    const step = recording?.steps[position - 1];
    this.app.running = step?.node ?? null;
    this.card.update(recording, position, this.app.selectedNode);
    this.band.update({
      recording,
      position,
      playing,
      live,
      busy,
      breakOnNan: breaks.nan,
      breakNorm: breaks.norm,
    });
  }
}
