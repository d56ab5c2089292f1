// Metrics as they come, what happened in between, and buttons for more steps.
import { figure } from "../../model/format";
import { isRecord, figure as number, records, text, whole } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { COLOURS, lineChart } from "../chart";
import { h } from "../dom";

type Series = [string, [number, number | null][]][];

function seriesOf(data: Raw): Series {
  if (!isRecord(data.series)) return [];
  return Object.entries(data.series).map(([name, points]) => [
    name,
    (Array.isArray(points) ? points : [])
      .filter(Array.isArray)
      .map(([x, y]) => [whole(x), number(y)]),
  ]);
}

export function cockpitBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const series = seriesOf(data);
      const events = records(data.events).map((one) => ({
        at: whole(one.at),
        text: text(one.text),
      }));
      const error = text(data.error);
      return [
        data.runs === true && host.ask ? buttons(host) : null,
        error ? h("p.bad.pad", { role: "alert" }, error) : null,
        series.length === 0 ? h("p.dim.pad", {}, say("panel.no_metrics")) : null,
        ...series.map(([name, points], n) =>
          h(
            "div",
            {},
            h("div.metric", {}, h("b", {}, name), " ", h("code", {}, figure(points.at(-1)?.[1]))),
            lineChart([{ name, colour: COLOURS[n % COLOURS.length], points }], {
              name,
              width: host.width,
              height: 130,
              marks: n === 0 ? events.slice(-8) : [],
            }),
          ),
        ),
        events.length > 0
          ? h(
              "ul.past",
              {},
              ...events
                .slice(-8)
                .map(({ at, text: words }) => h("li", {}, h("code", {}, String(at)), ` ${words}`)),
            )
          : null,
      ];
    },
    table(data) {
      const series = seriesOf(data);
      const steps = [...new Set(series.flatMap(([, points]) => points.map(([x]) => x)))].sort(
        (a, b) => a - b,
      );
      const at = series.map(([, points]) => new Map(points));
      return {
        caption: say("panel.cockpit"),
        head: [say("panel.step"), ...series.map(([name]) => name)],
        rows: steps.map((x) => [String(x), ...at.map((values) => figure(values.get(x)))]),
      };
    },
  };
}

function buttons(host: Host): HTMLElement {
  return h(
    "div.choices",
    {},
    ...[1, 10, 100].map((n) =>
      h(
        "button.tool",
        {
          testid: `run-${n}`,
          onclick: () => host.ask?.({ steps: n }),
        },
        host.say("panel.run", { n }),
      ),
    ),
  );
}
