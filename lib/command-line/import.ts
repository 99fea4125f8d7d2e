// records-service import: records out of a file, checked before the first is written.
import { delimiterOf, formatOf, readFormat } from "../transfer/formats.js";
import type { ImportReport } from "../transfer/import.js";
import { openFile, withInput } from "./files.js";
import { Failed, UsageError, type Command } from "./command.js";

export const importCommand: Command = {
  name: "import",
  parameters: ["tenant", "collection", "file"],
  summary: "Make a record of each row of a CSV, NDJSON or JSON file; with a bad row none",
  options: {
    format: { type: "string", value: "FORMAT", description: "csv, ndjson or json; by default as the file's name says" },
    delimiter: { type: "string", value: "SIGN", description: "Between the cells of CSV: , ; | or tab" },
    "dry-run": { type: "boolean", description: "Only say what is wrong with which row" },
  },
  async run({ values, positionals: [slug, collection, file], program, terminal, service }) {
    const named = formatOf(file);
    if (values["format"] === undefined && named === undefined) throw new UsageError("The file's name does not say its format: give --format csv, ndjson or json");
    const format = readFormat(values["format"] as string | undefined, named ?? "ndjson");
    const delimiter = delimiterOf(values["delimiter"] as string | undefined);
    if (delimiter === undefined) throw new UsageError("--delimiter must be one of , ; | tab");
    const { collections } = (await service()).tenant(slug!);
    await withInput(program, file!, async (path) => {
      const checking = terminal.progress("check");
      let checked = 0;
      // The same file is gone through twice: a dry run tells every bad row with its line.
      const dry = await collections.import(collection!, { format, delimiter, dryRun: true, open: () => openFile(path), onProgress: (_step, rows) => checking.update((checked = rows)) });
      checking.end(checked);
      if (values["dry-run"] === true || dry.errors.length > 0) return tell(dry);
      const progress = terminal.progress("write", dry.rows);
      const report = await collections.import(collection!, { format, delimiter, open: () => openFile(path), onProgress: (step, rows) => void (step === "write" && progress.update(rows)) });
      progress.end(report.imported);
      tell(report);
    });

    function tell(report: ImportReport): void {
      const faults = report.errors.map(({ row, line, field, message }) => `row ${row}${line === null ? "" : ` (line ${line})`}: ${field === "" ? "" : `${field} `}${message}`);
      if (report.moreErrors > 0) faults.push(`and ${report.moreErrors} more`);
      const summary = report.imported > 0 || !report.dryRun ? `${report.imported} of ${report.rows} records are imported` : `${report.valid} of ${report.rows} rows can be imported`;
      terminal.result(report, [...faults, summary].join("\n"));
      if (report.errors.length > 0) throw new Failed(report.imported > 0 ? "Some rows were refused" : "Nothing was imported");
    }
  },
};
