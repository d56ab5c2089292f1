// What every panel may know and ask for. Panels see the model, never the messages it came from.

import type { Fields, Language } from "../i18n";
import type { Moments } from "../model/moments";
import type { GraphStore } from "../model/store";
import type { Place } from "../model/types";
import { h } from "./dom";

export interface Context {
  readonly store: GraphStore;
  /** True when there is no Python to ask. */
  readonly frozen: boolean;
  /** The graph after earlier cells, where this page has seen them. */
  readonly moments?: Moments;
  travel?(cell: number | null): void;
  /** How things are now, also while the past is shown. */
  readonly now?: GraphStore;
  /** Asks Python to run something once more, on copies; absent where there is none. */
  readonly attempt?: (asked: Record<string, unknown>) => void;
  language: Language;
  readonly say: (key: string, fields?: Fields) => string;
  /** Select a node and bring it into view. */
  show(id: number): void;
  /** Scroll to a line of a cell; false where that cannot be done. */
  reveal(cell: number, line: number): boolean;
  canReveal(): boolean;
}

export function placeText(context: Context, place: Place): string {
  if (place.cell !== null && place.cell >= 0) {
    const { cell, line } = place;
    return line > 0
      ? context.say("place.cell", { cell, line })
      : context.say("place.cell_only", { cell });
  }
  const file = (place.file ?? "").split(/[\\/]/).at(-1) ?? "";
  return file ? context.say("place.file", { file, line: place.line }) : "";
}

/** A link to the line where the notebook can be scrolled, plain text elsewhere. */
export function placeLink(context: Context, place: Place): HTMLElement | null {
  const words = placeText(context, place);
  if (words === "") return null;
  const { cell, line } = place;
  if (cell === null || cell < 0 || !context.canReveal()) return h("span.at", {}, words);
  return h(
    "button.at.link",
    {
      title: context.say("place.hint"),
      onclick: () => context.reveal(cell, line),
    },
    words,
  );
}
