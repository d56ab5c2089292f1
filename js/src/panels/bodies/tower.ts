// A function and its derivatives: the curves, and what each order costs.
import { figure } from "../../model/format";
import { isRecord, figure as number, records, whole } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { COLOURS, type Curve, key, lineChart } from "../chart";
import { h } from "../dom";

const PRIMES = ["f", "f′", "f″", "f‴", "f⁗", "f⁽⁵⁾", "f⁽⁶⁾"];

const pointsOf = (data: Raw): number[] =>
  Array.isArray(data.points) ? data.points.map(Number) : [];
const valuesOf = (floor: Raw): (number | null)[] =>
  Array.isArray(floor.values) ? floor.values.map(number) : [];
const nameOf = (floor: Raw): string => PRIMES[whole(floor.order)] ?? `f(${whole(floor.order)})`;

export function towerBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const [points, floors] = [pointsOf(data), records(data.floors)];
      const curves: Curve[] = floors.map((floor, n) => {
        const values = valuesOf(floor);
        return {
          name: nameOf(floor),
          colour: COLOURS[n % COLOURS.length],
          points: points.map((x, k) => [x, values[k] ?? null]),
        };
      });
      const at = Number(host.get("point")) || 0;
      return [
        lineChart(curves, {
          name: say("panel.tower"),
          width: host.width,
          height: 260,
          marks: [{ at, text: `x = ${figure(at)}` }],
        }),
        key(curves),
        h("div.floors", {}, ...floors.map((floor) => floorRow(host, data, floor, at))),
        data.note === "constant" ? h("p.dim.pad", {}, say("panel.constant")) : null,
      ];
    },
    table(data) {
      const points = pointsOf(data);
      const floors = records(data.floors);
      const every = Math.max(1, Math.floor(points.length / 20));
      const rows = points
        .map((x, k) => [figure(x), ...floors.map((floor) => figure(valuesOf(floor)[k]))])
        .filter((_, k) => k % every === 0);
      return { caption: say("panel.tower"), head: ["x", ...floors.map(nameOf)], rows };
    },
  };
}

function floorRow(host: Host, data: Raw, floor: Raw, at: number): HTMLElement {
  const operations = isRecord(floor.operations) ? Object.entries(floor.operations) : [];
  const [points, values] = [pointsOf(data), valuesOf(floor)];
  const nearest = points.reduce(
    (best, x, k) => (Math.abs(x - at) < Math.abs(points[best] - at) ? k : best),
    0,
  );
  return h(
    "div.floor",
    { testid: "floor" },
    h("b", {}, `${nameOf(floor)}(${figure(points[nearest])})`),
    h("code", {}, ` = ${figure(values[nearest])} `),
    h("span.dim", {}, host.say("panel.graph_of", { n: whole(floor.nodes) })),
    " ",
    h("code.dim", {}, operations.map(([name, n]) => `${name}×${n}`).join("  ")),
  );
}
