// Figures as people read them.

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Bytes in powers of 1000, three significant digits: 820 kB, 1.2 MB. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${trimZero(value.toFixed(digits))} ${UNITS[unit]}`;
}

const trimZero = (text: string): string => text.replace(/\.0$/, "");

/** 12,345; a locale's own formatter takes longer to load than all the rest. */
export const count = (value: number): string =>
  String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");

/** A number in a few characters; the sign is a true minus. */
export function figure(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return short(value, digits).replace("-", "−").replace("e−", "e-").replace("e+", "e");
}

function short(value: number, digits: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (Number.isInteger(value) && size < 1e5) return String(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(digits - 1);
  return String(Number(value.toPrecision(size >= 100 ? digits + 2 : digits)));
}

/** The value of a scalar, which comes as text when it is not finite; null when it is not known. */
export function scalarOf(values: unknown): number | null {
  if (typeof values === "number") return values;
  return values === "NaN" || values === "Infinity" || values === "-Infinity"
    ? Number(values)
    : null;
}

/** Python's way of writing a shape: (64, 256). */
export function tuple(shape: readonly number[]): string {
  return shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(", ")})`;
}

/** `64×256` as the row carries it, written as Python writes it. */
export function tupleOfText(shape: string): string {
  if (shape === "" || shape.startsWith("(")) return shape;
  const parts = shape.split("×");
  return parts.length === 1 ? `(${parts[0]},)` : `(${parts.join(", ")})`;
}
