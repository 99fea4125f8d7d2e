// records-service restore: an archive into a new or empty tenant.
import { NotFound } from "../core/errors.js";
import type { RecordsService } from "../records-service.js";
import { withInput } from "./files.js";
import type { Command } from "./command.js";

export const restore: Command = {
  name: "restore",
  parameters: ["tenant", "file"],
  summary: "Restore a backup into a tenant, which is made, or must be empty; whole or not at all",
  options: {},
  async run({ positionals: [slug, file], program, terminal, service }) {
    const running = await service();
    await withInput(program, file!, async (path) => {
      const made = await makeUnlessThere(running, slug!);
      const count = { records: 0, files: 0 };
      const progress = terminal.progress("restore");
      try {
        const report = await running.tenant(slug!).restore({ file: path }, {
          onProgress: (step, done) => {
            count[step] = done;
            progress.update(count.records + count.files);
          },
        });
        progress.end(count.records + count.files);
        const counts = `${report.collections} collections, ${report.records} records, ${report.users} users, ${report.files} files, ${report.hooks} hooks and ${report.apiKeys} API keys are restored into ${slug}`;
        terminal.result(report, [counts, ...report.warnings].join("\n"));
      } catch (error) {
        if (made !== undefined) await running.tenants.delete(made);
        throw error;
      }
    });
  },
};

/** The new tenant's id; undefined where there was one. */
async function makeUnlessThere(running: RecordsService, slug: string): Promise<string | undefined> {
  try {
    await running.tenant(slug).get();
    return undefined;
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    return (await running.tenants.create({ slug })).id;
  }
}
