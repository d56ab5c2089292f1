// Names that only `this` ever says: private members, which a bundle may call what it likes.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DECLARED = /private (?:readonly )?(?:get |set |async )?(\w+)/g;
const COMMENTS = /\/\/.*|\/\*[\s\S]*?\*\//g;

/** A pattern for `mangleProps`. A name that any other code or text has too is left as it is. */
export function privateNames(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".ts"));
  const code = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
  const bare = code.replace(COMMENTS, "");
  const rest = bare
    .replace(/const \{[^{}=]*\} = this;/g, "")
    .replace(DECLARED, "")
    .replace(/this[?!]?\.\w+/g, "");
  const elsewhere = new Set(rest.match(/\w+/g));
  const names = new Set(Array.from(bare.matchAll(DECLARED), ([, name]) => name));
  const own = [...names].filter((name) => !elsewhere.has(name));
  return new RegExp(`^(?:${own.join("|")})$`);
}
