// Two processes' one-time features on one store, with a tenant whose settings the test changes and a mailbox.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOneTime, type OneTime } from "../../../lib/auth/one-time/one-time.js";
import type { Origin } from "../../../lib/auth/origin.js";
import { createFamilies, familiesTable } from "../../../lib/auth/families.js";
import { createRefreshTokens } from "../../../lib/auth/refresh-token.js";
import { createTokens } from "../../../lib/auth/tokens.js";
import { usersTable } from "../../../lib/collections/collection.js";
import { newId } from "../../../lib/core/ids.js";
import { defaultSettings, type Settings, type Tenant } from "../../../lib/core/tenant.js";
import type { JsonObject } from "../../../lib/core/record.js";
import type { Mail, Mailer } from "../../../lib/mailer/mailer.js";
import { createOutgoing } from "../../../lib/mailer/outgoing.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import type { Row, Storage, Store } from "../../../lib/storage/storage.js";
import type { TenantContext } from "../../../lib/tenants/context.js";
import { defineTables, systemTables, tenantTables } from "../../../lib/tenants/tables.js";
import { createUsers } from "../../../lib/users/users.js";
import { countingHasher, type CountingHasher } from "../admin/open-admin.js";

export interface OpenedOneTime {
  readonly oneTime: OneTime;
  /** Another process on the same store. */
  readonly other: OneTime;
  readonly origin: Origin;
  readonly mails: Mail[];
  readonly lines: object[];
  readonly messages: string[];
  readonly hasher: CountingHasher;
  /** What global hooks were told, and what they answer. */
  readonly told: JsonObject[];
  answer: JsonObject | undefined;
  /** Called once, before the next mail is taken, when all that it depends on has been read. */
  beforeTaking: (() => Promise<void>) | undefined;
  /** All tenants there are. */
  tenants: Tenant[];
  /** How often a tenant was looked up. */
  asked: number;
  /** Milliseconds since the epoch. */
  now: number;
  readonly tenantId: string;
  readonly folder: string;
  readonly storage: Storage;
  /** One more process; its mails go to this mailer, undefined for none. Closed with the others. */
  another(mailer: Mailer | undefined): OneTime;
  context(): Promise<TenantContext>;
  set(settings: Partial<Settings>): Promise<void>;
  addUser(members: { username: string; email?: string; active?: boolean; emailVerified?: boolean }): Promise<string>;
  user(id: string): Promise<Row>;
  /** Changes a user as a later update of the record would. */
  change(id: string, set: JsonObject, hidden?: Record<string, null>): Promise<void>;
  families(id: string): Promise<number>;
  /** The token of the newest mail to the address. */
  token(to: string): string;
  close(): Promise<void>;
}

const on: Settings = {
  ...defaultSettings,
  passwordReset: { enabled: true, linkUrl: "https://app.test/reset" },
  emailVerification: { enabled: true, linkUrl: "https://app.test/verify/{token}", requireForLogin: false },
};

