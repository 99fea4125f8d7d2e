// The archive's format: what lies where in the zip, and what its manifest says. Described in docs/backup.md.
import type { Json, RecordValue } from "../core/record.js";
import type { Hidden } from "../storage/storage.js";

export const formatName = "records-service-backup";
/** Raised with every change that an older service could not restore. */
export const formatVersion = 1;

export const paths = {
  /** The last entry: checksums are known by then. */
  manifest: "manifest.json",
  tenant: "tenant.json",
  settings: "settings.json",
  collections: "collections.ndjson",
  hooks: "hooks.ndjson",
  apiKeys: "api-keys.ndjson",
  /** Records in pages; a page is one entry. */
  records: (collectionId: string, page: number) => `records/${collectionId}/${String(page).padStart(8, "0")}.ndjson`,
  /** What became of records while the pages were read: takes the place of what the pages say. */
  changes: (collectionId: string, page: number) => `changes/${collectionId}/${String(page).padStart(8, "0")}.ndjson`,
  file: (collectionId: string, recordId: string, name: string) => `files/${collectionId}/${recordId}/${name}`,
  variant: (path: string, width: number) => `${path}.w${width}`,
} as const;

const id = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const fixed = new Set<string>([paths.manifest, paths.tenant, paths.settings, paths.collections, paths.hooks, paths.apiKeys]);
const pageShape = new RegExp(`^(records|changes)/(${id})/[0-9]{8}\\.ndjson$`);
const fileShape = new RegExp(`^files/(${id})/(${id})/(${id})(?:\\.w[1-9][0-9]{0,3})?$`);

/** What an entry's path stands for; undefined where it is none of the format's. */
export function readPath(path: string): { readonly kind: "fixed" | "records" | "changes" | "file"; readonly collectionId?: string } | undefined {
  if (fixed.has(path)) return { kind: "fixed" };
  const page = pageShape.exec(path);
  if (page !== null) return { kind: page[1] as "records" | "changes", collectionId: page[2]! };
  const file = fileShape.exec(path);
  return file === null ? undefined : { kind: "file", collectionId: file[1]! };
}

/** Bytes that one entry may have when it is unpacked. */
export const largestEntry = { text: 256 * 1024 * 1024, file: 64 * 1024 * 1024 } as const;
export const mostEntries = 5_000_000;

export interface Manifest {
  readonly format: typeof formatName;
  readonly version: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Every other entry: bytes and SHA-256 (hexadecimal) of its content. */
  readonly entries: Readonly<Record<string, { readonly size: number; readonly sha256: string }>>;
  /** Paths of files that records name and whose bytes were lost before the backup. */
  readonly missing: readonly string[];
}

/** A line of a page. */
export interface RecordLine {
  readonly record: RecordValue;
  /** `users` only: what signs the account in. */
  readonly hidden?: Hidden;
}

/** A line of changes. */
export type ChangeLine = RecordLine | { readonly removed: string };

/** A line of hooks: the public members, and secret and header values sealed with the service's own secret. */
export interface HookLine {
  readonly hook: Readonly<Record<string, Json>> & { readonly id: string };
  readonly sealed: string;
}

/** A line of API keys; the key itself is nowhere. */
export interface KeyLine {
  readonly record: RecordValue;
  /** SHA-256 of the key. */
  readonly hash: string;
}

/** Hidden columns of an account that go along; one-time tokens and sessions do not. */
export const keptUserColumns = ["passwordHash", "passwordSalt", "active", "generation"] as const;
