// records-service export: a collection's records as text.
import { formatOf, readFormat } from "../transfer/formats.js";
import { writeOut } from "./files.js";
import type { Command } from "./command.js";

export const exportCommand: Command = {
  name: "export",
  parameters: ["tenant", "collection", "file?"],
  summary: "Write a collection's records as CSV, NDJSON or JSON, to standard output without a file",
  options: { format: { type: "string", value: "FORMAT", description: "csv, ndjson or json; by default as the file's name says, else ndjson" } },
  async run({ values, positionals: [slug, collection, file = "-"], program, terminal, service }) {
    const format = readFormat(values["format"] as string | undefined, formatOf(file) ?? "ndjson");
    const { collections } = (await service()).tenant(slug!);
    let records = 0;
    const progress = file === "-" ? undefined : terminal.progress("export");
    await writeOut(program, file, await collections.export(collection!, {
      format,
      onProgress: (done) => {
        records = done;
        progress?.update(done);
      },
    }));
    progress?.end(records);
    if (file !== "-") terminal.result({ tenant: slug, collection, file, format, records }, `${file}: ${records} records`);
  },
};
