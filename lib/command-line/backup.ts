// records-service backup: a tenant into one archive.
import { stat } from "node:fs/promises";
import { writeOut } from "./files.js";
import type { Command } from "./command.js";

export const backup: Command = {
  name: "backup",
  parameters: ["tenant", "file?"],
  summary: "Write everything of a tenant into one zip; others may go on writing meanwhile",
  options: {},
  async run({ positionals: [slug, file], program, terminal, service }) {
    const tenant = (await service()).tenant(slug!);
    await tenant.get();
    const target = file ?? `${slug}-${new Date().toISOString().slice(0, 10)}.zip`;
    const count = { records: 0, files: 0 };
    const progress = terminal.progress("backup");
    const stream = await tenant.backup({
      onProgress: ({ step, done }) => {
        count[step] = done;
        progress.update(count.records + count.files);
      },
    });
    await writeOut(program, target, stream);
    progress.end(count.records + count.files);
    if (target === "-") return;
    const { size } = await stat(target);
    terminal.result({ tenant: slug, file: target, bytes: size, ...count }, `${target}: ${count.records} records and ${count.files} files, ${size} bytes`);
  },
};
