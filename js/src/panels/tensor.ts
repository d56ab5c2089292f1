// Numbers of one tensor: written out when few, as a heat map with their summary when many.
import { diverging, type Tokens } from "../draw/tokens";
import { count, figure, tuple } from "../model/format";
import type { Stats } from "../model/types";
import type { Context } from "./context";
import { h } from "./dom";

const MOST_COLUMNS = 8;
/** From this many columns on the numbers are set smaller and with two digits; pointing at one tells it in full. */
const DENSE_FROM = 7;

/** `log`: colours go by the order of magnitude. */
export function tensorView(
  context: Context,
  stats: Stats,
  tokens: Tokens,
  log = false,
): HTMLElement {
  const body = stats.heat?.length
    ? heat(context, stats, stats.heat, tokens, log)
    : stats.values !== null
      ? numbers(stats.values, tokens)
      : null;
  return h(
    "div.tensor",
    {},
    h("div.dim", {}, h("code", {}, `${tuple(stats.shape)} ${stats.dtype}`)),
    summary(context, stats),
    body,
  );
}

function summary(context: Context, stats: Stats): HTMLElement | null {
  const { say } = context;
  if (stats.values !== null && stats.shape.every((size) => size === 1)) return null;
  const parts: [string, string][] = (["minimum", "mean", "maximum", "norm"] as const)
    .filter((name) => stats[name] !== null)
    .map((name) => [say(`inspect.${name}`), figure(stats[name])]);
  const nan = stats.nan > 0 ? say("inspect.nan", { n: count(stats.nan) }) : say("inspect.no_nan");
  const notes = [nan];
  if (stats.inf > 0) notes.push(say("inspect.inf", { n: count(stats.inf) }));
  if (stats.zero > 0) notes.push(say("inspect.zero", { n: count(stats.zero) }));
  return h(
    "div.summary",
    {},
    ...parts.map(([name, value]) =>
      h("span", {}, h("span.dim", {}, name), " ", h("code", {}, value)),
    ),
    h("span", { class: stats.nan + stats.inf > 0 ? "bad" : "dim" }, notes.join(" · ")),
  );
}

type Nested = number | null | Nested[];

/** Rows of numbers; more than two dimensions are shown as blocks, each under its index. */
function numbers(values: unknown, tokens: Tokens): HTMLElement {
  const root = h("div.numbers", {});
  const stack: { path: number[]; value: Nested }[] = [{ path: [], value: values as Nested }];
  while (stack.length > 0) {
    const { path, value } = stack.pop()!;
    if (!Array.isArray(value)) root.append(scalar(value));
    else if (!value.some((row) => Array.isArray(row) && row.some(Array.isArray))) {
      if (path.length > 0) root.append(h("code.dim", {}, `[${path.join(", ")}]`));
      root.append(matrix(value, tokens));
    } else {
      for (let n = value.length - 1; n >= 0; n--)
        stack.push({ path: [...path, n], value: value[n] });
    }
  }
  return root;
}

/** What is not finite comes as text, which `Number` reads; true and false are 1 and 0. */
const toNumber = (value: unknown): number => (value === null ? Number.NaN : Number(value));

const scalar = (value: Nested): HTMLElement => h("code.scalar", {}, figure(toNumber(value)));

function matrix(values: Nested[], tokens: Tokens): HTMLElement {
  const rows = values.some(Array.isArray) ? (values as Nested[][]) : [values];
  const flat = rows.flat().map(toNumber);
  const most = largest(flat);
  const wide = Math.max(...rows.map((row) => row.length), 1);
  const columns = Math.min(wide, MOST_COLUMNS);
  const dense = columns >= DENSE_FROM;
  const look = dense ? "matrix dense" : "matrix";
  const grid = h("div", { class: look, style: `--columns:${columns}` });
  for (const row of rows) {
    const line = h("div.matrix-row", {});
    for (const cell of row) {
      const value = toNumber(cell);
      const share = most > 0 && Number.isFinite(value) ? value / most : 0;
      const color = Number.isNaN(value) ? tokens.error : diverging(tokens, share);
      const shape = { class: Number.isNaN(value) ? "bad" : "", style: `--mark:${color}` };
      const words = dense ? figure(value, 2) : figure(value);
      line.append(h("code", { ...shape, title: dense && String(value) }, words));
    }
    grid.append(line);
  }
  return grid;
}

/** Six orders of magnitude from white to full colour. */
function shareOf(value: number, most: number, log: boolean): number {
  if (most === 0 || value === 0) return 0;
  if (!log) return value / most;
  return Math.sign(value) * Math.max(0, 1 + Math.log10(Math.abs(value) / most) / 6);
}

const largest = (values: number[]): number =>
  values.reduce(
    (most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
    0,
  );

function heat(
  context: Context,
  stats: Stats,
  rows: (number | null)[][],
  tokens: Tokens,
  log: boolean,
): HTMLElement {
  const width = Math.max(...rows.map((row) => row.length), 1);
  const most = largest(rows.flat().map(toNumber));
  const canvas = h("canvas.heat", {
    width,
    height: rows.length,
    role: "img",
    "aria-label": `${context.say("inspect.minimum")} ${figure(stats.minimum)}, ${context.say("inspect.maximum")} ${figure(stats.maximum)}`,
    style: `aspect-ratio:${width}/${Math.max(rows.length, width / 8)}`,
  });
  const to = canvas.getContext("2d");
  rows.forEach((row, y) => {
    row.forEach((value, x) => {
      if (!to) return;
      const known = value !== null && !Number.isNaN(value);
      to.fillStyle = known ? diverging(tokens, shareOf(value, most, log)) : tokens.error;
      to.fillRect(x, y, 1, 1);
    });
  });
  const scale = h(
    "div.scale.dim",
    {},
    h("code", {}, figure(-most)),
    h("i", { "aria-hidden": "true" }),
    h("code", {}, figure(most)),
  );
  return h("div", {}, canvas, scale);
}
