// What a person tries on a node: its derivative beside finite differences, another value of a leaf.
import { figure } from "../model/format";
import type { NodeRow, Stats } from "../model/types";
import { figure as number, readStats, records, text, whole } from "../protocol/read";
import type { Raw } from "./body";
import type { Context } from "./context";
import { h } from "./dom";

/** Of more numbers nobody writes another one into a line. */
const FEW = 16;

export function checkPart(context: Context, row: NodeRow): HTMLElement | null {
  const { say, attempt } = context;
  if (!attempt || row.kind !== "operation" || row.id < 0) return null;
  const run = () => attempt({ what: "check", id: row.id });
  const button = { class: "tool", testid: "check", onclick: run };
  return h(
    "div.rule",
    { testid: "checked" },
    h("button", { ...button, title: say("try.check_hint") }, say("try.check")),
    ...answer(context, `check:${row.id}`, checked),
  );
}

export function whatIfPart(context: Context, row: NodeRow, value: Stats): HTMLElement | null {
  const { say, attempt } = context;
  const count = value.shape.reduce((product, size) => product * size, 1);
  const possible = attempt && row.id > 0 && value.values !== null && count <= FEW;
  if (!possible || row.kind === "operation" || !value.dtype.includes("float")) return null;
  const key = `whatif:${row.id}`;
  const written = context.store.trials.get(key)?.written;
  const input = h("input", { "aria-label": say("try.what_if"), testid: "what-if" });
  input.value = text(written) || JSON.stringify(value.values).replaceAll(",", ", ");
  const run = () =>
    attempt({ what: "whatif", id: row.id, value: parsed(input.value), written: input.value });
  // The notebook has a use of its own for this key.
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") run();
  });
  const go = { class: "tool", testid: "go" };
  return h(
    "div.rule",
    { testid: "tried" },
    h("b", {}, say("try.what_if")),
    h("div.row", {}, input, h("button", { ...go, onclick: run }, say("try.go"))),
    ...answer(context, key, moved),
  );
}

function parsed(words: string): unknown {
  try {
    return JSON.parse(words);
  } catch {
    return null;
  }
}

function answer(
  context: Context,
  key: string,
  told: (context: Context, trial: Raw) => HTMLElement[],
): HTMLElement[] {
  const trial = context.store.trials.get(key);
  if (!trial) return [];
  if (!trial.why) return told(context, trial);
  const words = context.say(`try.${text(trial.why)}`, { name: nameOf(context, whole(trial.at)) });
  return [h("p.dim", { role: "status" }, words)];
}

function checked(context: Context, trial: Raw): HTMLElement[] {
  const { say } = context;
  const rows = records(trial.rows).map((row) => {
    const good = row.agrees === true;
    const words = say(good ? "try.agrees" : "try.differs", { error: figure(number(row.error), 2) });
    return h(
      "div",
      { role: "status" },
      h("code.name", {}, `∂${text(row.input)}`),
      h("span", { class: good ? "" : "bad" }, ` ${good ? "✓" : "✗"} ${words}`),
    );
  });
  return trial.own === false ? [...rows, h("p.dim", {}, say("try.stand_in"))] : rows;
}

function moved(context: Context, trial: Raw): HTMLElement[] {
  return records(trial.rows).map((row) => {
    const name = nameOf(context, whole(row.id)) + (row.what === "grad" ? ".grad" : "");
    return h(
      "div",
      { role: "status" },
      h("code.name", {}, name),
      h("code", {}, ` ${brief(row.before)} → ${brief(row.after)}`),
    );
  });
}

function nameOf({ store }: Context, id: number): string {
  const row = store.nodes.get(id);
  return row?.label || row?.op || `#${id}`;
}

function brief(raw: unknown): string {
  const stats = readStats(raw);
  if (!stats) return "";
  const count = stats.shape.reduce((product, size) => product * size, 1);
  return stats.values !== null && count <= FEW
    ? spelled(stats.values)
    : `‖·‖ ${figure(stats.norm)}`;
}

/** Numbers as they stand in their brackets. */
export function spelled(values: unknown): string {
  if (Array.isArray(values)) return `[${values.map(spelled).join(", ")}]`;
  return figure(values === null ? Number.NaN : Number(values), 4);
}
