// Remembers where everything stands, and lays out the next scene on the main thread or in a worker.
import { layoutGraph, layoutText } from "layout:function";
import type { Scene } from "../model/scene";
import { type Extent, layoutInput, routeKey, type Standing } from "./input";
import type { LayoutInput, LayoutOutput } from "./types";

/** From this many items on, a worker lays out and the page stays smooth. */
const WORKER_FROM = 500;

/** The worker is made of the text of that function: a notebook page has no address to load it from. */
const WORKER = `const layout=${layoutText};onmessage=({data:{ticket,input}})=>postMessage({ticket,output:layout(input)})`;

/** Positions of one scene; arrays are by item, `bends` by link. */
export interface Placement {
  x: Float64Array;
  layer: Int32Array;
  bends: (number[] | null)[];
  fresh: boolean;
}

type Done = (placement: Placement) => void;

export class LayoutEngine {
  private standing = new Map<string, Standing>();
  private routes = new Map<string, number[]>();
  private shelf = 0;
  private worker: Worker | null = null;
  private address = "";
  private ticket = 0;
  private waiting: { ticket: number; scene: Scene; input: LayoutInput; done: Done } | null = null;

  /** `onTrouble` hears that the worker failed; the layout then goes on here. */
  constructor(private readonly onTrouble: (error: string) => void) {}

  /** Calls `done` at once for a small scene, later for a large one; a later call supersedes an earlier. */
  run(scene: Scene, extent: (n: number) => Extent, done: Done): void {
    const input = layoutInput(scene, extent, this.standing, this.routes, this.shelf);
    this.ticket += 1;
    this.waiting = null;
    const worker = scene.items.length > WORKER_FROM ? this.start() : null;
    if (!worker) {
      done(this.take(scene, input, layoutGraph(input)));
      return;
    }
    this.waiting = { ticket: this.ticket, scene, input, done };
    worker.postMessage({ ticket: this.ticket, input });
  }

  /** Forget where things stand: the next layout is a fresh one. */
  reset(): void {
    this.standing.clear();
    this.routes.clear();
    this.shelf = 0;
  }

  close(): void {
    this.waiting = null;
    this.worker?.terminate();
    this.worker = null;
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = "";
  }

  private take(scene: Scene, input: LayoutInput, output: LayoutOutput): Placement {
    this.standing = new Map();
    this.routes = new Map();
    this.shelf = output.shelf;
    scene.items.forEach((item, n) => {
      this.standing.set(item.key, { x: output.x[n], layer: output.layer[n] });
    });
    let forward = 0;
    const bends = scene.links.map((link) => {
      if (link.back) return null;
      const route = output.bends[forward++] ?? null;
      if (route) this.routes.set(routeKey(scene, link), route);
      return route;
    });
    const fresh = output.fresh || input.count === 0;
    return { x: output.x, layer: output.layer, bends, fresh };
  }

  private start(): Worker | null {
    if (this.worker) return this.worker;
    try {
      const text = new Blob([WORKER], { type: "text/javascript" });
      this.address = URL.createObjectURL(text);
      this.worker = new Worker(this.address);
    } catch {
      // Some hosts allow no workers: the main thread does it.
      return null;
    }
    this.worker.onmessage = (event) => this.answer(event.data);
    this.worker.onerror = (event) => this.fail(event.message || "worker");
    return this.worker;
  }

  private answer(message: { ticket: number; output: LayoutOutput }): void {
    const job = this.waiting;
    if (!job || job.ticket !== message.ticket) return;
    this.waiting = null;
    job.done(this.take(job.scene, job.input, message.output));
  }

  /** The worker is given up for good, and what it was doing is done here. */
  private fail(error: string): void {
    this.worker?.terminate();
    this.worker = null;
    this.start = () => null;
    this.onTrouble(error);
    const job = this.waiting;
    this.waiting = null;
    if (job) job.done(this.take(job.scene, job.input, layoutGraph(job.input)));
  }
}
