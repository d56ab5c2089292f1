// What the doctor says: a sentence, the line to write, the place, the bytes.
import { inLanguage } from "../i18n";
import { bytes, count } from "../model/format";
import { isLeak } from "../model/marks";
import type { Finding } from "../model/types";
import { type Context, placeLink } from "./context";
import { codeOf, copyText, h, prose, refill } from "./dom";
import { icon } from "./icons";

/** More than these are opened on demand: the panel never scrolls by itself. */
const FIRST = 6;

export class Findings {
  readonly element = h("section.findings", {});
  private all = false;

  /** `chosen` hears of a click on the rule of a finding, where it does not lead to a node. */
  constructor(
    private readonly context: Context,
    private readonly chosen: ((finding: Finding) => void) | null = null,
  ) {}

  /** These findings, all of them. */
  showAll(findings: readonly Finding[]): void {
    this.element.replaceChildren(...findings.map((finding) => this.row(finding)));
  }

  update(): void {
    const { store, language, say } = this.context;
    const known = store.findings.map((finding) =>
      finding.node_ids.some((id) => store.nodes.has(id)),
    );
    const key = JSON.stringify([
      language,
      this.all,
      store.findings,
      known,
      this.context.canReveal(),
    ]);
    this.element.setAttribute("aria-label", say("findings.name"));
    this.element.hidden = store.findings.length === 0;
    refill(this.element, key, () => this.rows());
  }

  private rows(): HTMLElement[] {
    const { findings } = this.context.store;
    const { say } = this.context;
    const rows = (this.all ? findings : findings.slice(0, FIRST)).map((finding) =>
      this.row(finding),
    );
    if (findings.length <= FIRST) return rows;
    const left = findings.length - FIRST;
    const words = this.all ? say("findings.less") : say("findings.more", { n: left });
    const more = { class: "link more", onclick: () => this.toggle() };
    return [...rows, h("button", more, words)];
  }

  private toggle(): void {
    this.all = !this.all;
    this.update();
  }

  private row(finding: Finding): HTMLElement {
    const { context } = this;
    const { cell, code, file } = finding;
    const place = { cell, line: finding.line ?? 0, code, file };
    const node = finding.node_ids.find((id) => context.store.nodes.has(id));
    const rule = finding.rule;
    const id =
      node === undefined && !this.chosen
        ? h("span", {}, rule)
        : node === undefined
          ? h("button.link", { onclick: () => this.chosen?.(finding) }, rule)
          : h("button.link", { onclick: () => context.show(node) }, rule);
    return h(
      "div",
      {
        class: `finding ${isLeak(finding) ? "leak" : finding.severity}`,
        testid: "finding",
        "data-rule": rule,
        "data-kind": finding.kind,
      },
      h("div.rule-id", {}, id),
      h(
        "div.sentence",
        {},
        h("div", {}, ...prose(inLanguage(context.language, finding.message))),
        fixLine(context, finding),
      ),
      h("div.place", {}, placeLink(context, place)),
      h("div.size", {}, finding.bytes > 0 ? bytes(finding.bytes) : ""),
    );
  }
}

function fixLine(context: Context, finding: Finding): HTMLElement | null {
  const fix = inLanguage(context.language, finding.fix);
  if (fix === "") return null;
  return h("div.fix", {}, h("span", {}, ...prose(fix)), copyButton(context, codeOf(fix)));
}

export function copyButton(context: Context, text: string): HTMLElement {
  const { say } = context;
  const button = h(
    "button.copy",
    { title: say("tool.copy"), "aria-label": say("tool.copy") },
    icon("copy"),
  );
  button.addEventListener("click", async () => {
    if (!(await copyText(text))) return;
    button.replaceChildren(icon("check"));
    button.title = say("tool.copied");
    setTimeout(() => {
      button.replaceChildren(icon("copy"));
      button.title = say("tool.copy");
    }, 1500);
  });
  return button;
}

/** A holder as it is told: rules write in English that nothing in the notebook leads to it. */
export function reachable({ say }: Pick<Context, "say">, holder: string): string {
  return holder.replace(/\(unreachable( from the notebook)?\)/, say("inspect.unreachable"));
}

/** The same finding beside the node that it is about. */
export function adviceOf(context: Context, finding: Finding): HTMLElement {
  const { say } = context;
  const size = say("inspect.kept", {
    nodes: count(finding.nodes),
    bytes: bytes(finding.bytes),
  });
  const { cell, file } = finding;
  const place = placeLink(context, { cell, line: finding.line ?? 0, file });
  const holders = finding.holders.flatMap((holder, n) => [
    n > 0 ? say("inspect.comma") : " ",
    h("code", {}, reachable(context, holder)),
  ]);
  return h(
    "div",
    { class: `why ${isLeak(finding) ? "leak" : finding.severity}` },
    holders.length > 0
      ? h("div", {}, h("b", {}, say("inspect.held_by")), ...holders)
      : h("div", {}, ...prose(inLanguage(context.language, finding.message))),
    h(
      "div.dim",
      {},
      place,
      place && finding.bytes > 0 ? " · " : null,
      finding.bytes > 0 ? size : null,
    ),
    fixLine(context, finding),
  );
}
