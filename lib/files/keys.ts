// Where the bytes of a file and of its variants live in the blob store.

/** The key of a file: `<tenantId>/<collectionId>/<recordId>/<fileId>`. */
export function fileKey(tenantId: string, collectionId: string, recordId: string, fileId: string): string {
  return `${tenantId}/${collectionId}/${recordId}/${fileId}`;
}

/** The key of a file's variant of this width, pixels. */
export function variantKey(key: string, width: number): string {
  return `${key}.w${width}`;
}

export interface ParsedKey {
  readonly tenantId: string;
  readonly collectionId: string;
  readonly recordId: string;
  readonly fileId: string;
}

/** What a key is about; undefined where it is none of ours. */
export function parseKey(key: string): ParsedKey | undefined {
  const [tenantId, collectionId, recordId, name, ...rest] = key.split("/");
  if (tenantId === undefined || collectionId === undefined || recordId === undefined || name === undefined || rest.length > 0) return undefined;
  const fileId = /^([^.]+)(?:\.w[0-9]+)?$/.exec(name)?.[1];
  return fileId === undefined ? undefined : { tenantId, collectionId, recordId, fileId };
}
