// Where the overview may stand without hiding an item.
import type { Box, Camera } from "./camera";

export type Corner = readonly ["top" | "bottom", "left" | "right"];

export const CORNERS: readonly Corner[] = [
  ["top", "right"],
  ["top", "left"],
  ["bottom", "right"],
  ["bottom", "left"],
];

export interface Overview {
  width: number;
  height: number;
  /** Between it and the edges of the graph. */
  inset: number;
}

/** The first of `corners` in which none of `boxes` (of the world) is; undefined when there is none. */
export function freeCorner(
  camera: Camera,
  overview: Overview,
  boxes: readonly Box[],
  corners: readonly Corner[],
): Corner | undefined {
  return corners.find((corner) => {
    const under = beneath(camera, overview, corner);
    return !boxes.some((box) => meet(box, under));
  });
}

/** The part of the world beneath the overview in a corner. */
function beneath(camera: Camera, overview: Overview, [up, side]: Corner): Box {
  const { width, height, inset } = overview;
  const x = side === "left" ? inset : camera.width - inset - width;
  const y = up === "top" ? inset : camera.height - inset - height;
  const from = camera.toWorld(x, y);
  const to = camera.toWorld(x + width, y + height);
  return { left: from.x, top: from.y, right: to.x, bottom: to.y };
}

const meet = (a: Box, b: Box): boolean =>
  a.left < b.right && a.right > b.left && a.top < b.bottom && a.bottom > b.top;
