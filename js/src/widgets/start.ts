// Mounts the view in a page that holds its graph itself.
import { readBundle } from "../protocol/bundle";
import { App } from "./app";

export function start(): void {
  const host = document.getElementById("gradviz");
  if (!host) return;
  const data = document.getElementById("gradviz-data")?.textContent ?? "";
  const bundle = readBundle(data);
  const asked = new URLSearchParams(location.search);
  const settings = {
    language: asked.get("lang") ?? host.dataset.language ?? (bundle?.language || "auto"),
    theme: asked.get("theme") ?? host.dataset.theme ?? "auto",
    layout: host.dataset.layout ?? "page",
    height: Number(host.dataset.height) || 480,
    script: document.getElementById("gradviz-script")?.textContent ?? "",
  };
  const app = new App(host, settings, null);
  if (bundle) app.take(bundle.delta);
}
