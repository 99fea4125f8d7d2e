// What an API key is: its stored form, the shape in which it is listed, and the checks of what is written.
import { ValidationFailed, type FieldError } from "../core/errors.js";
import { isId } from "../core/ids.js";
import type { JsonObject, RecordValue } from "../core/record.js";
import { parseTimestamp } from "../schema/dates.js";
import { parseCidr } from "./cidr.js";

/** The table of a tenant's keys. Members are those of the list but `status`, which follows from `revokedAt`; `hash` is hidden. */
export const keysTable = "api_keys";
/** The instance-wide table that tells a key's tenant by the key's SHA-256. */
export const keyIndexTable = "api_key_index";

/** A key as it is listed (contract 7). The key itself is shown once, at creation. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** `pk_` and the next 8 characters. */
  readonly prefix: string;
  readonly userId: string;
  readonly expiresAt: string | null;
  readonly bypassRules: boolean;
  readonly bypassHooks: boolean;
  /** Network addresses with prefix length; empty: anywhere. */
  readonly allowedCidrs: readonly string[];
  readonly lastUsedAt: string | null;
  readonly status: "active" | "revoked";
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

export interface NewApiKey {
  readonly name: string;
  readonly userId: string;
  readonly expiresAt: string | null;
  readonly bypassRules: boolean;
  readonly bypassHooks: boolean;
  readonly allowedCidrs: readonly string[];
}

const longestName = 200;
const mostCidrs = 256;

/** A stored key as it is listed. */
export function presentKey(record: RecordValue): ApiKey {
  const stored = record as unknown as Omit<ApiKey, "status">;
  return {
    id: stored.id,
    name: stored.name,
    prefix: stored.prefix,
    userId: stored.userId,
    expiresAt: stored.expiresAt,
    bypassRules: stored.bypassRules,
    bypassHooks: stored.bypassHooks,
    allowedCidrs: stored.allowedCidrs,
    lastUsedAt: stored.lastUsedAt,
    status: stored.revokedAt === null ? "active" : "revoked",
    createdAt: stored.createdAt,
    revokedAt: stored.revokedAt,
  };
}

/** Checks what a key is to be created from. Throws ValidationFailed with everything wrong. */
export function parseNewKey(body: JsonObject): NewApiKey {
  const faults = unknownMembers(body, ["name", "userId", "expiresAt", "bypassRules", "bypassHooks", "allowedCidrs"]);
  const fault = (field: string, message: string): void => void faults.push({ field, message });

  const name = body["name"];
  if (typeof name !== "string" || name.trim() === "") fault("name", "is required and must be text");
  else if ([...name].length > longestName) fault("name", `must have at most ${longestName} characters`);

  const userId = body["userId"];
  if (!isId(userId)) fault("userId", "is required and must be the id of a user of this tenant");

  const expiresAt = parseExpiry(body["expiresAt"]);
  if (expiresAt === undefined) fault("expiresAt", "must be an ISO 8601 timestamp or null");

  for (const flag of ["bypassRules", "bypassHooks"]) {
    if (body[flag] !== undefined && typeof body[flag] !== "boolean") fault(flag, "must be true or false");
  }
  const allowedCidrs = parseCidrs(body["allowedCidrs"] ?? [], faults);
  if (faults.length > 0) throw new ValidationFailed(faults);
  return {
    name: name as string,
    userId: userId as string,
    expiresAt: expiresAt as string | null,
    bypassRules: body["bypassRules"] === true,
    bypassHooks: body["bypassHooks"] === true,
    allowedCidrs,
  };
}

/** Checks a change of a key: `allowedCidrs` and nothing else. Throws ValidationFailed. */
export function parseKeyChange(body: JsonObject): readonly string[] {
  const faults = Object.keys(body)
    .filter((name) => name !== "allowedCidrs")
    .map((field): FieldError => ({ field, message: "cannot be changed: only allowedCidrs can" }));
  if (!Object.hasOwn(body, "allowedCidrs")) faults.push({ field: "allowedCidrs", message: "is required" });
  const cidrs = Object.hasOwn(body, "allowedCidrs") ? parseCidrs(body["allowedCidrs"], faults) : [];
  if (faults.length > 0) throw new ValidationFailed(faults);
  return cidrs;
}

function parseCidrs(value: unknown, faults: FieldError[]): readonly string[] {
  if (!Array.isArray(value)) {
    faults.push({ field: "allowedCidrs", message: "must be a list of address ranges, such as 10.0.0.0/8" });
    return [];
  }
  if (value.length > mostCidrs) {
    faults.push({ field: "allowedCidrs", message: `must have at most ${mostCidrs} entries` });
    return [];
  }
  return value.flatMap((entry: unknown, index) => {
    const cidr = typeof entry === "string" ? parseCidr(entry) : undefined;
    if (cidr === undefined) faults.push({ field: `allowedCidrs[${index}]`, message: "must be an IPv4 or IPv6 address or range in plain notation, such as 10.0.0.0/8 or fd00::/8" });
    return cidr === undefined ? [] : [cidr];
  });
}

/** The timestamp in UTC; null for none; undefined where it is no timestamp. */
function parseExpiry(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? (parseTimestamp(value) ?? undefined) : undefined;
}

function unknownMembers(body: JsonObject, known: readonly string[]): FieldError[] {
  return Object.keys(body)
    .filter((name) => !known.includes(name))
    .map((field) => ({ field, message: "is unknown" }));
}
