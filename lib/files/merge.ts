// What a write makes of a record's FILE fields: new files, kept ones, removed ones. Pure, so that it can be done again
// on a record that has changed meanwhile.
import type { FieldError } from "../core/errors.js";
import { fileReferences, type FileReference, type Json, type JsonObject, type RecordValue } from "../core/record.js";
import type { Collection } from "../collections/collection.js";
import type { FileField } from "../schema/collection.js";
import type { PendingFile } from "./files.js";

export interface FileChange {
  readonly collection: Collection;
  /** null: the record is being created. */
  readonly existing: RecordValue | null;
  /** The body; of a FILE field it may hold null (remove), the ids to keep in their new order, or the references as they were read. */
  readonly body: JsonObject;
  /** The files that came with the write. */
  readonly pending: readonly PendingFile[];
}

export interface MergedFiles {
  /** The FILE fields to set: on a create all of them, else those that change. */
  readonly set: Readonly<Record<string, Json>>;
  /** References that leave the record. */
  readonly removed: readonly FileReference[];
  readonly errors: readonly FieldError[];
}

/** A single field takes the new file, a multiple one appends the new ones to what is kept. */
export function mergeFiles({ collection, existing, body, pending }: FileChange): MergedFiles {
  const set: Record<string, Json> = {};
  const removed: FileReference[] = [];
  const errors: FieldError[] = [];
  for (const field of collection.files) {
    const current = fileReferences(existing?.[field.name]);
    const uploads = pending.filter((file) => file.field === field.name).map((file) => file.reference);
    const given = Object.hasOwn(body, field.name) ? body[field.name]! : undefined;
    const kept = given === undefined ? current : keptFiles(field, current, given);
    if (typeof kept === "string") {
      errors.push({ field: field.name, message: kept });
      continue;
    }
    const next = field.multiple ? [...kept, ...uploads] : uploads.length > 0 ? uploads : kept;
    const changed = next.length !== current.length || next.some((file, index) => file.id !== current[index]?.id);
    if (existing !== null && !changed) continue;
    const fault = faultOf(field, next);
    if (fault !== undefined) errors.push({ field: field.name, message: fault });
    set[field.name] = fileValue(field, next);
    removed.push(...current.filter((file) => !next.some((other) => other.id === file.id)));
  }
  return { set, removed, errors };
}

/** What a FILE field with these files holds: an array, or one reference or null. */
export function fileValue(field: FileField, files: readonly FileReference[]): Json {
  return (field.multiple && files.length > 0 ? [...files] : (files[0] ?? null)) as unknown as Json;
}

function faultOf(field: FileField, files: readonly FileReference[]): string | undefined {
  if (field.required && files.length === 0) return "is required: it must hold a file";
  if (!field.multiple && files.length > 1) return "takes one file";
  if (field.multiple && files.length > field.maxFiles) return `takes at most ${field.maxFiles} files`;
  return undefined;
}

/** The files that the body keeps, or what is wrong with it. */
function keptFiles(field: FileField, current: readonly FileReference[], given: Json): readonly FileReference[] | string {
  if (given === null) return [];
  if (field.multiple !== Array.isArray(given)) {
    return field.multiple ? "must be null or the list of file ids to keep; new files are sent as multipart parts" : "must be null; a new file is sent as a multipart part";
  }
  const kept: FileReference[] = [];
  for (const entry of fileEntries(given)) {
    const id = idOf(entry);
    if (id === undefined) return field.multiple ? "must be null or the list of file ids to keep; new files are sent as multipart parts" : "must be null; a new file is sent as a multipart part";
    const file = current.find((one) => one.id === id);
    if (file === undefined) return `names a file that the record does not hold: ${id.slice(0, 64)}`;
    if (kept.includes(file)) return `names the file ${id} twice`;
    kept.push(file);
  }
  return kept;
}

function fileEntries(given: Json): readonly Json[] {
  return Array.isArray(given) ? (given as readonly Json[]) : [given];
}

/** An id, or the id in a reference as it was read, so that a record that was read can be written back. */
function idOf(entry: Json): string | undefined {
  if (typeof entry === "string") return entry;
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) return undefined;
  const { id } = entry as JsonObject;
  return typeof id === "string" ? id : undefined;
}
