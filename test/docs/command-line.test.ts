// docs/command-line.md against the table of commands, and docs/backup.md against the format.
import { expect } from "chai";
import { formatName, formatVersion, paths } from "../../lib/backup/format.js";
import { statuses } from "../../lib/command-line/command.js";
import { commands } from "../../lib/command-line/commands.js";
import { codes, readPage, tableRows } from "./pages.js";

describe("docs: command-line.md", () => {
  const page = readPage("docs/command-line.md");
  const rows = tableRows(page);

  it("names every command with its parameters and options, and no other", () => {
    const documented = rows.map((row) => codes(row[0] ?? "")[0]).filter((name) => name !== undefined && /^[a-z]/.test(name) && name !== "help");
    const usages = commands.map(({ name, parameters }) => [name, ...parameters.map((one) => (one.endsWith("?") ? `[${one.slice(0, -1)}]` : `<${one}>`))].join(" "));
    expect(documented).to.deep.equal(usages);
    for (const { name, options } of commands) {
      const row = rows.find((one) => codes(one[0] ?? "")[0]?.split(" ")[0] === name)!;
      for (const option of Object.keys(options)) expect(row[1], `${name} --${option}`).to.contain(`--${option}`);
    }
  });

  it("names every exit status", () => {
    expect(rows.map((row) => row[0]).filter((cell) => /^\d$/.test(cell ?? "")).map(Number)).to.deep.equal(Object.values(statuses));
  });
});

describe("docs: backup.md", () => {
  it("names every entry of the archive, the format and its version", () => {
    const { text } = readPage("docs/backup.md");
    for (const path of [paths.manifest, paths.tenant, paths.settings, paths.collections, paths.hooks, paths.apiKeys, "records/", "changes/", "files/", formatName, `\`version\` (${formatVersion})`]) expect(text).to.contain(path);
  });
});
