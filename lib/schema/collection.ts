// What a collection is (contract 3): fields, indexes, rules. Pure data.
import type { Json } from "../core/record.js";

export type FieldType =
  | "TEXT" | "NUMBER" | "BOOLEAN" | "DATE" | "EMAIL" | "URL" | "SELECT" | "RELATION" | "JSON" | "FILE";

interface FieldBase {
  readonly name: string;
  /** Default false. */
  readonly required: boolean;
  /** Default false. Never on JSON and FILE. Absent values do not collide. */
  readonly unique: boolean;
  /** The value of a new record that lacks the field; null: none. Never on FILE. */
  readonly default: Json;
}

export interface TextField extends FieldBase {
  readonly type: "TEXT";
  /** Unicode code points. */
  readonly minLength: number | null;
  /** Unicode code points, default 5000. */
  readonly maxLength: number;
  /** RE2 syntax, run by a linear-time engine; null: none. */
  readonly pattern: string | null;
}
export interface NumberField extends FieldBase {
  readonly type: "NUMBER";
  readonly min: number | null;
  readonly max: number | null;
  readonly integer: boolean;
}
export interface BooleanField extends FieldBase { readonly type: "BOOLEAN" }
export interface DateField extends FieldBase {
  readonly type: "DATE";
  /** Timestamps, normalised to UTC milliseconds. */
  readonly min: string | null;
  readonly max: string | null;
}
export interface EmailField extends FieldBase { readonly type: "EMAIL" }
export interface UrlField extends FieldBase { readonly type: "URL" }
export interface SelectField extends FieldBase {
  readonly type: "SELECT";
  readonly values: readonly string[];
}
export interface RelationField extends FieldBase {
  readonly type: "RELATION";
  /** Name of a collection of the same tenant. */
  readonly collection: string;
  /** Default restrict. */
  readonly onDelete: "restrict" | "setNull" | "cascade";
}
export interface JsonField extends FieldBase { readonly type: "JSON" }
export interface FileField extends FieldBase {
  readonly type: "FILE";
  /** Default false. */
  readonly multiple: boolean;
  /** Default 10. */
  readonly maxFiles: number;
  /** Bytes, default 2 MiB, at most 4 MiB. */
  readonly maxSize: number;
  /** Allowed media types, `image/*` possible; empty: any. */
  readonly mimeTypes: readonly string[];
  /** Pixels, at most 8 of 1 to 4096, ascending. */
  readonly widths: readonly number[];
}

export type Field =
  | TextField | NumberField | BooleanField | DateField | EmailField | UrlField
  | SelectField | RelationField | JsonField | FileField;

export interface Index {
  readonly fields: readonly string[];
  readonly unique: boolean;
}

export type RuleName = "listRule" | "viewRule" | "createRule" | "updateRule" | "deleteRule";
export const ruleNames = ["listRule", "viewRule", "createRule", "updateRule", "deleteRule"] as const satisfies readonly RuleName[];

export interface CollectionDefinition {
  readonly id: string;
  readonly name: string;
  /** `users` only. */
  readonly system: boolean;
  readonly fields: readonly Field[];
  readonly indexes: readonly Index[];
  /** null: No access. */
  readonly listRule: string | null;
  readonly viewRule: string | null;
  readonly createRule: string | null;
  readonly updateRule: string | null;
  readonly deleteRule: string | null;
  /** Default true; always false for `users`. */
  readonly realtime: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export const collectionNamePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
export const fieldNamePattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;
export const reservedFieldNames: readonly string[] = ["id", "createdAt", "updatedAt", "constructor", "prototype", "__proto__"];
