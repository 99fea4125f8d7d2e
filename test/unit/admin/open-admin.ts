// An admin feature on a real store, with a clock that the test moves and a cheap hasher that counts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAdmin, type Admin } from "../../../lib/admin/admin.js";
import { createTokens } from "../../../lib/auth/tokens.js";
import { sha256 } from "../../../lib/core/ids.js";
import type { PasswordHasher } from "../../../lib/hasher/hasher.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { Storage } from "../../../lib/storage/storage.js";
import { defineTables, systemTables } from "../../../lib/tenants/tables.js";
import { passwordErrors } from "../../../lib/users/password.js";

export const password = "correct horse battery";
export const secrets = { application: "a1".repeat(32), sessionCookie: "b2".repeat(32), authenticationCookie: "c3".repeat(32) };

export interface CountingHasher extends PasswordHasher {
  verified: number;
  hashed: number;
  /** Thrown by the next call of hash or verify. */
  fail: Error | undefined;
}

export function countingHasher(): CountingHasher {
  const refuse = (): void => {
    if (hasher.fail !== undefined) throw hasher.fail;
  };
  const hasher: CountingHasher = {
    verified: 0,
    hashed: 0,
    fail: undefined,
    async hash(text) {
      refuse();
      hasher.hashed += 1;
      return `plain$${sha256(text)}`;
    },
    async verify(stored, text) {
      refuse();
      hasher.verified += 1;
      return stored === `plain$${sha256(text)}`;
    },
    needsRehash: () => false,
  };
  return hasher;
}

export interface OpenedAdmin {
  readonly admin: Admin;
  /** Another process on the same store. */
  readonly other: Admin;
  readonly storage: Storage;
  readonly hasher: CountingHasher;
  readonly folder: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Makes the superadmin `root`. */
  setUp(): Promise<void>;
  close(): Promise<void>;
}

export async function openAdmin(options: { mode?: "dev" | "prod" } = {}): Promise<OpenedAdmin> {
  const folder = await mkdtemp(join(tmpdir(), "records-admin-"));
  const storages = [createSqliteStorage({ folder }), createSqliteStorage({ folder })] as const;
  for (const storage of storages) {
    await storage.open();
    await storage.system.write({ operations: defineTables(systemTables) });
  }
  const hasher = countingHasher();
  const clock = { now: () => opened.now };
  const create = (storage: Storage): Admin => createAdmin({
    storage, clock, hasher, passwordErrors, secrets,
    mode: options.mode ?? "dev",
    tokens: createTokens({ secret: "d4".repeat(32), clock }),
    tokenTtl: 900,
  });
  const opened: OpenedAdmin = {
    admin: create(storages[0]),
    other: create(storages[1]),
    storage: storages[0],
    hasher,
    folder,
    now: Date.UTC(2026, 0, 31, 10),
    async setUp() {
      const { token } = await opened.admin.createSetupToken();
      await opened.admin.setup({ token, username: "root", password });
    },
    async close() {
      for (const storage of storages) await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return opened;
}

/** The error that the promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { status?: number; body?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was expected to reject");
}
