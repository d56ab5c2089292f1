// Widths of text in the code font without asking a browser, so that a layout is the same everywhere.

export const MONO =
  'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Noto Sans Mono CJK SC", "Noto Sans CJK SC", monospace';
const NARROW = 0.602;

/** East Asian wide and full-width characters take a full em. */
function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}

const charWidth = (char: string): number => (isWide(char.codePointAt(0)!) ? 1 : NARROW);

export function textWidth(text: string, size: number): number {
  let em = 0;
  for (const char of text) em += charWidth(char);
  return em * size;
}

/** At most `width` px: the middle gives way, as both ends of a path tell more than its middle. */
export function shorten(text: string, size: number, width: number): string {
  if (textWidth(text, size) <= width) return text;
  const chars = [...text];
  const room = width / size - NARROW;
  let [head, tail, used] = [0, 0, 0];
  while (head + tail < chars.length) {
    const fromHead = head <= tail;
    const char = fromHead ? chars[head] : chars[chars.length - 1 - tail];
    const wide = charWidth(char);
    if (used + wide > room) break;
    used += wide;
    if (fromHead) head += 1;
    else tail += 1;
  }
  return `${chars.slice(0, head).join("")}…${tail > 0 ? chars.slice(-tail).join("") : ""}`;
}

/** Control, zero-width and direction characters. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** They are made visible: a name must not reorder or hide what stands beside it. */
export const plain = (text: string): string => text.replace(UNSEEN, "␣");
