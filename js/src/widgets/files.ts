// The view as a file of the person's own.
import type { Attention, Picture } from "../draw/picture";
import { toCanvas, toSvg } from "../draw/save";
import type { Tokens } from "../draw/tokens";
import type { GraphStore } from "../model/store";
import { toBundle } from "../protocol/bundle";
import { download } from "./notebook";

export type Kind = "svg" | "png" | "json";

export interface Shown {
  store: GraphStore;
  language: string;
  picture: Picture | null;
  attention: Attention;
  tokens: Tokens;
  title: string;
}

export function saveAs(kind: Kind, shown: Shown): void {
  const { store, picture, attention, tokens } = shown;
  const name = `gradviz-${store.status.cell ?? "graph"}.${kind}`;
  if (kind === "json") {
    const json = JSON.stringify(toBundle(store, shown.language));
    download(name, new Blob([json], { type: "application/json" }));
  } else if (picture && kind === "svg") {
    const text = toSvg(picture, attention, tokens, shown.title);
    download(name, new Blob([text], { type: "image/svg+xml" }));
  } else if (picture) {
    toCanvas(picture, attention, tokens).toBlob((blob) => blob && download(name, blob));
  }
}
