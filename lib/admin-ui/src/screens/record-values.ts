// A record while it is edited: what its inputs show, and what of it is sent.
import type { Field, Json, JsonObject, PresentedFile, RecordBody } from "../api/types.js";
import { fromLocalInput, toLocalInput } from "../kit/format.js";

/** The files of a FILE field: those that stay, in their order, and those that come. */
export interface FilesDraft {
  readonly kept: readonly PresentedFile[];
  readonly added: readonly File[];
}

/** Text of an input, true or false or null of a BOOLEAN, the files of a FILE field. */
export type DraftValue = string | boolean | null | FilesDraft;
export type RecordDraft = Readonly<Record<string, DraftValue>>;

export const isFiles = (value: DraftValue | undefined): value is FilesDraft => typeof value === "object" && value !== null;

/** Fields that people fill in; a password has its own place. */
export function editableFields(fields: readonly Field[], isUsers: boolean): readonly Field[] {
  return isUsers ? fields.filter((field) => field.name !== "password" && field.name !== "role") : fields;
}

export function draftOf(fields: readonly Field[], record: RecordBody | null): RecordDraft {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, record === null ? field.default : record[field.name] ?? null)]));
}

function valueOf(field: Field, value: Json): DraftValue {
  switch (field.type) {
    case "BOOLEAN": return typeof value === "boolean" ? value : field.required ? false : null;
    case "FILE": return { kept: filesOf(value), added: [] };
    case "JSON": return value === null ? "" : JSON.stringify(value, null, 2);
    case "DATE": return typeof value === "string" ? toLocalInput(value) : "";
    default: return value === null ? "" : String(value);
  }
}

export function filesOf(value: Json): readonly PresentedFile[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((entry): entry is Json & PresentedFile => typeof entry === "object" && entry !== null && "url" in entry);
}

/** Text that is no JSON is told at its field, before anything is sent. */
export function jsonFault(field: Field, value: DraftValue | undefined): string | undefined {
  if (field.type !== "JSON" || typeof value !== "string" || value.trim() === "") return undefined;
  try {
    JSON.parse(value);
    return undefined;
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : ""}`;
  }
}

/** The value as the service takes it. A text that fits no number goes as it is, and is refused at its field. */
function toJson(field: Field, value: DraftValue): Json {
  if (isFiles(value)) {
    const ids = value.kept.map((file) => file.id);
    return field.type === "FILE" && field.multiple ? ids : null;
  }
  if (typeof value !== "string") return value;
  if (value === "") return null;
  switch (field.type) {
    case "NUMBER": return Number.isNaN(Number(value)) ? value : Number(value);
    case "JSON": return JSON.parse(value) as Json;
    case "DATE": return fromLocalInput(value);
    default: return value;
  }
}

export interface Outgoing {
  /** Members for a JSON body. */
  readonly body: JsonObject;
  /** Files that are uploaded, by field. */
  readonly files: readonly { readonly field: string; readonly file: File }[];
}

/** What to send for a new record: everything that was filled in. */
export function toCreate(fields: readonly Field[], draft: RecordDraft): Outgoing {
  const body: Record<string, Json> = {};
  for (const field of fields) {
    const value = draft[field.name];
    if (value === undefined || isFiles(value)) continue;
    const json = toJson(field, value);
    // An absent member takes the default, a null one does not.
    if (json !== null || field.default !== null) body[field.name] = json;
  }
  return { body, files: uploads(fields, draft) };
}

/** What to send for a changed record: the fields that differ from what was loaded. */
export function toUpdate(fields: readonly Field[], loaded: RecordDraft, draft: RecordDraft): Outgoing {
  const body: Record<string, Json> = {};
  for (const field of fields) {
    const value = draft[field.name];
    const before = loaded[field.name];
    if (value === undefined || !differs(before, value)) continue;
    if (isFiles(value) && !keptDiffer(before, value)) continue;
    // A new file takes the place of the one in a single field by itself.
    if (isFiles(value) && field.type === "FILE" && !field.multiple && value.added.length > 0) continue;
    body[field.name] = toJson(field, value);
  }
  return { body, files: uploads(fields, draft) };
}

function uploads(fields: readonly Field[], draft: RecordDraft): Outgoing["files"] {
  return fields.flatMap((field) => {
    const value = draft[field.name];
    return isFiles(value) ? value.added.map((file) => ({ field: field.name, file })) : [];
  });
}

export function differs(left: DraftValue | undefined, right: DraftValue | undefined): boolean {
  if (isFiles(left) && isFiles(right)) return right.added.length > 0 || keptDiffer(left, right);
  return left !== right;
}

function keptDiffer(left: DraftValue | undefined, right: FilesDraft): boolean {
  const ids = (files: readonly PresentedFile[]) => files.map((file) => file.id).join();
  return isFiles(left) && ids(left.kept) !== ids(right.kept);
}

export const isChanged = (fields: readonly Field[], loaded: RecordDraft, draft: RecordDraft): boolean => fields.some((field) => differs(loaded[field.name], draft[field.name]));

/** A multipart body: JSON fields as JSON text, files under their field's name. */
export function toForm(outgoing: Outgoing): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(outgoing.body)) {
    if (value !== null) form.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  for (const { field, file } of outgoing.files) form.append(field, file, file.name);
  return form;
}

/** What names a record for people: its first text, else its id. */
export function titleOf(fields: readonly Field[], record: RecordBody): string {
  for (const field of fields) {
    const value = record[field.name];
    if ((field.type === "TEXT" || field.type === "EMAIL" || field.type === "SELECT") && typeof value === "string" && value !== "" && field.name !== "password") return value.length > 60 ? `${value.slice(0, 60)}…` : value;
  }
  return record.id;
}
