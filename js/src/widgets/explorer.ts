// The graph explorer as a widget.
import { h } from "../panels/dom";
import { readBundle } from "../protocol/bundle";
import { App } from "./app";
import { each, LOST, listen, type Model, settingsOf, TRAITS } from "./model";
import { Stand } from "./stand";

export function renderExplorer({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = h("div", { class: "gradviz-host" });
  el.append(host);
  const frozen = readBundle(String(model.get("bundle") ?? ""));
  const wire = { send: (message: unknown) => model.send(message), now: () => performance.now() };
  const app = new App(host, settingsOf(model), frozen ? null : wire);
  const stand = new Stand(el, host, app, settingsOf(model));
  const stop = listen(model, {
    "msg:custom": ((message: unknown, buffers: DataView[] = []) =>
      app.client?.receive(message, buffers)) as never,
    ...each(TRAITS, () => stand.apply(settingsOf(model))),
    ...(frozen ? {} : each(LOST, () => app.lose())),
  });
  if (frozen) app.take(frozen.delta);
  app.client?.ready();
  return () => {
    stop();
    stand.close();
    app.close();
  };
}
