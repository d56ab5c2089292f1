// Reading JSON of unknown shape: every reader gives a sound value or a plain default, and never throws.
import type {
  CellMemory,
  Detail,
  Finding,
  Hook,
  Place,
  Saved,
  Stats,
  Status,
} from "../model/types";
import { EMPTY_STATUS } from "../model/types";

type Raw = Record<string, unknown>;

export const isRecord = (value: unknown): value is Raw =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const whole = (value: unknown, fallback = 0): number =>
  typeof value === "number" && Number.isFinite(value) ? Math.trunc(value) : fallback;

const INFINITE: Record<string, number> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

/** A number; JSON has no word for what is not finite, so that comes as text. */
export const figure = (value: unknown): number | null =>
  typeof value === "number" ? value : typeof value === "string" ? (INFINITE[value] ?? null) : null;

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const records = (value: unknown): Raw[] => list(value).filter(isRecord);

export const texts = (value: unknown): string[] =>
  list(value).filter((one) => typeof one === "string");

export const wholes = (value: unknown): number[] =>
  list(value).filter((one) => typeof one === "number");

export const byLanguage = (value: unknown): Record<string, string> => {
  const result: Record<string, string> = {};
  if (isRecord(value)) for (const key of Object.keys(value)) result[key] = text(value[key]);
  return result;
};

export function readPlace(value: unknown): Place | null {
  if (!isRecord(value)) return null;
  return {
    cell: figure(value.cell),
    line: whole(value.line),
    file: text(value.file),
    function: text(value.function),
    code: text(value.code),
  };
}

const places = (value: unknown): Place[] =>
  list(value)
    .map(readPlace)
    .filter((place) => place !== null);

const readSaved = (raw: Raw): Saved => ({
  name: text(raw.name),
  shape: wholes(raw.shape),
  dtype: text(raw.dtype),
  bytes: whole(raw.bytes),
  version_saved: whole(raw.version_saved),
  version_now: whole(raw.version_now),
  state: text(raw.state) || "alive",
  label: text(raw.label),
  source: raw.source == null ? null : whole(raw.source),
});

const readHook = (raw: Raw): Hook => ({
  kind: text(raw.kind),
  name: text(raw.name),
  place: readPlace(raw.place),
  calls: figure(raw.calls),
  before: figure(raw.before),
  after: figure(raw.after),
  owner: text(raw.owner),
});

const readHeat = (value: unknown): (number | null)[][] | null =>
  Array.isArray(value) ? value.filter(Array.isArray).map((row) => row.map(figure)) : null;

export function readStats(value: unknown): Stats | null {
  if (!isRecord(value)) return null;
  return {
    shape: wholes(value.shape),
    dtype: text(value.dtype),
    minimum: figure(value.minimum),
    mean: figure(value.mean),
    maximum: figure(value.maximum),
    norm: figure(value.norm),
    nan: whole(value.nan),
    inf: whole(value.inf),
    zero: whole(value.zero),
    values: value.values ?? null,
    heat: readHeat(value.heat),
  };
}

const PARTS: { [K in keyof Detail]-?: (value: unknown) => Detail[K] } = {
  place: readPlace,
  calls: places,
  saved: (value) => records(value).map(readSaved),
  hooks: (value) => records(value).map(readHook),
  formula: byLanguage,
  findings: texts,
  value: readStats,
  grad: readStats,
  grad_state: text,
  holders: texts,
  keeps: (value) =>
    isRecord(value) ? { nodes: whole(value.nodes), bytes: whole(value.bytes) } : null,
  shares: wholes,
  changes: (value) =>
    records(value).map((one) => ({ version: whole(one.version), place: readPlace(one.place) })),
  added: (value) =>
    records(value).map((one) => ({ count: whole(one.count), place: readPlace(one.place) })),
  answered: (value) => value === true,
};

/** Only the parts that are there: a detail may be joined from a row and an answer. */
export function readDetail(value: unknown): Detail {
  const there = isRecord(value) ? Object.entries(PARTS).filter(([name]) => name in value) : [];
  return Object.fromEntries(there.map(([name, read]) => [name, read((value as Raw)[name])]));
}

export function readDetails(value: unknown): Map<number, Detail> {
  const details = new Map<number, Detail>();
  if (!isRecord(value)) return details;
  for (const [id, one] of Object.entries(value)) {
    details.set(Number(id), { ...readDetail(one), answered: true });
  }
  return details;
}

const readFinding = (raw: Raw): Finding => ({
  rule: text(raw.rule),
  kind: text(raw.kind),
  severity: text(raw.severity),
  holders: texts(raw.holders),
  cell: figure(raw.cell),
  line: figure(raw.line),
  nodes: whole(raw.nodes),
  bytes: whole(raw.bytes),
  message: byLanguage(raw.message),
  fix: byLanguage(raw.fix),
  code: text(raw.code),
  node_ids: wholes(raw.node_ids),
  file: text(raw.file),
});

export const readFindings = (value: unknown): Finding[] | null =>
  Array.isArray(value) ? records(value).map(readFinding) : null;

/** How many there are of each kind. */
export const readBytes = (value: unknown): Record<string, number> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).map(([kind, n]) => [kind, Math.max(0, whole(n))]),
  );

const readCell = (raw: Raw): CellMemory => ({
  count: whole(raw.count),
  bytes: readBytes(raw.bytes),
});

export function readStatus(value: unknown): Status | null {
  if (!isRecord(value)) return null;
  const overhead = isRecord(value.overhead)
    ? { ms: figure(value.overhead.ms) ?? 0, bytes: whole(value.overhead.bytes) }
    : null;
  return {
    ...EMPTY_STATUS,
    state: text(value.state) || "idle",
    cell: figure(value.cell),
    shown: whole(value.shown),
    total: whole(value.total),
    folded: whole(value.folded),
    note: text(value.note),
    cells: records(value.cells).map(readCell),
    queued: value.queued === true,
    overhead,
  };
}
