// Files of single records, as host code and the file routes use them: upload, read, remove, each under the record's
// rules. A change of a file is an update of its record; it fires no hook of the collection.
import type { Readable } from "node:stream";
import type { Call } from "../core/call.js";
import { timestamp, type Clock } from "../core/clock.js";
import { Conflict, NotFound, PreconditionFailed, ValidationFailed } from "../core/errors.js";
import type { FileReference, JsonObject } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import { ConditionMissed, StampChanged, type Row } from "../storage/storage.js";
import type { TenantContext, TenantRegistry } from "../tenants/context.js";
import { isStill } from "./conditions.js";
import { etagOfFile, findFile } from "./download.js";
import type { Download, DownloadRequest, Files, PendingFile } from "./files.js";
import { mergeFiles } from "./merge.js";

/** Rounds before a record under constant change is given up on. */
const rounds = 100;

/** What is needed of records/: rows under their rules. Throw Unauthorized, Forbidden, NotFound. */
export interface RecordAccess {
  loadForView(context: TenantContext, call: Call, collection: Collection, recordId: string): Promise<Row>;
  loadForUpdate(context: TenantContext, call: Call, collection: Collection, recordId: string, changed: ReadonlySet<string>): Promise<Row>;
}

export interface FileAccessDeps {
  readonly files: Files;
  readonly records: RecordAccess;
  /** The record's entity tag. */
  readonly etagOf: (row: Row) => string;
  readonly tenants: Pick<TenantRegistry, "get">;
  readonly clock: Clock;
}

/** Which record's files an operation is about. */
export interface FileTarget {
  readonly context: TenantContext;
  readonly call: Call;
  /** Name. */
  readonly collection: string;
  readonly recordId: string;
}

export interface FileAccess {
  /** Stores a file: instead of the one of a single field, behind those of a multiple field. Checked as an update. */
  upload(target: FileTarget, field: string, upload: { readonly name: string; readonly stream: Readable }): Promise<FileReference>;
  /** Checked as a view of the record. Throws NotFound, BadRequest (width), RangeNotSatisfiable. */
  download(target: FileTarget, request: DownloadRequest): Promise<Download>;
  /**
   * Checked as an update. `ifMatch`: the record's entity tag or the file's. Throws NotFound where there is no such file,
   * PreconditionFailed, ValidationFailed where a required field would be empty.
   */
  remove(target: FileTarget, field: string, fileId: string | null, ifMatch: string | null): Promise<void>;
}

/** What a change makes of the record's FILE fields: the body as a client would send it, and new files. */
type Plan = (collection: Collection, row: Row) => { readonly body: JsonObject; readonly pending: readonly PendingFile[] };

export function createFileAccess({ files, records, etagOf, tenants, clock }: FileAccessDeps): FileAccess {
  function collectionOf(context: TenantContext, name: string): Collection {
    const collection = context.collections.get(name);
    if (collection === undefined) throw new NotFound();
    return collection;
  }

  /** Writes the change on the record as it is in that moment, or decides anew. */
  async function change(target: FileTarget, fieldName: string, plan: Plan): Promise<void> {
    let { context } = target;
    const changed = new Set([fieldName]);
    for (let round = 0; round < rounds; round += 1) {
      const collection = collectionOf(context, target.collection);
      const row = await records.loadForUpdate(context, target.call, collection, target.recordId, changed);
      const { body, pending } = plan(collection, row);
      const merged = mergeFiles({ collection, existing: row.record, body, pending });
      if (merged.errors.length > 0) throw new ValidationFailed(merged.errors);
      try {
        await context.store.write({
          stamp: context.stamp,
          operations: [
            {
              type: "update", table: collection.table, id: row.id, revision: row.revision,
              set: { ...merged.set, updatedAt: timestamp(clock) },
              log: { collection: collection.name, content: collection.isUsers ? "id" : "record" },
            },
            ...files.variantJobs(context, collection, row.id, pending),
          ],
        });
        files.committed(context, collection, row.id, merged.removed);
        return;
      } catch (error) {
        if (error instanceof StampChanged) context = await tenants.get(context.tenant.id);
        else if (!(error instanceof ConditionMissed)) throw error;
      }
    }
    throw new Conflict("The record is being changed by others all the time; try again");
  }

  return {
    async upload(target, fieldName, upload) {
      const { context, call, recordId } = target;
      const collection = collectionOf(context, target.collection);
      // A file that may not be stored is not even read.
      await records.loadForUpdate(context, call, collection, recordId, new Set([fieldName]));
      const field = collection.files.find((one) => one.name === fieldName);
      if (field === undefined) throw new ValidationFailed([{ field: fieldName, message: "takes no file" }]);
      const pending = await files.receive(context, collection, recordId, field, upload);
      try {
        await change(target, fieldName, () => ({ body: {}, pending: [pending] }));
      } catch (error) {
        await files.drop([pending]);
        throw error;
      }
      const { variants: _kept, ...reference } = pending.reference;
      return reference;
    },

    async download(target, request) {
      const { context, call } = target;
      const collection = collectionOf(context, target.collection);
      const row = await records.loadForView(context, call, collection, target.recordId);
      return files.download(context, collection, row.record, request);
    },

    async remove(target, fieldName, fileId, ifMatch) {
      await change(target, fieldName, (collection, row) => {
        const { field, file } = findFile(collection, row.record, fieldName, fileId);
        if (!isStill(ifMatch, [etagOf(row), etagOfFile(file)])) throw new PreconditionFailed();
        return { body: { [field.name]: field.multiple ? keptIds(row, field.name, file) : null }, pending: [] };
      });
    },
  };
}

function keptIds(row: Row, field: string, removed: FileReference): string[] {
  return (row.record[field] as unknown as readonly FileReference[]).filter((file) => file.id !== removed.id).map((file) => file.id);
}
