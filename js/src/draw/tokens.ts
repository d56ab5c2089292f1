// The colours of the picture, by meaning. The page's style sheet holds their values; a canvas reads them from there.

export interface Tokens {
  bg: string;
  panel: string;
  line: string;
  text: string;
  dim: string;
  op: string;
  opLine: string;
  leaf: string;
  leafLine: string;
  root: string;
  rootLine: string;
  saved: string;
  grad: string;
  leak: string;
  error: string;
  neg: string;
  zero: string;
  pos: string;
}

export const LIGHT: Tokens = {
  bg: "#ffffff",
  panel: "#fafafa",
  line: "#e2e4e8",
  text: "#1f2328",
  dim: "#5f6875",
  op: "#f3f4f6",
  opLine: "#9aa1ac",
  leaf: "#dbeafe",
  leafLine: "#2563eb",
  root: "#dcfce7",
  rootLine: "#15803d",
  saved: "#f59e0b",
  grad: "#7c3aed",
  leak: "#c026d3",
  error: "#dc2626",
  neg: "#2166ac",
  zero: "#f7f7f7",
  pos: "#b2182b",
};

export const DARK: Tokens = {
  bg: "#161a1f",
  panel: "#1c2127",
  line: "#2d333b",
  text: "#e6e8eb",
  dim: "#9aa4b2",
  op: "#272d35",
  opLine: "#6b7684",
  leaf: "#17304f",
  leafLine: "#60a5fa",
  root: "#12351f",
  rootLine: "#4ade80",
  saved: "#fbbf24",
  grad: "#a78bfa",
  leak: "#e879f9",
  error: "#f87171",
  neg: "#67a9cf",
  zero: "#30363d",
  pos: "#ef8a62",
};

/** JupyterLab's variables, used while the page follows the notebook's own theme. */
const NOTEBOOK: Partial<Record<keyof Tokens, string>> = {
  bg: "--jp-layout-color1",
  text: "--jp-ui-font-color1",
  line: "--jp-border-color2",
};

export const variable = (name: keyof Tokens): string =>
  `--gv-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** CSS declarations of all tokens; with `bound` they give way to the notebook's theme. */
export function declarations(tokens: Tokens, bound: boolean): string {
  return (Object.keys(tokens) as (keyof Tokens)[])
    .map((name) => {
      const notebook = bound ? NOTEBOOK[name] : undefined;
      const value = notebook ? `var(${notebook}, ${tokens[name]})` : tokens[name];
      return `${variable(name)}:${value};`;
    })
    .join("");
}

/** The values in force on `element`. */
export function readTokens(element: Element): Tokens {
  const style = getComputedStyle(element);
  const tokens = { ...LIGHT };
  for (const name of Object.keys(LIGHT) as (keyof Tokens)[]) {
    const value = style.getPropertyValue(variable(name)).trim();
    if (value) tokens[name] = value;
  }
  return tokens;
}

/** Between two hex colours; `share` from 0 to 1. */
export function mix(a: string, b: string, share: number): string {
  const [x, y] = [channels(a), channels(b)];
  return `rgb(${x.map((value, n) => Math.round(value + (y[n] - value) * share)).join(" ")})`;
}

function channels(colour: string): number[] {
  const hex = colour.replace("#", "");
  const full = hex.length === 3 ? [...hex].map((digit) => digit + digit).join("") : hex;
  return [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16) || 0);
}

/** Diverging around zero; `value` from -1 to 1. */
export const diverging = (tokens: Tokens, value: number): string =>
  mix(tokens.zero, value < 0 ? tokens.neg : tokens.pos, Math.min(1, Math.abs(value)));
