import { Sketch } from "../dev/scenes.mjs";
import { extentOf, type Label, labelOf } from "../src/draw/label";
import { layoutInput, routeKey, type Standing } from "../src/layout/input";
import { layoutGraph } from "../src/layout/layout";
import type { LayoutOutput } from "../src/layout/types";
import { buildScene, type Scene } from "../src/model/scene";
import { GraphStore } from "../src/model/store";
import { readBundle } from "../src/protocol/bundle";

export { Sketch };

export const noChoices = () => ({ opened: new Set<string>(), closed: new Set<string>() });

export const key = (name: string): string => name;

export function storeOf(sketch: Sketch): GraphStore {
  const store = new GraphStore();
  store.apply(readBundle(JSON.stringify(sketch.bundle()))!.delta);
  return store;
}

export interface Laid {
  scene: Scene;
  labels: Label[];
  output: LayoutOutput;
}

/** Lays out pictures one after another, as the view does while a graph grows. */
export class Drawer {
  private standing = new Map<string, Standing>();
  private routes = new Map<string, number[]>();
  private shelf = 0;

  /** Everything by itself, unless there is a budget. */
  draw(store: GraphStore, budget?: number): Laid {
    const choices = budget === undefined ? { ...noChoices(), by: "none" as const } : noChoices();
    const scene = buildScene(store, choices, budget ?? Number.POSITIVE_INFINITY);
    const labels = scene.items.map((item) => labelOf(item, key, null));
    const extent = (n: number) => extentOf(scene.items[n], labels[n]);
    const input = layoutInput(scene, extent, this.standing, this.routes, this.shelf);
    const output = layoutGraph(input);
    this.keep(scene, output);
    return { scene, labels, output };
  }

  private keep(scene: Scene, output: LayoutOutput): void {
    this.shelf = output.shelf;
    this.standing = new Map(
      scene.items.map((item, n) => [item.key, { x: output.x[n], layer: output.layer[n] }]),
    );
    this.routes = new Map();
    let forward = 0;
    for (const link of scene.links) {
      if (link.back) continue;
      const route = output.bends[forward++];
      if (route) this.routes.set(routeKey(scene, link), route);
    }
  }
}

export const draw = (sketch: Sketch, budget?: number): Laid =>
  new Drawer().draw(storeOf(sketch), budget);

/** Pairs of items of one row that lie on one another. */
export function overlaps({ scene, labels, output }: Laid): string[] {
  const rows = new Map<number, number[]>();
  scene.items.forEach((_, n) => {
    const row = rows.get(output.layer[n]);
    if (row) row.push(n);
    else rows.set(output.layer[n], [n]);
  });
  const found: string[] = [];
  for (const row of rows.values()) {
    row.sort((a, b) => output.x[a] - output.x[b]);
    for (let k = 1; k < row.length; k++) {
      const [a, b] = [row[k - 1], row[k]];
      const right = output.x[a] + extentOf(scene.items[a], labels[a]).right;
      const left = output.x[b] - extentOf(scene.items[b], labels[b]).left;
      if (right > left + 1) found.push(`${scene.items[a].key} | ${scene.items[b].key}`);
    }
  }
  return found;
}
