// Findings by kind, the heaviest first, and when each came and went.
import { inLanguage } from "../../i18n";
import { bytes } from "../../model/format";
import type { Finding } from "../../model/types";
import { isRecord, readFindings, records, text, whole } from "../../protocol/read";
import type { Body, Host, Raw } from "../body";
import { h, prose } from "../dom";
import { Findings, reachable } from "../findings";

const groupOf = (finding: Finding): string => finding.kind.split(".")[0];

export function findingsBody(host: Host): Body {
  const { say } = host;
  const sorted = (data: Raw) =>
    [...(readFindings(data.findings) ?? [])].sort((a, b) => b.bytes - a.bytes);
  return {
    draw(data) {
      const findings = sorted(data);
      const kinds = [...new Set(findings.map(groupOf))];
      const parts = kinds.flatMap((kind) => [
        h("h3.title", {}, say(`kinds.${kind}`)),
        rows(
          host,
          findings.filter((finding) => groupOf(finding) === kind),
        ),
      ]);
      if (findings.length === 0) parts.push(h("p.dim.pad", {}, say("findings.none")));
      return [...parts, history(host, data)];
    },
    table(data) {
      const head = [say("panel.rule"), say("panel.what"), say("panel.holder"), say("panel.bytes")];
      const told = sorted(data).map((one) => [
        one.rule,
        inLanguage(host.language, one.message),
        one.holders.map((holder) => reachable({ say }, holder)).join(", "),
        bytes(one.bytes),
      ]);
      return { caption: say("findings.name"), head, rows: told };
    },
  };
}

function rows(host: Host, findings: Finding[]): HTMLElement {
  const list = new Findings(host, (finding) => host.put("selected", finding.holders[0] ?? ""));
  list.showAll(findings);
  return list.element;
}

function history({ say, language }: Host, data: Raw): HTMLElement | null {
  const past = records(data.history).filter((one) => one.went !== null);
  if (past.length === 0) return null;
  const rows = past.slice(-12).map((one) => {
    const message = isRecord(one.message)
      ? text(one.message[language]) || text(one.message.en)
      : "";
    const when = say("panel.came_went", { came: whole(one.came), went: whole(one.went) });
    return h(
      "li",
      {},
      h("b", {}, text(one.rule)),
      " ",
      ...prose(message),
      " ",
      h("span.dim", {}, when),
    );
  });
  return h("div.pad", {}, h("h3.title", {}, say("panel.history")), h("ul.past", {}, ...rows));
}
