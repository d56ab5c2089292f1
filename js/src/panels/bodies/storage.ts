// Pieces of memory as bars; under each the tensors that lie on it, where they lie.
import { bytes, tuple } from "../../model/format";
import { records, text, whole, wholes } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { COLOURS, picture } from "../chart";
import { h, svg } from "../dom";

export function storageBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const blocks = records(data.storages);
      if (blocks.length === 0) return [h("p.dim.pad", {}, say("panel.no_tensors"))];
      return blocks.map((block) => one(host, block));
    },
    table(data) {
      const rows = records(data.storages).flatMap((block) =>
        records(block.views).map((view) => [
          text(view.name),
          String(whole(block.number)),
          tuple(wholes(view.shape)),
          tuple(wholes(view.strides)),
          String(whole(view.offset)),
          bytes(whole(block.bytes)),
        ]),
      );
      return {
        caption: say("panel.storages"),
        head: [
          say("panel.tensor"),
          say("panel.storage"),
          say("inspect.shape"),
          say("panel.strides"),
          say("panel.first"),
          say("panel.bytes"),
        ],
        rows,
      };
    },
  };
}

function one(host: Host, block: Raw): HTMLElement {
  const { say } = host;
  const views = records(block.views);
  const wide = Math.min(460, host.width);
  const size = Math.max(1, whole(block.bytes));
  const selected = String(host.get("selected") ?? "");
  const bars = views.map((view, n) => {
    const [start, end] = extentOf(view);
    const box = {
      x: (start / size) * wide,
      y: 14 + n * 10,
      width: Math.max(2, ((end - start) / size) * wide),
      height: 7,
      rx: 2,
    };
    return svg("rect", { ...box, fill: COLOURS[n % COLOURS.length] });
  });
  const frame = svg("rect", {
    x: 0.5,
    y: 0.5,
    width: wide - 1,
    height: 10,
    rx: 2,
    fill: "var(--gv-panel)",
    stroke: "var(--gv-op-line)",
  });
  const shared = views.length > 1 ? say("panel.shared", { n: views.length }) : "";
  const title = `${bytes(size)} · ${text(block.device)} · ${say("panel.version", { n: whole(block.version) })}`;
  return h(
    "div.block",
    { testid: "storage", "data-views": views.length },
    h("div.dim", {}, title, shared ? ` · ${shared}` : ""),
    picture(title, wide, 16 + views.length * 10, [frame, ...bars]),
    ...views.map((view, n) =>
      h(
        "div",
        {},
        h("i.key", { style: `background:${COLOURS[n % COLOURS.length]}` }),
        h(
          "button.link.name",
          {
            "aria-pressed": String(text(view.name) === selected),
            onclick: () => host.put("selected", text(view.name)),
          },
          text(view.name),
        ),
        h(
          "code.dim",
          {},
          ` ${tuple(wholes(view.shape))} ${text(view.dtype)} · ${say("panel.strides")} ${tuple(wholes(view.strides))} · ${say("panel.first")} ${whole(view.offset)}`,
        ),
      ),
    ),
  );
}

/** First and last byte that a view touches. */
function extentOf(view: Raw): [number, number] {
  const [shape, strides] = [wholes(view.shape), wholes(view.strides)];
  const count = shape.reduce((product, length) => product * length, 1);
  const item = whole(view.bytes) / Math.max(1, count);
  const reach = shape.reduce(
    (sum, length, n) => sum + Math.max(0, length - 1) * Math.abs(strides[n] ?? 0),
    0,
  );
  const start = whole(view.offset) * item;
  return [start, start + (reach + 1) * item];
}
