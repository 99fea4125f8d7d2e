// Files that host code gives along with a record, as a form does over HTTP: stored first, taken by the write.
import type { Readable } from "node:stream";
import type { Call } from "../core/call.js";
import type { Clock } from "../core/clock.js";
import { ValidationFailed } from "../core/errors.js";
import { newId } from "../core/ids.js";
import type { Files, PendingFile } from "../files/files.js";
import type { Records } from "../records/records.js";
import type { TenantContext } from "../tenants/context.js";

/** A file for a field of the record that is being written. Several for a multiple field: one each. */
export interface NewFile {
  readonly field: string;
  /** Its file name. */
  readonly name: string;
  readonly stream: Readable;
}

export interface UploadDeps {
  readonly files: Pick<Files, "receive" | "drop">;
  readonly records: Pick<Records, "collection" | "demandWritable" | "demandReachable">;
  readonly clock: Clock;
}

/** Which record takes the files: null for one that is about to be created. */
export interface UploadTarget {
  readonly collection: string;
  readonly recordId: string | null;
}

/**
 * What is denied without the body is denied before a file is read. Throws Unauthorized, Forbidden, NotFound,
 * ValidationFailed; nothing stays behind then, and no stream stays open.
 */
export async function receiveUploads(deps: UploadDeps, context: TenantContext, call: Call, { collection: name, recordId }: UploadTarget, uploads: readonly NewFile[]): Promise<{ readonly id: string; readonly files: readonly PendingFile[] }> {
  const { files, records, clock } = deps;
  const stored: PendingFile[] = [];
  try {
    const collection = records.collection(context, name);
    records.demandWritable(context, call, collection, recordId === null ? "createRule" : "updateRule");
    if (recordId !== null) await records.demandReachable(context, call, collection, recordId);
    const fields = new Map(collection.files.map((field) => [field.name, field]));
    const misplaced = uploads.filter(({ field }) => !fields.has(field));
    if (misplaced.length > 0) throw new ValidationFailed(misplaced.map(({ field }) => ({ field, message: "takes no file" })));
    const id = recordId ?? newId(clock.now());
    for (const upload of uploads) stored.push(await files.receive(context, collection, id, fields.get(upload.field)!, upload));
    return { id, files: stored };
  } catch (error) {
    for (const { stream } of uploads) stream.destroy();
    await files.drop(stored);
    throw error;
  }
}
