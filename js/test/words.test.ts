import texts from "catalogue:ui";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { chooseLanguage, known, say } from "../src/i18n";
import { bytes, figure, tuple, tupleOfText } from "../src/model/format";

const fields = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

test("both languages say the same things with the same fields", () => {
  expect(Object.keys(texts.zh).sort()).toEqual(Object.keys(texts.en).sort());
  for (const key of Object.keys(texts.en))
    expect([key, fields(texts.zh[key])]).toEqual([key, fields(texts.en[key])]);
});

test("Chinese is set with full-width punctuation", () => {
  const odd = Object.entries(texts.zh).filter(([, text]) =>
    /[一-鿿][,;:?!()]|[,;:?!()][一-鿿]/.test(text),
  );
  expect(odd).toEqual([]);
});

test("every word that the page asks for is in the catalogue", () => {
  const root = join(dirname(fileURLToPath(import.meta.url)), "../src");
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  for (const name of files) {
    const source = readFileSync(join(root, name), "utf8");
    for (const [, key] of source.matchAll(/\bsay\(\s*"([a-z_]+\.[a-z_]+)"/g)) {
      expect([name, key, known(key)]).toEqual([name, key, true]);
    }
  }
});

test("a word that is not known is shown plainly", () => {
  expect(say("zh", "grad_state.something_new")).toBe("something new");
  expect(say("en", "place.cell", { cell: 7, line: 3 })).toBe("In [7] line 3");
});

test("the language follows the wish, else the browser", () => {
  expect(chooseLanguage("auto", "zh-CN")).toBe("zh");
  expect(chooseLanguage("auto", "de")).toBe("en");
  expect(chooseLanguage("en", "zh-CN")).toBe("en");
});

test("figures as people read them", () => {
  expect([0, 12, 999, 1000, 820_000, 1_234_567, 5e10].map(bytes)).toEqual([
    "0 B",
    "12 B",
    "999 B",
    "1 kB",
    "820 kB",
    "1.2 MB",
    "50 GB",
  ]);
  expect(
    [0, -0.731, 1.83421, 64, 1e-7, 123456, Number.NaN, -Infinity, null].map((value) =>
      figure(value),
    ),
  ).toEqual(["0", "−0.731", "1.83", "64", "1.00e-7", "1.23e5", "NaN", "−∞", "–"]);
  expect([tuple([]), tuple([3]), tuple([2, 3])]).toEqual(["()", "(3,)", "(2, 3)"]);
  expect([tupleOfText("()"), tupleOfText("3"), tupleOfText("2×3")]).toEqual([
    "()",
    "(3,)",
    "(2, 3)",
  ]);
});
