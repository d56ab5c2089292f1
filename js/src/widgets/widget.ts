// The anywidget: what it shows is told by the model's `panel`.
import { renderExplorer } from "./explorer";
import type { Model } from "./model";
import { renderPlayer } from "./player-widget";
import { start } from "./start";

type Render = (at: { model: Model; el: HTMLElement }) => () => void;

const PANELS: Record<string, Render> = { graph: renderExplorer, player: renderPlayer };

const render: Render = (at) => (PANELS[String(at.model.get("panel"))] ?? renderExplorer)(at);

// In a page that a view was saved as there is no widget manager.
if (document.getElementById("gradviz-data")) start();

export default { render };
