// Mounts the view in a page that holds its graph itself.
import { readBundle } from "../protocol/bundle";
import { parseRecording } from "../protocol/recording";
import { App } from "./app";
import { BODIES, noLink, Panel } from "./panel";
import { Player } from "./player";

export function start(): void {
  const host = document.getElementById("gradviz");
  if (!host) return;
  const data = document.getElementById("gradviz-data")?.textContent ?? "";
  const bundle = readBundle(data);
  const recording = parseRecording(data);
  const asked = new URLSearchParams(location.search);
  const settings = {
    language: asked.get("lang") ?? host.dataset.language ?? (bundle?.language || "auto"),
    theme: asked.get("theme") ?? host.dataset.theme ?? "auto",
    layout: host.dataset.layout ?? "page",
    height: Number(host.dataset.height) || 480,
    script: document.getElementById("gradviz-script")?.textContent ?? "",
  };
  if (recording?.plan.length) {
    new Player(host, settings, null).take(recording, recording.steps.length);
    return;
  }
  const kind = panelOf(data);
  if (kind) {
    new Panel(host, kind, settings, noLink()).take(JSON.parse(data));
    return;
  }
  const app = new App(host, settings, null);
  if (bundle) app.take(bundle.delta);
}

/** The kind of panel that the data are for; empty when they are a graph. */
function panelOf(json: string): string {
  try {
    const kind = String(JSON.parse(json).panel ?? "");
    return kind in BODIES ? kind : "";
  } catch {
    return "";
  }
}
