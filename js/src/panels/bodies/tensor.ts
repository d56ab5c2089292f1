// The numbers of one tensor, or of two.
import { readTokens } from "../../draw/tokens";
import { bytes, figure, tuple } from "../../model/format";
import { isRecord, readStats, text, whole, wholes } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { COLOURS, label, picture } from "../chart";
import { chip } from "../chip";
import { h, svg } from "../dom";
import { copyButton } from "../findings";
import { tensorView } from "../tensor";

const PARTS = ["value", "grad", "other", "difference"] as const;

export function tensorBody(host: Host): Body {
  const { say } = host;
  const shownOf = (data: Raw) => {
    const wanted = String(host.get("shown"));
    return isRecord(data[wanted]) ? wanted : "value";
  };
  return {
    draw(data) {
      const shown = shownOf(data);
      const part = data[shown];
      return [
        h("h3.title", {}, text(data.label) || say("panel.tensor")),
        facts(host, data),
        choose(host, data, shown),
        slices(host, data),
        isRecord(part) ? numbers(host, part) : h("p.dim", {}, say("grad_state.none_yet")),
        text(data.code)
          ? h("div.fix", {}, h("code", {}, text(data.code)), copyButton(host, text(data.code)))
          : null,
      ];
    },
    table(data) {
      const rows = PARTS.filter((name) => isRecord(data[name])).map((name) => {
        const stats = readStats((data[name] as Raw).stats);
        const told = [stats?.minimum, stats?.mean, stats?.maximum, stats?.norm].map((value) =>
          figure(value),
        );
        return [say(`panel.${name}`), ...told, String(stats?.nan ?? 0), String(stats?.inf ?? 0)];
      });
      const head = ["minimum", "mean", "maximum", "norm"].map((name) => say(`inspect.${name}`));
      return {
        caption: text(data.label) || say("panel.tensor"),
        head: ["", ...head, "NaN", "∞"],
        rows,
      };
    },
  };
}

function facts({ say }: Host, data: Raw): HTMLElement {
  const rows: [string, string][] = [
    [say("inspect.shape"), `${tuple(wholes(data.shape))} ${text(data.dtype)}`],
    [say("inspect.device"), text(data.device)],
    [say("panel.strides"), tuple(wholes(data.strides))],
    [
      say("panel.storage"),
      `${bytes(whole(data.storage_bytes))} · ${say("panel.offset", { n: whole(data.offset) })}`,
    ],
    ["requires_grad", data.requires_grad === true ? "True" : "False"],
    ["grad_fn", text(data.grad_fn) || "None"],
    ["_version", String(whole(data.version))],
    ["is_contiguous()", data.contiguous === false ? "False" : "True"],
  ];
  const list = h("dl.facts", {});
  for (const [name, value] of rows)
    list.append(h("dt", {}, name), h("dd", {}, h("code", {}, value)));
  return list;
}

function choose(host: Host, data: Raw, shown: string): HTMLElement {
  const buttons = PARTS.filter(
    (name) => name === "value" || name === "grad" || isRecord(data[name]),
  ).map((name) =>
    chip(`show-${name}`, host.say(`panel.${name}`), name === shown, () => host.put("shown", name)),
  );
  const log = host.get("log_scale") === true;
  const scale = chip("log", host.say("panel.log"), log, () => host.put("log_scale", !log));
  return h("div.choices", { role: "group" }, ...buttons, scale);
}

/** One slider for each leading dimension. */
function slices(host: Host, data: Raw): HTMLElement | null {
  const [shape, index] = [wholes(data.shape), wholes(data.index)];
  if (index.length === 0) return null;
  const sliders = index.map((at, n) => {
    const name = host.say("panel.slice", { n, at, size: shape[n] });
    const slider = h("input", {
      type: "range",
      min: 0,
      max: shape[n] - 1,
      value: at,
      "aria-label": name,
    });
    slider.addEventListener("change", () =>
      host.put(
        "index",
        index.map((old, k) => (k === n ? Number(slider.value) : old)),
      ),
    );
    return h("label.dim", {}, name, " ", slider);
  });
  return h("div.choices", {}, ...sliders);
}

function numbers(host: Host, part: Raw): HTMLElement {
  const stats = readStats(part.part);
  const tokens = readTokens(host.element);
  const box = h("div.numbers-at", {});
  if (stats) box.append(tensorView(host, stats, tokens, host.get("log_scale") === true));
  const drawn = histogram(host, part.histogram);
  if (drawn) box.append(drawn);
  const bad = Array.isArray(part.bad) ? part.bad : [];
  if (bad.length > 0) {
    const places = bad.map((one) => `[${wholes(one).join(", ")}]`).join(" ");
    box.append(h("p.bad", {}, `${host.say("panel.bad_at")} `, h("code", {}, places)));
  }
  return box;
}

function histogram({ say }: Host, raw: unknown): HTMLElement | null {
  if (!isRecord(raw)) return null;
  const counts = wholes(raw.counts);
  const most = Math.max(1, ...counts);
  const [width, height] = [320, 90];
  const step = width / Math.max(1, counts.length);
  const bars = counts.map((count, n) => {
    const tall = (count / most) * (height - 30);
    return svg("rect", {
      x: n * step + 1,
      y: height - 16 - tall,
      width: Math.max(1, step - 1),
      height: tall,
      fill: COLOURS[0],
    });
  });
  const ends = [
    label(0, height - 3, figure(Number(raw.low))),
    label(width, height - 3, figure(Number(raw.high)), "end"),
  ];
  return picture(say("panel.histogram"), width, height, [...bars, ...ends]);
}
