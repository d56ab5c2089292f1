// The graph explorer as a widget.
import { readBundle } from "../protocol/bundle";
import { App } from "./app";
import { each, hostIn, LOST, listen, type Model, settingsOf, TRAITS } from "./model";
import { Stand } from "./stand";

export function renderExplorer({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = hostIn(el);
  const frozen = readBundle(String(model.get("bundle") ?? ""));
  const wire = { send: (message: unknown) => model.send(message), now: () => performance.now() };
  const choose = () => app.choose(String(model.get("selected") ?? ""));
  const app: App = new App(host, settingsOf(model), frozen ? null : wire, {
    selected: () => tell(model, app.selectedName),
    configured: () => {},
    key: () => false,
  });
  const stand = new Stand(el, host, app, settingsOf(model));
  const stop = listen(model, {
    "msg:custom": ((message: unknown, buffers: DataView[] = []) =>
      app.client?.receive(message, buffers)) as never,
    "change:selected": choose,
    ...each(TRAITS, () => stand.apply(settingsOf(model))),
    ...(frozen ? {} : each(LOST, () => app.lose())),
  });
  if (frozen) app.take(frozen.delta);
  app.client?.ready(app.language);
  return () => {
    stop();
    stand.close();
    app.close();
  };
}

/** The name of the chosen node, for whoever is linked with it. */
function tell(model: Model, name: string): void {
  if (model.get("selected") === name) return;
  model.set("selected", name);
  model.save_changes();
}
