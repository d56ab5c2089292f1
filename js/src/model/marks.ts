// Which items a finding speaks of.
import type { Item } from "./scene";
import { type Finding, Flag } from "./types";

export type Mark = "leak" | "trouble" | null;

/** What keeps a graph alive; a mere remark does not count. */
export const isLeak = (finding: Finding): boolean =>
  finding.kind.startsWith("leak.") && finding.severity !== "info";

export class Marks {
  private readonly byNode = new Map<number, "leak" | "trouble">();

  update(findings: readonly Finding[]): void {
    this.byNode.clear();
    for (const finding of findings) {
      if (finding.severity === "info") continue;
      for (const id of finding.node_ids) {
        if (isLeak(finding)) this.byNode.set(id, "leak");
        else if (!this.byNode.has(id)) this.byNode.set(id, "trouble");
      }
    }
  }

  /** Of a folded item the gravest mark of its members. */
  of(item: Item): Mark {
    // What was saved has been changed since: backward will fail here.
    let mark: Mark = item.flags & Flag.clash ? "trouble" : null;
    if (!item.members) return this.byNode.get(item.row.id) ?? mark;
    if (!(item.flags & Flag.found) && this.byNode.size === 0) return mark;
    for (const id of item.members) {
      const one = this.byNode.get(id);
      if (one === "leak") return one;
      mark ??= one ?? null;
    }
    return mark;
  }
}
