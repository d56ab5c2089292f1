// The anywidget: one view on one model of Python.
import { readBundle } from "../protocol/bundle";
import { App, type Settings } from "./app";

interface Model {
  get(name: string): unknown;
  on(event: string, callback: (...args: never[]) => void): void;
  off(event: string, callback?: (...args: never[]) => void): void;
  send(message: unknown): void;
}

const TRAITS = ["language", "theme", "layout", "height"] as const;

function settingsOf(model: Model): Settings {
  const height = Number(model.get("height"));
  return {
    language: String(model.get("language") ?? "auto"),
    theme: String(model.get("theme") ?? "auto"),
    layout: String(model.get("layout") ?? "inline"),
    height: Number.isFinite(height) ? height : 0,
  };
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = document.createElement("div");
  host.className = "gradviz-host";
  const layout = String(model.get("layout") ?? "inline");
  if (layout === "dock") {
    el.style.height = "100%";
    host.style.height = "100%";
  }
  el.append(host);
  const frozen = readBundle(String(model.get("bundle") ?? ""));
  const wire = { send: (message: unknown) => model.send(message), now: () => performance.now() };
  const app = new App(host, settingsOf(model), frozen ? null : wire);
  const receive = (message: unknown, buffers: DataView[] = []) =>
    app.client?.receive(message, buffers);
  const configure = () => app.configure(settingsOf(model));
  model.on("msg:custom", receive as never);
  for (const trait of TRAITS) model.on(`change:${trait}`, configure);
  if (frozen) app.take(frozen.delta);
  app.client?.ready();
  return () => {
    model.off("msg:custom", receive as never);
    for (const trait of TRAITS) model.off(`change:${trait}`, configure);
    app.close();
  };
}

export default { render };
