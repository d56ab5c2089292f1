// Gradients by layer and step as a heat map; below it the norm of all together, and the newest gradient's scales.

import { shorten } from "../../draw/text";
import { figure } from "../../model/format";
import { isRecord, figure as number, records, whole, wholes } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { COLOURS, label, lineChart, picture } from "../chart";
import { chip } from "../chip";
import { h, svg } from "../dom";

const SHOWN = ["grad", "update", "dead", "weight"] as const;
const ROW = 18;

/** Room for the names of layers. */
const namesOf = (width: number): number => Math.min(190, Math.round(width * 0.34));

const layersOf = (step: Raw): Record<string, Raw> =>
  isRecord(step.layers) ? (step.layers as Record<string, Raw>) : {};

export function flowBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const steps = records(data.steps);
      if (steps.length === 0) return [h("p.dim.pad", {}, say("panel.no_steps"))];
      const clip = Number(host.get("clip")) || 0;
      const total = steps.map((step): [number, number | null] => [
        whole(step.number),
        number(step.total),
      ]);
      return [
        chips(host),
        heat(host, steps),
        lineChart([{ name: say("panel.total_norm"), colour: COLOURS[1], points: total }], {
          name: say("panel.total_norm"),
          width: host.width,
          height: 110,
          logarithmic: total.every(([, value]) => value !== null && value > 0),
          level: clip > 0 ? { value: clip, text: say("panel.clip") } : undefined,
        }),
        scales(host, steps),
      ];
    },
    table(data) {
      const step = records(data.steps).at(-1) ?? {};
      const rows = Object.entries(layersOf(step)).map(([name, layer]) => [
        name,
        ...SHOWN.map((part) => figure(number(layer[part]))),
        String(whole(layer.nan)),
      ]);
      return {
        caption: say("panel.flow"),
        head: [say("panel.layer"), ...SHOWN.map((part) => say(`panel.flow_${part}`)), "NaN"],
        rows,
      };
    },
  };
}

function chips(host: Host): HTMLElement {
  const shown = String(host.get("shown") || "grad");
  return h(
    "div.choices",
    { role: "group" },
    ...SHOWN.map((name) =>
      chip(`show-${name}`, host.say(`panel.flow_${name}`), name === shown, () =>
        host.put("shown", name),
      ),
    ),
  );
}

/** Of a share the value itself, else its order of magnitude, as 0 to 1 between the extremes seen. */
function heat(host: Host, steps: Raw[]): HTMLElement {
  const shown = String(host.get("shown") || "grad");
  const selected = String(host.get("selected") ?? "");
  const names = Object.keys(layersOf(steps.at(-1)!));
  const value = (step: Raw, name: string) => number(layersOf(step)[name]?.[shown]);
  const depth = (found: number | null) =>
    found === null ? null : shown === "dead" ? found : found > 0 ? Math.log10(found) : null;
  const all = steps
    .flatMap((step) => names.map((name) => depth(value(step, name))))
    .filter((one): one is number => one !== null && Number.isFinite(one));
  const [low, high] = shown === "dead" ? [0, 1] : [Math.min(...all, 0), Math.max(...all, 0)];
  const { width } = host;
  const room = namesOf(width);
  const cell = (width - room) / steps.length;
  const parts = names.flatMap((name, row) => {
    const squares = steps.map((step, n) => {
      const found = value(step, name);
      const at = depth(found);
      const bad = whole(layersOf(step)[name]?.nan) > 0 || Number.isNaN(found);
      const share = at === null ? 0 : (at - low) / (high - low || 1);
      const fill = bad ? "var(--gv-error)" : "var(--gv-grad)";
      const opacity = bad ? 1 : found === null ? 0 : 0.08 + 0.92 * share;
      const box = {
        x: room + n * cell,
        y: row * ROW,
        width: Math.max(0.6, cell - (cell > 4 ? 1 : 0)),
        height: ROW - 2,
      };
      return svg(
        "rect",
        { ...box, fill, "fill-opacity": opacity.toFixed(3) },
        svg("title", {}, `${name} · ${whole(step.number)} · ${figure(found)}`),
      );
    });
    const text = svg(
      "text",
      {
        x: room - 6,
        y: row * ROW + 12,
        "text-anchor": "end",
        "font-size": 11,
        fill: name === selected ? "var(--gv-text)" : "var(--gv-dim)",
        "font-weight": name === selected ? 600 : 400,
      },
      shorten(name, 11, room - 12),
    );
    return [svg("g", rowProps(host, name), text, ...squares)];
  });
  const foot = names.length * ROW + 12;
  const ends = [
    label(room, foot, figure(whole(steps[0].number))),
    label(width, foot, figure(whole(steps.at(-1)!.number)), "end"),
  ];
  return picture(host.say("panel.flow"), width, foot + 6, [...parts, ...ends], "group");
}

/** A row is chosen with a click, Enter or Space. */
function rowProps(host: Host, name: string) {
  const choose = () => host.put("selected", name);
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    choose();
  };
  const look = { class: "row", role: "button", tabindex: 0, "aria-label": name };
  return { ...look, testid: `row-${name}`, onclick: choose, onkeydown: key };
}

/** Orders of magnitude of the chosen layer's gradient over the steps. */
function scales(host: Host, steps: Raw[]): HTMLElement | null {
  const names = Object.keys(layersOf(steps.at(-1)!));
  const chosen = String(host.get("selected") ?? "");
  const name = names.includes(chosen) ? chosen : names[0];
  const bins = steps.map((step) => wholes(layersOf(step)[name]?.bins));
  const rows = Math.max(0, ...bins.map((one) => one.length));
  if (rows === 0) return null;
  const { width } = host;
  const room = namesOf(width);
  const cell = (width - room) / steps.length;
  const parts = bins.flatMap((counts, n) => {
    const sum = counts.reduce((a, b) => a + b, 0) || 1;
    return counts.map((count, k) =>
      count === 0
        ? null
        : svg("rect", {
            x: room + n * cell,
            y: (rows - 1 - k) * 10,
            width: Math.max(0.6, cell),
            height: 9,
            fill: COLOURS[0],
            "fill-opacity": (0.1 + 0.9 * (count / sum)).toFixed(3),
          }),
    );
  });
  const words = [label(room - 6, 10, "10¹", "end"), label(room - 6, rows * 10, "10⁻⁸", "end")];
  const title = host.say("panel.scales", { name });
  return h(
    "div",
    {},
    h("div.dim", {}, title),
    picture(title, width, rows * 10 + 4, [...parts, ...words]),
  );
}
