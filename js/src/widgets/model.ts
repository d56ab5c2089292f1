// The widget manager's model: what Python and the page share.
import { h } from "../panels/dom";
import type { Settings } from "./app";

export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback?: (...args: never[]) => void): void;
  send(message: unknown): void;
}

/** The widget manager says that the kernel was restarted, shut down or that it closed the connection. */
export const LOST = ["comm_live_update", "comm:close"];
export const TRAITS = ["language", "theme", "placement", "height"].map((name) => `change:${name}`);

export function settingsOf(model: Model): Settings {
  const height = Number(model.get("height"));
  return {
    language: String(model.get("language") ?? "auto"),
    theme: String(model.get("theme") ?? "auto"),
    layout: String(model.get("placement") ?? "inline"),
    height: Number.isFinite(height) ? height : 0,
    script: String(model.get("_esm") ?? ""),
  };
}

/** Where the view goes. */
export function hostIn(el: HTMLElement): HTMLElement {
  const host = h("div.gradviz-host", {});
  el.append(host);
  return host;
}

/** Hears all of `events`; gives how to stop. */
export function listen(
  model: Model,
  events: Record<string, (...args: never[]) => void>,
): () => void {
  for (const [event, callback] of Object.entries(events)) model.on(event, callback);
  return () => {
    for (const [event, callback] of Object.entries(events)) model.off(event, callback);
  };
}

/** The same answer to several events. */
export const each = (events: readonly string[], callback: () => void) =>
  Object.fromEntries(events.map((event) => [event, callback]));
