// Memory by cell and over a measured stretch: stacked bytes, marks, the peak and what was alive then.
import { bytes } from "../../model/format";
import { COLOURS, withRetained } from "../../model/memory";
import { isRecord, readBytes, records, text, whole } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { type Curve, key, lineChart } from "../chart";
import { h } from "../dom";

const KINDS = ["parameters", "gradients", "optimizer", "activations"];
const CELLS = Object.keys(withRetained({}));

export function ledgerBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const cells = cellsOf(data);
      const parts: (HTMLElement | null)[] = [];
      if (isRecord(data.measured)) parts.push(...measured(host, data.measured));
      if (cells.some(({ values }) => Object.values(values).some((value) => value > 0))) {
        parts.push(
          h("h3.title", {}, say("memory.name")),
          ...stacked(host, cells, CELLS, say("memory.name"), []),
        );
      }
      return parts.length > 0 ? parts : [h("p.dim.pad", {}, say("panel.no_memory"))];
    },
    table(data) {
      const moments = isRecord(data.measured) ? records(data.measured.moments) : [];
      const names = moments.length > 0 ? KINDS : CELLS;
      const rows =
        moments.length > 0
          ? moments.map((one) => [
              String(whole(one.at)),
              ...names.map((name) => bytes(whole(one[name]))),
            ])
          : cellsOf(data).map(({ at, values }) => [
              `In [${at}]`,
              ...names.map((name) => bytes(values[name])),
            ]);
      return {
        caption: say("panel.ledger"),
        head: ["", ...names.map((name) => say(`memory.${name}`))],
        rows,
      };
    },
  };
}

const cellsOf = (data: Raw) =>
  records(data.cells).map((cell) => ({
    at: whole(cell.count),
    values: withRetained(readBytes(cell.bytes)),
  }));

function stacked(
  host: Host,
  moments: { at: number; values: Raw }[],
  kinds: string[],
  name: string,
  marks: { at: number; text: string }[],
): HTMLElement[] {
  const curves: Curve[] = kinds.map((kind) => ({
    name: host.say(`memory.${kind}`),
    colour: COLOURS[kind],
    points: moments.map(({ at, values }) => [at, Math.max(0, whole(values[kind]))]),
  }));
  const shown = curves.filter((curve) => curve.points.some(([, value]) => (value ?? 0) > 0));
  return [
    lineChart(shown, {
      name,
      width: host.width,
      stacked: true,
      marks,
      format: (value) => bytes(Math.max(0, value)),
    }),
    key(shown),
  ];
}

function measured(host: Host, raw: Raw): HTMLElement[] {
  const { say } = host;
  const moments = records(raw.moments).map((one) => ({ at: whole(one.at), values: one }));
  const marks = records(raw.marks).map((one) => ({
    at: whole(one.at),
    text: say(`panel.mark_${text(one.what)}`),
  }));
  const peak = isRecord(raw.peak) ? raw.peak : {};
  const total = KINDS.reduce((sum, kind) => sum + whole(peak[kind]), 0);
  const list = (title: string, rows: Raw[]) =>
    rows.length === 0
      ? null
      : h(
          "div.held",
          {},
          h("b", {}, title),
          ...rows.map((one) =>
            h(
              "div",
              {},
              h("code", {}, text(one.name)),
              h("span.dim", {}, ` ${bytes(whole(one.bytes))}`),
            ),
          ),
        );
  return [
    h("h3.title", {}, say("panel.peak", { bytes: bytes(total) })),
    ...stacked(host, moments, KINDS, say("panel.ledger"), marks),
    h(
      "div.two",
      {},
      list(say("panel.alive_then"), records(raw.alive)),
      list(say("panel.checkpoint"), records(raw.saving)),
    ),
  ];
}
