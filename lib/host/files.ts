// Files of records for host code: streams in and out, under the caller's rules.
import { Readable } from "node:stream";
import type { Clock } from "../core/clock.js";
import type { FileAccess } from "../files/file-access.js";
import type { FileTokens } from "../files/file-tokens.js";
import type { Files } from "../files/files.js";
import { issueFileToken } from "../files/issue-file-token.js";
import { NotFound } from "../core/errors.js";
import type { DataDeps } from "./data-handle.js";
import { receiveUploads, type UploadDeps } from "./uploads.js";

export interface HostFilesDeps {
  readonly access: FileAccess;
  readonly records: UploadDeps["records"];
  readonly files: Pick<Files, "present"> & UploadDeps["files"];
  readonly tokens: FileTokens;
  readonly clock: Clock;
}

export function hostFiles({ access, records, files, tokens, clock }: HostFilesDeps): DataDeps["files"] {
  return {
    receive: (context, call, target, uploads) => receiveUploads({ files, records, clock }, context, call, target, uploads),

    async upload(context, call, collection, recordId, field, file) {
      await access.upload({ context, call, collection, recordId }, field, file);
      const target = records.collection(context, collection);
      const row = await context.store.table(target.table).find(recordId);
      if (row === undefined) throw new NotFound();
      return files.present(call, target, row.record);
    },

    async read(context, call, collection, recordId, field, { fileId, width }) {
      const download = await access.download({ context, call, collection, recordId }, {
        field, fileId: fileId ?? null, width: width === undefined ? null : String(width),
        method: "GET", ifNoneMatch: null, range: null, ifRange: null,
      });
      const { body, headers } = download;
      return { headers, stream: body instanceof Readable ? body : Readable.from(body === null ? [] : [body]) };
    },

    token: (context, call) => issueFileToken(tokens, context, call.caller),

    remove: (context, call, collection, recordId, field, { fileId, ifMatch }) => access.remove({ context, call, collection, recordId }, field, fileId ?? null, ifMatch ?? null),
  };
}
