// Elements without markup: text goes in as text, so a name cannot become a tag.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** `h("div.row.dim", …)` makes a `div` with two classes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K | `${K}.${string}`,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name as K);
  if (classes.length > 0) element.className = classes.join(" ");
  // Inside a form of the page a button must not send it.
  if (name === "button") element.setAttribute("type", "button");
  setProps(element, props);
  append(element, children);
  return element;
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setProps(element, props);
  append(element, children);
  return element;
}

function setProps(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2).toLowerCase(), value as EventListener);
    } else if (name === "testid") element.setAttribute("data-testid", `gv-${value}`);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) if (child) element.append(child);
}

/**
 * Replaces what `place` holds by what `make` gives, only when `key` is another than last time: an element
 * that is replaced while a person clicks on it does not hear the click.
 */
export function refill(place: HTMLElement, key: string, make: () => Child[]): void {
  if (place.dataset.key === key) return;
  place.dataset.key = key;
  place.replaceChildren(
    ...make()
      .filter((child) => !!child)
      .map((child) => child as Node | string),
  );
}

/** Words between backticks are set in the code font. */
export function prose(text: string): (Node | string)[] {
  return text.split("`").map((part, n) => (n % 2 === 1 ? h("code", {}, part) : part));
}

/** What to copy from a sentence of advice: its code if it has some, else all of it. */
export function codeOf(text: string): string {
  const parts = text.split("`");
  return parts.length > 2 ? parts.filter((_, n) => n % 2 === 1).join("\n") : text;
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

/** For hosts without clipboard access. */
function copyByHand(text: string): boolean {
  const area = h("textarea", { style: "position:fixed;opacity:0" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
