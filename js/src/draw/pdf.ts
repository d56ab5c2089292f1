// A page of PDF that holds one JPEG: what a printer or a paper takes.

/** `jpeg` of `width` by `height` pixels, on a page of that size over `scale`. */
export function toPdf(jpeg: Uint8Array, width: number, height: number, scale: number): Blob {
  const [w, h] = [width / scale, height / scale].map((size) => size.toFixed(2));
  const drawing = `q ${w} 0 0 ${h} 0 0 cm /I Do Q`;
  const objects: (string | Uint8Array)[][] = [
    ["<</Type/Catalog/Pages 2 0 R>>"],
    ["<</Type/Pages/Kids[3 0 R]/Count 1>>"],
    [
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${w} ${h}]/Contents 5 0 R` +
        "/Resources<</XObject<</I 4 0 R>>>>>>",
    ],
    [
      `<</Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB` +
        `/BitsPerComponent 8/Filter/DCTDecode/Length ${jpeg.length}>>stream\n`,
      jpeg,
      "\nendstream",
    ],
    [`<</Length ${drawing.length}>>stream\n${drawing}\nendstream`],
  ];
  const parts: (string | Uint8Array)[] = ["%PDF-1.4\n"];
  let at = "%PDF-1.4\n".length;
  const put = (part: string | Uint8Array) => {
    parts.push(part);
    at += part.length;
  };
  const places = objects.map((object, n) => {
    const place = at;
    put(`${n + 1} 0 obj\n`);
    object.forEach(put);
    put("\nendobj\n");
    return place;
  });
  const start = at;
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  put(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  put(`trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF`);
  return new Blob(parts as BlobPart[], { type: "application/pdf" });
}
