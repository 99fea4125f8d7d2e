// Files of records for host code: streams in and out, under the caller's rules.
import { Readable } from "node:stream";
import type { FileAccess } from "../files/file-access.js";
import type { Records } from "../records/records.js";
import type { DataDeps } from "./data-handle.js";

export function hostFiles(access: FileAccess, records: Records): DataDeps["files"] {
  return {
    async upload(context, call, collection, recordId, field, file) {
      await access.upload({ context, call, collection, recordId }, field, file);
      return (await records.view(context, call, collection, recordId)).value;
    },

    async read(context, call, collection, recordId, field, { fileId, width }) {
      const download = await access.download({ context, call, collection, recordId }, {
        field, fileId: fileId ?? null, width: width === undefined ? null : String(width),
        method: "GET", ifNoneMatch: null, range: null, ifRange: null,
      });
      const { body, headers } = download;
      return { headers, stream: body instanceof Readable ? body : Readable.from(body === null ? [] : [body]) };
    },

    remove: (context, call, collection, recordId, field, fileId) => access.remove({ context, call, collection, recordId }, field, fileId ?? null),
  };
}
