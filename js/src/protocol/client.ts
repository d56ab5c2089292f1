// The page's side of the conversation: takes messages in, asks for what is missing, and never gets stuck.
import type { Delta, Detail } from "../model/types";
import { FrameDecoder } from "./decode";
import { isRecord, readDetail, text, whole } from "./read";

export interface Wire {
  send(message: Record<string, unknown>): void;
  now(): number;
}

export interface Listener {
  delta(delta: Delta): void;
  detail(id: number, detail: Detail): void;
  tried(answer: Record<string, unknown>): void;
  pong(n: number): void;
  /** A frame could not be used; `lasting` when asking anew did not help either. */
  trouble(lasting: boolean): void;
}

/** Ask again only after this long, so that a stream of late frames does not become a stream of questions. */
const PATIENCE_MS = 2000;
const TRIES = 3;

export class Client {
  private decoder = new FrameDecoder();
  private askedAt = Number.NEGATIVE_INFINITY;
  private failures = 0;

  constructor(
    private readonly wire: Wire,
    private readonly listener: Listener,
  ) {}

  ready(language: string): void {
    this.wire.send({ t: "ready", seq: this.decoder.seq, language });
  }

  inspect(id: number): void {
    this.wire.send({ t: "inspect", id });
  }

  ping(n: number): void {
    this.wire.send({ t: "ping", n });
  }

  attempt(asked: Record<string, unknown>): void {
    this.wire.send({ t: "try", ...asked });
  }

  language(language: string): void {
    this.wire.send({ t: "language", language });
  }

  /** Any message at all; unknown ones are left alone, as a newer Python may send more. */
  receive(message: unknown, buffers: readonly DataView[] = []): void {
    if (!isRecord(message)) return;
    const kind = text(message.t);
    if (kind === "frame") this.frame(message, buffers);
    else if (kind === "detail") {
      this.listener.detail(whole(message.id, -1), {
        ...readDetail(message.detail),
        answered: true,
      });
    } else if (kind === "tried") this.listener.tried(message);
    else if (kind === "pong") this.listener.pong(whole(message.n));
  }

  private frame(message: Record<string, unknown>, buffers: readonly DataView[]): void {
    let delta: Delta;
    try {
      delta = this.decoder.decode(message, buffers);
    } catch {
      this.resync();
      return;
    }
    this.failures = 0;
    this.askedAt = Number.NEGATIVE_INFINITY;
    this.listener.delta(delta);
  }

  private resync(): void {
    const now = this.wire.now();
    if (now - this.askedAt < PATIENCE_MS) return;
    this.failures += 1;
    this.listener.trouble(this.failures > TRIES);
    if (this.failures > TRIES) return;
    this.askedAt = now;
    this.wire.send({ t: "resync" });
  }
}
