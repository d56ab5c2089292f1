// Every hook with its owner, and a button to take it off.
import { readPlace, records, text, whole } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { placeLink, placeText } from "../context";
import { h } from "../dom";

export function hooksBody(host: Host): Body {
  const { say } = host;
  return {
    draw(data) {
      const hooks = records(data.hooks);
      if (hooks.length === 0) return [h("p.dim.pad", {}, say("inspect.no_hooks"))];
      return [h("div.bench", { role: "list" }, ...hooks.map((hook) => row(host, hook)))];
    },
    table(data) {
      const rows = records(data.hooks).map((hook) => {
        const place = readPlace(hook.place);
        return [
          ownerOf(host, hook),
          say(`hook.${text(hook.kind)}`),
          text(hook.name),
          place ? placeText(host, place) : "",
          calls(hook),
        ];
      });
      return {
        caption: say("panel.hooks"),
        head: [
          say("panel.owner"),
          say("panel.when"),
          say("panel.hook"),
          say("panel.place"),
          say("panel.calls"),
        ],
        rows,
      };
    },
  };
}

const ownerOf = (host: Host, hook: Raw): string =>
  text(hook.owner) || host.say("panel.all_modules");

const calls = (hook: Raw): string => (hook.calls == null ? "" : String(whole(hook.calls)));

function row(host: Host, hook: Raw): HTMLElement {
  const { say } = host;
  const place = readPlace(hook.place);
  const owner = ownerOf(host, hook);
  const remove = h(
    "button.tool",
    {
      testid: "remove",
      "aria-label": say("panel.remove_hint", { name: text(hook.name), owner }),
      onclick: () => host.ask?.({ remove: whole(hook.number) }),
    },
    say("panel.remove"),
  );
  return h(
    "div.bench-row",
    { role: "listitem", testid: "hook" },
    h("button.link.name", { onclick: () => host.put("selected", text(hook.owner)) }, owner),
    h("span.dim", {}, say(`hook.${text(hook.kind)}`)),
    h("code", {}, text(hook.name)),
    (place && placeLink(host, place)) || h("span", {}),
    h("span.dim", {}, hook.calls == null ? "" : say("inspect.hook_calls", { n: calls(hook) })),
    host.ask ? remove : null,
  );
}
