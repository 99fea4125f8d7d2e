// The outgoing shape of FILE fields: what is stored, and the link it is served at.
import type { RequestFacts } from "../core/call.js";
import { fileReferences, type FileReference, type Json, type RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { FileField } from "../schema/collection.js";

/** The record with a `url` in each file reference: an absolute path, with the mount path. */
export function presentFiles(call: { readonly request: Pick<RequestFacts, "mountPath"> }, collection: Collection, record: RecordValue): RecordValue {
  if (collection.files.length === 0) return record;
  const presented: Record<string, Json> = { ...record };
  for (const field of collection.files) {
    const base = `${call.request.mountPath}/api/collections/${collection.name}/${record.id}/files/${field.name}`;
    const files = fileReferences(record[field.name]).map((file) => presentFile(field, file, base));
    presented[field.name] = field.multiple ? files : (files[0] ?? null);
  }
  return presented as RecordValue;
}

function presentFile(field: FileField, { id, name, size, type, width, height }: FileReference, base: string): Json {
  return {
    id, name, size, type,
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    url: field.multiple ? `${base}/${id}` : base,
  };
}
