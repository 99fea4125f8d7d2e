// What a record is made of, for every layer.

export type Scalar = string | number | boolean | null;
export type Json = Scalar | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** A record as the store keeps it: three system fields beside the fields of its schema. */
export interface RecordValue {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly [field: string]: Json;
}

export const systemFields = ["id", "createdAt", "updatedAt"] as const;

/** A stored file of a FILE field, as it stands in the record. `url` is added where a record is presented. */
export interface FileReference {
  readonly id: string;
  /** The client's file name, made safe. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Media type, sniffed from the content. */
  readonly type: string;
  /** Pixels, raster images only. */
  readonly width?: number;
  readonly height?: number;
  /** Widths of the image variants planned when it was stored, ascending. Kept inside; never presented. */
  readonly variants?: readonly number[];
}

/** The file references that a FILE field's value holds: none, one or several. */
export function fileReferences(value: Json | undefined): FileReference[] {
  const many = Array.isArray(value) ? (value as readonly Json[]) : [value ?? null];
  return many.filter((one) => typeof one === "object" && one !== null && !Array.isArray(one)) as unknown as FileReference[];
}
