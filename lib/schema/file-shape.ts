// What a JSON body may say of a FILE field: null, or which of a multiple field's files stay, in which order.
import { isId } from "../core/ids.js";
import type { FileField } from "./collection.js";

export type FileShape =
  /** Remove every file of the field. */
  | { readonly kind: "clear" }
  /** Keep these files, in this order; the others go. Whether each is one of the record's is not checked here. */
  | { readonly kind: "keep"; readonly ids: readonly string[] }
  | { readonly kind: "error"; readonly message: string };

/**
 * Reads the member of a JSON body. A file reference as it was read (an object with an `id`) counts as its id, so that a
 * record that was read can be written back.
 */
export function fileShape(field: FileField, value: unknown): FileShape {
  if (value === null) return { kind: "clear" };
  if (!field.multiple) {
    const id = idOf(value);
    return id === undefined ? { kind: "error", message: "must be null: a file is given by upload" } : { kind: "keep", ids: [id] };
  }
  if (!Array.isArray(value)) return { kind: "error", message: "must be null or a list of the file ids to keep" };
  const ids = (value as readonly unknown[]).map((item) => (isId(item) ? item : idOf(item)));
  if (!ids.every((id): id is string => id !== undefined)) return { kind: "error", message: "must list ids of files that the record has" };
  if (new Set(ids).size !== ids.length) return { kind: "error", message: "must list each file id once" };
  return ids.length === 0 ? { kind: "clear" } : { kind: "keep", ids };
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, "id")) return undefined;
  const { id } = value as { id: unknown };
  return isId(id) ? id : undefined;
}
