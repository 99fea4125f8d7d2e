// The front door of transfer/: the records of one collection out as text, and in again.
import { Readable } from "node:stream";
import type { Call } from "../core/call.js";
import { NotFound } from "../core/errors.js";
import type { Collection } from "../collections/collection.js";
import type { TenantContext } from "../tenants/context.js";
import { exportRecords, type ExportDeps, type ExportInput } from "./export.js";
import { importRecords, type ImportDeps, type ImportInput, type ImportReport } from "./import.js";

export interface Transfer {
  /** The records as text, read while the stream is. Throws NotFound for an unknown collection. */
  export(context: TenantContext, collection: string, input: ExportInput): Readable;
  /**
   * Checks every row, and unless it is a dry run makes a record of each, with hooks, as the caller. A bad row:
   * ValidationFailed that names each, nothing written. Throws NotFound, BadRequest.
   */
  import(context: TenantContext, call: Call, collection: string, input: ImportInput): Promise<ImportReport>;
}

export function createTransfer(deps: ExportDeps & ImportDeps): Transfer {
  const find = (context: TenantContext, name: string): Collection => {
    const collection = context.collections.get(name);
    if (collection === undefined) throw new NotFound();
    return collection;
  };
  return {
    export: (context, name, input) => Readable.from(exportRecords(deps, context, find(context, name), input), { objectMode: false }),
    import: async (context, call, name, input) => importRecords(deps, context, call, find(context, name), input),
  };
}
