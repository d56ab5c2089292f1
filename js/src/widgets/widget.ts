// The anywidget: what it shows is told by the model's `panel`.
import { renderExplorer } from "./explorer";
import type { Model } from "./model";
import { BODIES } from "./panel";
import { renderPanel } from "./panel-widget";
import { renderPlayer } from "./player-widget";
import { start } from "./start";

type Render = (at: { model: Model; el: HTMLElement }) => () => void;

const render: Render = (at) => {
  const kind = String(at.model.get("panel"));
  return (kind === "player" ? renderPlayer : kind in BODIES ? renderPanel : renderExplorer)(at);
};

// In a page that a view was saved as there is no widget manager.
if (document.getElementById("gradviz-data")) start();

export default { render };
