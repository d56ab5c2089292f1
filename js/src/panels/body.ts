// What a panel's body gives and gets.
import type { Context } from "./context";
import type { Table } from "./table";

export type Raw = Record<string, unknown>;

export interface Host extends Context {
  /** Where the tokens are in force. */
  readonly element: HTMLElement;
  /** How wide a chart may be. */
  readonly width: number;
  /** A trait of the widget, and how to set it. */
  get(name: string): unknown;
  put(name: string, value: unknown): void;
  /** Something for Python to do; absent in a page without one. */
  ask: ((content: Raw) => void) | null;
}

export interface Body {
  /** What to draw for `data`. */
  draw(data: Raw): (HTMLElement | null)[];
  table(data: Raw): Table;
}

export type MakeBody = (host: Host) => Body;
