import { expect } from "chai";
import { safeFileName } from "../../../lib/files/file-name.js";

describe("file names", () => {
  const cases: readonly [given: string, kept: string, what: string][] = [
    ["report.pdf", "report.pdf", "a plain name"],
    ["Grüße 日本語 🎉.png", "Grüße 日本語 🎉.png", "unicode"],
    ["Gru\u0308ße.txt", "Grüße.txt", "NFC"],
    ["a\r\nSet-Cookie: x=1.png", "aSet-Cookie: x=1.png", "no line breaks"],
    ["nul\0l.txt", "null.txt", "no control characters"],
    ["../../etc/passwd", "passwd", "no path"],
    ["C:\\Windows\\evil.exe", "evil.exe", "no Windows path"],
    ["invoice\u202egnp.exe", "invoicegnp.exe", "nothing that turns the reading direction"],
    ["half \ud800 pair.txt", "half \ufffd pair.txt", "no lone surrogates"],
    ["  spaced.txt  ", "spaced.txt", "no space around"],
    ["", "file", "empty"],
    ["..", "file", "dots"],
    [".", "file", "a dot"],
    ["dir/", "file", "a folder"],
    [".gitignore", ".gitignore", "a dot file"],
  ];
  for (const [given, kept, what] of cases) {
    it(`${what}: ${JSON.stringify(given)}`, () => expect(safeFileName(given)).to.equal(kept));
  }

  it("cuts to 255 code points and keeps the extension", () => {
    const name = safeFileName(`${"🎉".repeat(10_000)}.jpeg`);
    expect([...name]).to.have.length(255);
    expect(name.endsWith("🎉.jpeg")).to.equal(true);
    expect([...safeFileName(`a.${"b".repeat(10_000)}`)]).to.have.length(255);
  });
});
