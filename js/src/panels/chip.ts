// A small switch: on or off.
import { h } from "./dom";

export function chip(
  name: string,
  words: string,
  on: boolean,
  run: () => void,
  hint?: string,
): HTMLElement {
  return h(
    "button.chip",
    {
      title: hint,
      "aria-pressed": String(on),
      testid: `${name}`,
      onclick: run,
    },
    words,
  );
}
