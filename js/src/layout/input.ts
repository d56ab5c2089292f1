// From a scene to the arrays that the layout works on.
import type { Link, Scene } from "../model/scene";
import type { LayoutInput } from "./types";

export interface Extent {
  left: number;
  right: number;
}

/** Where an item stands. */
export interface Standing {
  x: number;
  layer: number;
}

/** `standing` by key of item, `routes` by `routeKey`: what is already drawn. */
export function layoutInput(
  scene: Scene,
  extent: (n: number) => Extent,
  standing: ReadonlyMap<string, Standing>,
  routes: ReadonlyMap<string, number[]>,
  shelf: number,
): LayoutInput {
  const count = scene.items.length;
  const forward = scene.links.filter((link) => !link.back);
  const input: LayoutInput = {
    count,
    order: Float64Array.from(scene.items, (item) => item.order),
    leaf: Uint8Array.from(scene.items, (item) => (item.leaf ? 1 : 0)),
    left: new Float64Array(count),
    right: new Float64Array(count),
    edges: new Int32Array(2 * forward.length),
    fixedX: new Float64Array(count).fill(Number.NaN),
    fixedLayer: new Int32Array(count).fill(-1),
    fixedBends: forward.map((link) => routes.get(routeKey(scene, link)) ?? null),
    shelf,
  };
  forward.forEach((link, e) => {
    input.edges[2 * e] = link.source;
    input.edges[2 * e + 1] = link.target;
  });
  scene.items.forEach((item, n) => {
    const room = extent(n);
    input.left[n] = room.left;
    input.right[n] = room.right;
    const place = standing.get(item.key);
    if (!place) return;
    input.fixedX[n] = place.x;
    input.fixedLayer[n] = place.layer;
  });
  return input;
}

export const routeKey = (scene: Scene, link: Link): string =>
  `${scene.items[link.source].key}>${scene.items[link.target].key}:${link.slot}`;
