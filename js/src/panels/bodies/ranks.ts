// Processes that train together: a lane each, with the gradients that came and the buckets that travelled.
import { bytes, figure } from "../../model/format";
import { figure as number, records, texts, whole } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { key, label, picture } from "../chart";
import { h, svg } from "../dom";

const LEFT = 64;
const LANE = 36;
const FOOT = 18;
const COLOURS = {
  computed: "var(--gv-grad)",
  beside: "var(--gv-leaf-line)",
  after: "var(--gv-saved)",
};

const time = (raw: Raw, name: string): number => number(raw[name]) ?? 0;
const ms = (seconds: number): string => figure(seconds * 1e3);
const percent = (rank: Raw): number => Math.round(time(rank, "hidden") * 100);

export function ranksBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const ranks = records(data.ranks);
      if (!ranks.some((rank) => records(rank.buckets).length > 0))
        return [h("p.dim.pad", {}, say("panel.no_ranks"))];
      const names = (Object.keys(COLOURS) as (keyof typeof COLOURS)[]).map((name) => ({
        name: say(`panel.rank_${name}`),
        colour: COLOURS[name],
      }));
      return [
        lanes(host, ranks),
        key(names),
        skew(host, ranks),
        ...ranks.map((r) => facts(host, r)),
      ];
    },
    table(data) {
      const rows = records(data.ranks).flatMap((rank) =>
        records(rank.buckets).map((bucket) => [
          String(whole(rank.rank)),
          String(whole(bucket.number)),
          texts(bucket.parameters).join(", "),
          bytes(whole(bucket.bytes)),
          say("panel.rank_from", {
            from: ms(time(bucket, "started")),
            to: ms(time(bucket, "ended")),
          }),
        ]),
      );
      const head = ["rank", say("panel.bucket", { n: "" }), say("kind.parameter")];
      return {
        caption: say("panel.ranks"),
        head: [...head, say("panel.bytes"), "all-reduce"],
        rows,
      };
    },
  };
}

function lanes(host: Host, ranks: Raw[]): HTMLElement {
  const { say, width } = host;
  const ends = ranks.flatMap((rank) => [
    time(rank, "computed"),
    ...records(rank.buckets).map((bucket) => time(bucket, "ended")),
  ]);
  const most = Math.max(1e-9, ...ends);
  const x = (at: number) => LEFT + (Math.max(0, at) / most) * (width - LEFT - 12);
  const height = ranks.length * LANE + FOOT;
  const parts = ranks.flatMap((rank, n) => lane(host, rank, n * LANE, x));
  const axis = [0, most / 2, most].map((at, n) =>
    label(x(at), height - 4, `${ms(at)} ms`, ["start", "middle", "end"][n]),
  );
  return picture(say("panel.ranks"), width, height, [...parts, ...axis], "group");
}

/** Above the backward pass with a tick for each gradient, below it the buckets. */
function lane(host: Host, rank: Raw, top: number, x: (at: number) => number): SVGElement[] {
  const { say } = host;
  const computed = time(rank, "computed");
  const bar = (from: number, to: number, y: number, high: number, fill: string) =>
    svg("rect", { x: x(from), y, width: Math.max(1, x(to) - x(from)), height: high, rx: 1, fill });
  const ticks: SVGElement[] = [];
  const travels = records(rank.buckets).map((bucket) => {
    for (const at of Array.isArray(bucket.arrived) ? bucket.arrived.map(number) : [])
      if (at !== null) ticks.push(bar(at, at, top + 4, 9, "var(--gv-text)"));
    const [from, to] = [time(bucket, "started"), time(bucket, "ended")];
    const [owner = ""] = texts(bucket.parameters);
    const words = [
      `${say("panel.bucket", { n: whole(bucket.number) })} · ${bytes(whole(bucket.bytes))}`,
      say("panel.rank_from", { from: ms(from), to: ms(to) }),
      texts(bucket.parameters).join("\n"),
    ].join("\n");
    const split = Math.min(to, Math.max(from, computed));
    return svg(
      "g",
      { class: "row", testid: "bucket", onclick: () => host.put("selected", owner) },
      svg("title", {}, words),
      split > from && bar(from, split, top + 16, 12, COLOURS.beside),
      to > split && bar(split, to, top + 16, 12, COLOURS.after),
      bar(from, from, top + 16, 12, "var(--gv-bg)"),
    );
  });
  const name = label(LEFT - 8, top + 20, say("panel.rank", { n: whole(rank.rank) }), "end");
  return [name, bar(0, computed, top + 6, 5, COLOURS.computed), ...ticks, ...travels];
}

/** Who keeps the others waiting. */
function skew(host: Host, ranks: Raw[]): HTMLElement | null {
  if (ranks.length < 2) return null;
  const times = ranks.map((rank) => time(rank, "computed"));
  const last = times.indexOf(Math.max(...times));
  const apart = ms(times[last] - Math.min(...times));
  return h("p.pad", {}, host.say("panel.rank_skew", { n: whole(ranks[last].rank), ms: apart }));
}

function facts(host: Host, rank: Raw): HTMLElement {
  const buckets = records(rank.buckets);
  const size = buckets.reduce((sum, bucket) => sum + whole(bucket.bytes), 0);
  const words = { n: buckets.length, bytes: bytes(size), share: percent(rank) };
  return h(
    "div",
    { testid: "rank" },
    h("b", {}, host.say("panel.rank", { n: whole(rank.rank) })),
    " ",
    h("span.dim", {}, host.say("panel.rank_facts", words)),
  );
}
