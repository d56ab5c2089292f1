// A panel as a widget.
import { isRecord } from "../protocol/read";
import { each, hostIn, LOST, listen, type Model, settingsOf, TRAITS } from "./model";
import { Panel } from "./panel";

/** Traits that a body may read; a change of any is drawn. */
const DRAWN = ["selected", "shown", "index", "log_scale", "clip", "point"];

export function renderPanel({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = hostIn(el);
  const panel = new Panel(host, String(model.get("panel")), settingsOf(model), {
    get: (name) => model.get(name),
    put: (name, value) => {
      model.set(name, value);
      model.save_changes();
    },
    ask: (content) => model.send({ t: "ask", ...content }),
  });
  const take = () => panel.take(parse(String(model.get("data") ?? "")));
  const stop = listen(model, {
    "msg:custom": ((message: unknown) => {
      if (isRecord(message) && message.t === "busy") panel.tell("panel.busy");
    }) as never,
    "change:data": take,
    ...each(TRAITS, () => panel.configure(settingsOf(model))),
    ...each(
      DRAWN.map((name) => `change:${name}`),
      () => panel.draw(),
    ),
    ...each(LOST, () => panel.tell("graph.gone")),
  });
  take();
  return () => {
    stop();
    panel.close();
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
