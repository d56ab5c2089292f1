// What the page around us is: its theme, its cells.

export type Theme = "light" | "dark";

/** JupyterLab says it on the body, VS Code too; elsewhere the system's choice counts. */
export function detectTheme(wanted: string): Theme {
  if (wanted === "light" || wanted === "dark") return wanted;
  const { body } = document;
  const said = body.dataset.jpThemeLight;
  if (said !== undefined) return said === "true" ? "light" : "dark";
  if (body.classList.contains("vscode-dark")) return "dark";
  if (body.classList.contains("vscode-light")) return "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Calls `changed` whenever the surrounding theme may have changed; returns how to stop. */
export function watchTheme(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "data-jp-theme-name", "class"],
  });
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", changed);
  };
}

const PROMPT = ".jp-InputPrompt, .jp-InputArea-prompt";

export const hasCells = (): boolean =>
  document.querySelector(".jp-Notebook, .jp-NotebookPanel") !== null;

function cellOf(count: number): HTMLElement | null {
  const wanted = `[${count}]:`;
  for (const prompt of document.querySelectorAll(PROMPT))
    if (prompt.textContent?.trim() === wanted) return prompt.closest<HTMLElement>(".jp-Cell");
  return null;
}

const linesOf = (cell: Element): HTMLElement[] => [
  ...cell.querySelectorAll<HTMLElement>(".cm-content > .cm-line"),
];

/** Calls `over` when the pointer comes to a line of a cell that has run, and with cell −1 when it leaves. */
export function watchLines(over: (cell: number, line: number) => void): () => void {
  const look = ({ target }: Event) => {
    const line = (target as Element).closest?.<HTMLElement>(".cm-line");
    const cell = line?.closest(".jp-Cell");
    const count = Number(cell?.querySelector(PROMPT)?.textContent?.match(/\d+/)?.[0] ?? -1);
    over(line ? count : -1, line && cell ? linesOf(cell).indexOf(line) + 1 : 0);
  };
  document.addEventListener("pointerover", look);
  return () => document.removeEventListener("pointerover", look);
}

/** Lights a line up, if it is on the page; returns how to put it out. */
export function lightLine(cell: number, line: number): () => void {
  const found = cellOf(cell);
  const at = found && linesOf(found)[line - 1];
  at?.style.setProperty("background", "rgba(124, 58, 237, 0.18)");
  return () => at?.style.removeProperty("background");
}

/** Scrolls to the cell with this execution count and marks it for a moment. */
export function revealCell(count: number): boolean {
  const cell = cellOf(count);
  if (!cell) return false;
  cell.scrollIntoView({ block: "center" });
  const before = cell.style.outline;
  cell.style.outline = "2px solid #2563eb";
  setTimeout(() => {
    cell.style.outline = before;
  }, 1200);
  return true;
}

export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