/** @param create makes a storage of the two processes; by default SQLite in the folder */
export async function openOneTime(create: (folder: string) => Storage = (folder) => createSqliteStorage({ folder })): Promise<OpenedOneTime> {
  const folder = await mkdtemp(join(tmpdir(), "records-one-time-"));
  const tenantId = newId(Date.now());
  const storages = [create(folder), create(folder)] as const;
  await storages[0].open();
  await storages[1].open();
  await storages[0].system.write({ operations: defineTables(systemTables) });
  await storages[0].tenant(tenantId).write({
    operations: [...defineTables(tenantTables), { type: "define", table: usersTable, indexes: [{ fields: [{ field: "username", kind: "text" }], unique: true }] }],
  });
  const at = "2026-01-31T09:00:00.000Z";
  const tenant = { id: tenantId, slug: "acme", name: "Acme & Sons", createdAt: at, updatedAt: at };
  const clock = { now: () => opened.now };
  const hasher = countingHasher();
  const log = (fields: object, message: string): void => {
    opened.lines.push(fields);
    opened.messages.push(message);
  };
  const mailbox: Mailer = { async send(mail) { opened.mails.push(mail); } };
  const processes: OneTime[] = [];
  let settings = on;

  /** The store as the features see it. */
  function tenantStore(storage: Storage, id: string): Store {
    const store = storage.tenant(id);
    return {
      table: (name) => store.table(name), changes: store.changes, stamp: () => store.stamp(), size: () => store.size(),
      async write(unit) {
        const { beforeTaking } = opened;
        if (beforeTaking !== undefined && unit.operations.some(({ type, table }) => type === "update" && table === "mail_jobs")) {
          opened.beforeTaking = undefined;
          await beforeTaking();
        }
        return store.write(unit);
      },
    };
  }

  const contextOf = (storage: Storage) => async (id: string): Promise<TenantContext | undefined> => {
    opened.asked += 1;
    if (id !== tenantId || !opened.tenants.includes(tenant)) return undefined;
    const store = tenantStore(storage, tenantId);
    const stamp = await store.stamp();
    return { tenant, store, stamp, settings, collections: new Map(), hooks: () => [] };
  };
  function start(storage: Storage, mailer: Mailer | undefined): OneTime {
    const tokens = createTokens({ secret: "d4".repeat(32), clock });
    const users = createUsers({ hasher, follow: [] });
    const logger = { debug: log, info: log, warn: log, error: log };
    const process = createOneTime({
      storage, tenants: { byId: contextOf(storage), list: async () => opened.tenants }, users, clock, logger,
      outgoing: createOutgoing({ mailer, logger }), defineMailJobs: defineTables({ mail_jobs: tenantTables.mail_jobs }),
      families: createFamilies({ clock, tokens, refreshTokens: createRefreshTokens({ secret: "d4".repeat(32) }), users, accessTokenTtl: 900, refreshTokenTtl: 1000 }),
      hooks: { async beforeRequest(_context, _call, { body }) { opened.told.push(body!); return { body: opened.answer ?? body }; } },
    });
    processes.push(process);
    return process;
  }

  const store = storages[0].tenant(tenantId);
  const opened: OpenedOneTime = {
    oneTime: start(storages[0], mailbox),
    other: start(storages[1], mailbox),
    storage: storages[0],
    another: (mailer) => start(storages[1], mailer),
    origin: { request: { requestId: "r", method: "POST", path: "/api/auth/password/forgot", headers: {}, mountPath: "" }, meter: { hookMs: 0 } },
    mails: [], lines: [], messages: [], told: [], hasher, tenantId, folder,
    answer: undefined,
    beforeTaking: undefined,
    tenants: [tenant],
    asked: 0,
    now: Date.UTC(2026, 0, 31, 10),
    context: async () => (await contextOf(storages[0])(tenantId))!,
    async set(change) {
      settings = { ...settings, ...change };
      await store.write({ operations: [], bump: true });
    },
    async addUser({ username, email, active = true, emailVerified = false }) {
      const id = newId(opened.now);
      await store.write({
        operations: [
          { type: "insert", table: usersTable, record: { id, createdAt: at, updatedAt: at, username, email: email ?? null, role: "user", emailVerified }, hidden: { passwordHash: "plain$old", generation: 1, active } },
          { type: "insert", table: familiesTable, record: { id: newId(opened.now), createdAt: at, updatedAt: at, userId: id, expiresAt: opened.now + 1_000_000 }, hidden: { generation: 1 } },
        ],
      });
      return id;
    },
    user: async (id) => (await store.table(usersTable).find(id))!,
    async change(id, set, hidden = {}) {
      await store.write({ operations: [{ type: "update", table: usersTable, id, set, setHidden: hidden }] });
    },
    families: (id) => store.table(familiesTable).count({ op: "is", field: { field: "userId", kind: "text" }, value: id }),
    token(to) {
      const mail = opened.mails.findLast((one) => one.to === to);
      const token = /[A-Za-z0-9_-]{86}/.exec(mail?.text ?? "")?.[0];
      if (token === undefined) throw new Error(`there is no mail with a token to ${to}`);
      return token;
    },
    async close() {
      // Some hang for good.
      await Promise.all(processes.map((process) => process.close(50)));
      for (const storage of storages) await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return opened;
}
