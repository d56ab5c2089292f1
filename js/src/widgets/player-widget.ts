// The backward player as a widget.
import { isRecord, whole } from "../protocol/read";
import { parseRecording, readRecording } from "../protocol/recording";
import { each, hostIn, LOST, listen, type Model, settingsOf, TRAITS } from "./model";
import { type Driver, Player } from "./player";
import { Stand } from "./stand";

export function renderPlayer({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const host = hostIn(el);
  const player = new Player(host, settingsOf(model), driverOf(model));
  const stand = new Stand(el, host, player.app, settingsOf(model));
  const position = () => whole(model.get("position"));
  const breaks = () =>
    player.setBreaks({
      nan: model.get("break_on_nan") !== false,
      norm: Number(model.get("break_norm")) || 0,
    });
  const take = (recording: ReturnType<typeof readRecording>) => {
    if (recording) player.take(recording, position());
  };
  const receive = (message: unknown) => {
    if (!isRecord(message)) return;
    if (message.t === "recording") take(readRecording(message.recording));
    else if (message.t === "steps") player.takeSteps(whole(message.since), message.steps);
    else if (message.t === "busy") player.putOff();
  };
  const stop = listen(model, {
    "msg:custom": receive as never,
    "change:recording": () => take(parseRecording(String(model.get("recording") ?? ""))),
    "change:position": () => player.show(position()),
    "change:break_on_nan": breaks,
    "change:break_norm": breaks,
    ...each(TRAITS, () => stand.apply(settingsOf(model))),
    ...each(LOST, () => player.lose()),
  });
  breaks();
  take(parseRecording(String(model.get("recording") ?? "")));
  model.send({ t: "ready", language: player.app.language });
  return () => {
    stop();
    stand.close();
    player.close();
  };
}

function driverOf(model: Model): Driver {
  const put = (name: string, value: unknown) => {
    if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
    model.set(name, value);
    model.save_changes();
  };
  return {
    drive: (to) => model.send({ t: "drive", to }),
    abort: () => model.send({ t: "abort" }),
    breakOnNan: (on) => put("break_on_nan", on),
    breakNorm: (norm) => put("break_norm", norm),
    breakpoints: (nodes) => put("breakpoints", nodes),
    moved: (position) => put("position", position),
  };
}
