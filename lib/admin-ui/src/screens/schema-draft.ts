// Fields and indexes while they are edited: what a new field starts with, and what is sent.
import type { CollectionDefinition, Field, FieldType, Index } from "../api/types.js";

export const fieldTypes: readonly FieldType[] = ["TEXT", "NUMBER", "BOOLEAN", "DATE", "EMAIL", "URL", "SELECT", "RELATION", "JSON", "FILE"];

export const typeHints: Readonly<Record<FieldType, string>> = {
  TEXT: "Any text, up to a length.",
  NUMBER: "A number, whole or not.",
  BOOLEAN: "True or false.",
  DATE: "A point in time, kept in UTC.",
  EMAIL: "An e-mail address.",
  URL: "A web address.",
  SELECT: "One of the values that you list.",
  RELATION: "A record of another collection.",
  JSON: "Any JSON value up to 64 KiB.",
  FILE: "One file or several, with smaller copies of images.",
};

/** A field in the editor: `saved` is what the service has, null for a new one. */
export interface FieldDraft {
  readonly key: string;
  readonly saved: Field | null;
  readonly removed: boolean;
  readonly field: Field;
  /** The default as typed. */
  readonly defaultText: string;
}

let made = 0;

export function draftOf(collection: CollectionDefinition): readonly FieldDraft[] {
  return collection.fields.map((field) => ({ key: field.name, saved: field, removed: false, field, defaultText: textOf(field.default) }));
}

function textOf(value: Field["default"]): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function newField(): FieldDraft {
  made += 1;
  return { key: `new ${made}`, saved: null, removed: false, field: emptyField("", "TEXT"), defaultText: "" };
}

/** A field of the type with every option at its default. */
export function emptyField(name: string, type: FieldType, keep: Partial<Pick<Field, "required" | "unique">> = {}): Field {
  const base = { name, required: keep.required ?? false, unique: keep.unique ?? false, default: null };
  switch (type) {
    case "TEXT": return { ...base, type, minLength: null, maxLength: 5000, pattern: null };
    case "NUMBER": return { ...base, type, min: null, max: null, integer: false };
    case "DATE": return { ...base, type, min: null, max: null };
    case "SELECT": return { ...base, type, values: [] };
    case "RELATION": return { ...base, type, collection: "users", onDelete: "restrict" };
    case "JSON": return { ...base, type, unique: false };
    case "FILE": return { ...base, type, unique: false, multiple: false, maxFiles: 10, maxSize: 2 * 1024 * 1024, mimeTypes: [], widths: [] };
    default: return { ...base, type };
  }
}

/** The default as a value of the field's type; text that does not fit goes as it is, for the service to refuse at its field. */
export function defaultOf({ field, defaultText }: FieldDraft): Field["default"] {
  const text = defaultText.trim();
  if (text === "" || field.type === "FILE") return null;
  switch (field.type) {
    case "NUMBER": return Number.isNaN(Number(text)) ? text : Number(text);
    case "BOOLEAN": return text === "true" ? true : text === "false" ? false : text;
    case "JSON":
      try {
        return JSON.parse(text) as Field["default"];
      } catch {
        return text;
      }
    default: return defaultText;
  }
}

export function fieldsToSend(drafts: readonly FieldDraft[]): readonly Field[] {
  return kept(drafts).map((draft) => ({ ...draft.field, default: defaultOf(draft) }) as Field);
}

export const kept = (drafts: readonly FieldDraft[]): readonly FieldDraft[] => drafts.filter((draft) => !draft.removed);

export function sameSchema(collection: CollectionDefinition, fields: readonly Field[], indexes: readonly Index[], realtime: boolean): boolean {
  return JSON.stringify([collection.fields, collection.indexes, collection.realtime]) === JSON.stringify([fields, indexes, realtime]);
}

export const canBeUnique = (type: FieldType): boolean => type !== "JSON" && type !== "FILE";
