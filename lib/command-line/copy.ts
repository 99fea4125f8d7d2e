// records-service copy: a whole service from one storage to another.
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { copyService, type CopyPlace } from "../copy/copy-service.js";
import { systemClock } from "../core/clock.js";
import { Conflict, NotFound } from "../core/errors.js";
import { createStores } from "../providers.js";
import { isMongoUrl, placeFault } from "../storage/place.js";
import { UsageError, type Command, type Given } from "./command.js";

export const copy: Command = {
  name: "copy",
  parameters: ["from?", "to?"],
  summary: "Copy every tenant, account and file to another storage; neither may be in use. An interrupted copy goes on when it is begun again",
  options: {
    from: { type: "string", value: "PLACE", description: "The same as the first parameter: a folder, or a mongodb:// URL" },
    to: { type: "string", value: "PLACE", description: "The same as the second parameter" },
    "from-files": { type: "string", value: "FOLDER", description: "Where the files of the source are; by default files in its folder, GridFS with MongoDB" },
    "to-files": { type: "string", value: "FOLDER", description: "Where the files of the target go" },
  },
  async run({ values, positionals, program, terminal }) {
    const { from, to } = readPlaces(values, positionals);
    if (!isMongoUrl(from) && (await stat(join(from, "system.sqlite")).catch(() => undefined)) === undefined) throw new NotFound(`There is no storage in the folder ${from}`);
    const interruption = new AbortController();
    program.onSignal(() => interruption.abort(new Error("Interrupted: what is copied stays, and the next copy goes on from there")));
    const places = [placeOf(from, values["from-files"]), placeOf(to, values["to-files"])] as const;
    const opened: CopyPlace[] = [];
    try {
      for (const place of places) {
        opened.push(place);
        await place.storage.open();
        await place.blobs.open();
      }
      const shown = new Map<string, ReturnType<typeof terminal.progress>>();
      const last = new Map<string, number>();
      const report = await copyService({
        from: places[0], to: places[1], signal: interruption.signal,
        onProgress: ({ step, done, total }) => {
          let progress = shown.get(step);
          if (progress === undefined) shown.set(step, (progress = terminal.progress(step, total === 0 ? undefined : total)));
          last.set(step, done);
          progress.update(done);
        },
      });
      for (const [step, progress] of shown) progress.end(last.get(step) ?? 0);
      const secrets = "Give the new server the secrets of the old one (secrets.json of its folder), or sessions end and hooks of backups cannot be opened.";
      terminal.result(report, `${report.tenants} tenants, ${report.rows} rows and ${report.files} files are copied and compared. ${secrets}`);
    } finally {
      for (const { storage, blobs } of opened) {
        await blobs.close();
        await storage.close();
      }
    }
  },
};

/** Throws UsageError where they are not two, or one is no place, and Conflict where they are the same. No URL is repeated: it may hold a password. */
function readPlaces(values: Given["values"], positionals: Given["positionals"]): { from: string; to: string } {
  const rest = [...positionals];
  const [from, to] = [values["from"] ?? rest.shift(), values["to"] ?? rest.shift()];
  if (typeof from !== "string" || typeof to !== "string" || rest.length > 0) throw new UsageError("copy takes from, to");
  for (const [name, place] of [["from", from], ["to", to]] as const) {
    const fault = placeFault(place);
    if (fault !== undefined) throw new UsageError(`${name} ${fault}`);
  }
  if (isMongoUrl(from) ? from === to : resolve(from) === resolve(to)) throw new Conflict("from and to are the same");
  return { from, to };
}

/** A folder, or a `mongodb://` URL. */
function placeOf(storage: string, files: string | boolean | undefined): CopyPlace {
  return createStores({ storage, files: typeof files === "string" ? files : undefined, clock: systemClock });
}
