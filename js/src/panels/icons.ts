// Line icons, 16 units square, in the colour of the text.
import { svg } from "./dom";

const PATHS = {
  find: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9zM10.4 10.4L14 14",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  export: "M8 2v8M4.8 7L8 10.2L11.2 7M2.5 13.5h11",
  undock: "M2.5 2.5h11v11h-11zM9.5 2.5v11M7.5 8H4M5.6 6.2L3.8 8l1.8 1.8",
  fold: "M3 3.5h10M3 12.5h10M8 5.2v2M6.4 6L8 7.4L9.6 6M8 10.8v-2M6.4 10L8 8.6L9.6 10",
  compare: "M2.5 3.5h5v9h-5zM8.5 3.5h5v9h-5M4 6.5h2M5 5.5v2M10 6.5h2",
  copy: "M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3",
  rewind: "M3.5 3v10M12.5 3.5L6.5 8l6 4.5z",
  back: "M10 3.5L5.5 8l4.5 4.5",
  play: "M4.5 3l8 5l-8 5z",
  pause: "M5 3v10M11 3v10",
  forward: "M6 3.5L10.5 8L6 12.5",
  check: "M3 8.5l3.2 3.2L13 4.5",
} as const;

export function icon(name: keyof typeof PATHS): SVGElement {
  const path = svg("path", {
    d: PATHS[name],
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 1.4,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  });
  return svg("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, path);
}
