// The superadmin's editor of accounts: what no client may set (role, active, emailVerified, hashes that are brought
// along), through the same pipeline as every record, with create and update hooks and no register hooks (contract 7).
import type { Call } from "../core/call.js";
import { NotFound, ValidationFailed, type FieldError } from "../core/errors.js";
import type { Json, JsonObject, Scalar } from "../core/record.js";
import type { SystemColumns } from "../auth/auth.js";
import type { Records } from "../records/records.js";
import { legacyBytes } from "../hasher/hasher.js";
import { parsePhc } from "../hasher/phc.js";
import { usersTable } from "../collections/collection.js";
import { always } from "../storage/filter.js";
import type { Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";

export interface AdminEditor {
  /** Accounts with `active`, oldest first. */
  list(context: TenantContext, page: { readonly offset: number; readonly limit: number }): Promise<{ readonly items: readonly Json[]; readonly hasMore: boolean }>;
  /** Throws NotFound. */
  get(context: TenantContext, userId: string): Promise<JsonObject>;
  create(context: TenantContext, call: Call, body: JsonObject): Promise<JsonObject>;
  update(context: TenantContext, call: Call, userId: string, body: JsonObject): Promise<JsonObject>;
  remove(context: TenantContext, call: Call, userId: string): Promise<void>;
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;

export function createAdminEditor({ records }: { readonly records: () => Records }): AdminEditor {
  async function shown(context: TenantContext, userId: string): Promise<JsonObject> {
    const row = await context.store.table(usersTable).find(userId);
    if (row === undefined) throw new NotFound();
    return present(row);
  }

  return {
    get: shown,

    async list(context, { offset, limit }) {
      const rows = await context.store.table(usersTable).list({ filter: always, offset, limit: limit + 1 });
      return { items: rows.slice(0, limit).map(present), hasMore: rows.length > limit };
    },

    async create(context, call, body) {
      const { rest, system } = partSystem(body);
      const answer = await records().create(context, call, "users", { body: rest, system });
      return await shown(context, answer.id);
    },

    async update(context, call, userId, body) {
      const { rest, system } = partSystem(body);
      await records().update(context, call, "users", { recordId: userId, body: rest, system });
      return await shown(context, userId);
    },

    remove: (context, call, userId) => records().remove(context, call, "users", { recordId: userId, byEditor: true }),
  };
}

function present(row: Row): JsonObject {
  return { ...row.record, active: row.hidden["active"] !== false };
}

/** Takes the superadmin's own members out of the body. Throws ValidationFailed. */
function partSystem(body: JsonObject): { readonly rest: JsonObject; readonly system: SystemColumns } {
  const { role, active, emailVerified, passwordHash, passwordSalt, ...rest } = body;
  const errors: FieldError[] = [];
  const record: Record<string, Json> = {};
  const hidden: Record<string, Scalar> = {};
  const demand = (holds: boolean, field: string, message: string): boolean => {
    if (!holds) errors.push({ field, message });
    return holds;
  };
  if (role !== undefined && demand(typeof role === "string" && /^[\w.-]{1,63}$/.test(role), "role", "must be 1 to 63 letters, digits, dots, dashes or underscores")) record["role"] = role;
  if (emailVerified !== undefined && demand(typeof emailVerified === "boolean", "emailVerified", "must be true or false")) record["emailVerified"] = emailVerified;
  if (active !== undefined && demand(typeof active === "boolean", "active", "must be true or false")) hidden["active"] = active as boolean;
  const hasHash = passwordHash !== undefined && passwordHash !== null;
  if (hasHash && demand(isHash(passwordHash), "passwordHash", `must be a PHC string, or ${legacyBytes.hash} bytes in base64 with a passwordSalt`)) hidden["passwordHash"] = passwordHash as string;
  if (hasHash) {
    const isPhc = typeof passwordHash === "string" && passwordHash.startsWith("$");
    const isSalt = typeof passwordSalt === "string" && passwordSalt.length <= 1024 && bytesOf(passwordSalt) >= legacyBytes.salt;
    if (demand(isPhc ? passwordSalt === undefined || passwordSalt === null : isSalt, "passwordSalt", isPhc ? "a PHC string carries its own salt: leave passwordSalt out" : `must be the salt of passwordHash: at least ${legacyBytes.salt} bytes in base64`)) {
      hidden["passwordSalt"] = isPhc ? null : (passwordSalt as string);
    }
    demand(rest["password"] === undefined || rest["password"] === "", "password", "give a password or a passwordHash, not both");
  } else {
    demand(passwordSalt === undefined || passwordSalt === null, "passwordSalt", "belongs to a passwordHash, which is missing");
  }
  if (errors.length > 0) throw new ValidationFailed(errors);
  return { rest, system: { record, hidden, hasHash } };
}

function isHash(value: Json): boolean {
  return typeof value === "string" && value.length <= 1024 && (value.startsWith("$") ? parsePhc(value) !== undefined : bytesOf(value) === legacyBytes.hash);
}

/** How many bytes the base64 text holds; 0 where it is none. */
function bytesOf(text: string): number {
  return base64.test(text) ? Buffer.byteLength(text, "base64") : 0;
}
