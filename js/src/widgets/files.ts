// The view as a file of the person's own.

import { toDot, toMermaid } from "../draw/dot";
import { toPdf } from "../draw/pdf";
import type { Attention, Picture } from "../draw/picture";
import { toCanvas, toSvg } from "../draw/save";
import { escapeXml } from "../draw/svg-pen";
import type { Tokens } from "../draw/tokens";
import type { GraphStore } from "../model/store";
import type { Kind } from "../panels/header";
import { download } from "./notebook";

export interface Shown {
  store: GraphStore;
  language: string;
  picture: Picture | null;
  attention: Attention;
  tokens: Tokens;
  title: string;
  pageTitle: string;
  /** This very script, for a page that carries it along; empty where it is not known. */
  script: string;
  /** All that is known, as JSON values. */
  data: unknown;
}

export function saveAs(kind: Kind, shown: Shown): void {
  const { store, picture, attention, tokens } = shown;
  const name = `gradviz-${store.status.cell ?? "graph"}.${kind}`;
  if (kind === "json" || kind === "html") {
    const json = JSON.stringify(shown.data);
    if (kind === "json") download(name, new Blob([json], { type: "application/json" }));
    else download(name, new Blob([pageOf(json, shown)], { type: "text/html" }));
  } else if (kind === "dot") {
    download(name, new Blob([toDot(store, tokens)], { type: "text/vnd.graphviz" }));
  } else if (kind === "mmd") {
    download(name, new Blob([toMermaid(store)], { type: "text/plain" }));
  } else if (picture && kind === "pdf") {
    const canvas = document.createElement("canvas").getContext("2d");
    toPdf(picture, attention, tokens, canvas).then((file) => download(name, file));
  } else if (picture && kind === "svg") {
    const text = toSvg(picture, attention, tokens, shown.title);
    download(name, new Blob([text], { type: "image/svg+xml" }));
  } else if (picture) {
    toCanvas(picture, attention, tokens).toBlob((blob) => blob && download(name, blob));
  }
}

const POLICY =
  "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; " +
  "style-src 'unsafe-inline'; img-src data: blob:";

/** A page that needs nothing but itself: the graph as data that cannot become markup, and the script. */
export function pageOf(
  json: string,
  { script, pageTitle, language }: Pick<Shown, "script" | "pageTitle" | "language">,
): string {
  const data = json.replace(/[<>&\u2028\u2029]/g, inert);
  return (
    `<!doctype html>\n<html lang="${language}"><head><meta charset="utf-8">` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<title>${escapeXml(pageTitle)}</title>` +
    "<style>html,body{margin:0;height:100%}#gradviz{height:100%}</style></head><body>" +
    '<div id="gradviz"></div>' +
    `<script type="application/json" id="gradviz-data">${data}</script>` +
    `<script type="module" id="gradviz-script">${script.replaceAll("</script", "<\\/script")}</script>` +
    "</body></html>\n"
  );
}

const inert = (letter: string): string =>
  `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
