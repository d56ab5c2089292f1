// The page's words, from gradviz/texts/<language>/ui.toml.
import texts from "catalogue:ui";

export type Language = "en" | "zh";
export type Fields = Record<string, string | number>;

/** `auto` is the browser's choice. */
export function chooseLanguage(wanted: string, browser: string): Language {
  const tag = wanted === "auto" || wanted === "" ? browser : wanted;
  return tag.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** The text of `key`; a key that is not in the catalogue is shown as its last part, in plain words. */
export function say(language: Language, key: string, fields: Fields = {}): string {
  const template = texts[language][key] ?? texts.en[key];
  if (template === undefined) return key.split(".").at(-1)!.replaceAll("_", " ");
  return template.replace(/\{(\w+)(?::([^}]*))?\}/g, (whole, name, form = "") => {
    if (!(name in fields)) return whole;
    const value = String(fields[name]);
    const [one, many] = form.split("|");
    return many === undefined ? value : value === "1" ? one : many;
  });
}

export const known = (key: string): boolean => key in texts.en;

/** A text that Python gave in several languages. */
export const inLanguage = (language: Language, texts: Record<string, string>): string =>
  texts[language] ?? texts.en ?? "";
