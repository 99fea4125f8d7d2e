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
}
