// The self-contained page: its graph is in the page itself.
import { readBundle } from "../protocol/bundle";
import { App } from "./app";

function start(): void {
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
  };
  const app = new App(host, settings, null);
  if (bundle) app.take(bundle.delta);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
