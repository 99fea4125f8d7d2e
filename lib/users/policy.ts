// UserPolicy: what the record pipeline leaves to users/ on the built-in collection (interface, "Users collection
// specifics for PATCH"): secrets apart, proof of credential changes, hashing, revocation by generation.
import { bypassesRules, callerUser, type Call } from "../core/call.js";
import { Forbidden, ValidationFailed } from "../core/errors.js";
import type { Json } from "../core/record.js";
import type { UserColumns, UserPolicy, UserSecrets } from "../auth/auth.js";
import type { Hidden, Operation, Row } from "../storage/storage.js";
import type { TenantContext } from "../tenants/context.js";
import type { Credentials } from "./credentials.js";
import { generationOf } from "./find.js";
import { passwordErrors } from "./password.js";

export interface UserPolicyDeps {
  readonly credentials: Credentials;
  /** What of other features goes with a removed user: its refresh families, its API keys. */
  readonly follow: readonly ((context: TenantContext, userId: string) => Promise<Operation[]>)[];
}

const secretMembers = ["password", "oldPassword"];
/** Never in a record, never seen by a hook, or managed by the system alone. */
const takenOut = new Set([...secretMembers, "role", "emailVerified"]);

/** What was decided on a request's credential change, for the write that follows. */
interface Decision {
  /** The generation under which the current password was proven; null where no proof was needed. */
  readonly provenUnder: number | null;
  readonly email: Json;
  /** Whether the caller may change credentials at all. */
  readonly credentials: boolean;
}

export function createUserPolicy({ credentials, follow }: UserPolicyDeps): UserPolicy {
  // By the secrets of one request, so that a write that is built again neither hashes again nor outlives its proof.
  const hashes = new WeakMap<UserSecrets, Promise<Hidden>>();
  const decisions = new WeakMap<UserSecrets, Decision>();

  function columnsOf(secrets: UserSecrets, password: string): Promise<Hidden> {
    let columns = hashes.get(secrets);
    if (columns === undefined) {
      columns = credentials.columns(password);
      hashes.set(secrets, columns);
    }
    return columns;
  }

  async function credentialColumns(row: Row, set: Readonly<Record<string, Json>>, secrets: UserSecrets): Promise<UserColumns> {
    const decision = decisions.get(secrets);
    const changesPassword = !isBlank(secrets.password);
    let changesEmail = Object.hasOwn(set, "email") && normalEmail(set["email"]) !== emailOf(row);
    // An address that was written back as it stood is no change, even where it has become another one meanwhile.
    const writtenBack = changesEmail && decision !== undefined && !decision.credentials && normalEmail(set["email"]) === decision.email;
    if (writtenBack) changesEmail = false;
    const keep: Readonly<Record<string, Json>> = writtenBack ? { email: emailOf(row) } : {};
    if (!changesPassword && !changesEmail) return { set: keep, setHidden: {}, increment: {}, hiddenIs: {} };
    const provenUnder = decision?.provenUnder ?? null;
    if (provenUnder !== null && provenUnder !== generationOf(row.hidden)) {
      throw refusedProof("was checked against credentials that have changed meanwhile; try again");
    }
    const password = changesPassword ? await columnsOf(secrets, String(secrets.password)) : {};
    return {
      set: changesEmail ? { emailVerified: false } : {},
      setHidden: { ...endedBy(changesEmail), ...password },
      increment: { generation: 1 },
      hiddenIs: { passwordHash: row.hidden["passwordHash"] ?? null, generation: row.hidden["generation"] ?? null },
    };
  }

  const policy: UserPolicy = {
    split(body) {
      const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !takenOut.has(name)));
      const secrets = Object.fromEntries(secretMembers.flatMap((name) => (Object.hasOwn(body, name) ? [[name, body[name]]] : [])));
      return { body: rest, secrets };
    },

    check(secrets, mode) {
      if (isBlank(secrets.password)) return mode === "create" ? [{ field: "password", message: "is required" }] : [];
      return passwordErrors(secrets.password);
    },

    demandOwner(call, userId, visible, body, secrets) {
      if (bypassesRules(call.caller) || callerUser(call.caller)?.id === userId) return;
      const changesEmail = Object.hasOwn(body, "email") && (visible === undefined || normalEmail(body["email"]) !== emailOf(visible));
      if (!isBlank(secrets.password) || changesEmail) throw new Forbidden();
    },

    async authorize(_context, call, row, body, secrets) {
      // Asked again for the body that a hook answered: what was proven stays so, and costs no second hash.
      if (decisions.get(secrets)?.credentials === true) return;
      const email = emailOf(row);
      const decide = (allowed: boolean, provenUnder: number | null = null): void => {
        decisions.set(secrets, { provenUnder, email, credentials: allowed });
      };
      const changes = !isBlank(secrets.password) || (Object.hasOwn(body, "email") && normalEmail(body["email"]) !== email);
      if (!changes) return decide(false);
      if (bypassesRules(call.caller)) return decide(true);
      if (!isOwner(call, row)) throw new Forbidden();
      const faults = policy.check(secrets, "update");
      if (faults.length > 0) throw new ValidationFailed(faults);
      if (typeof secrets.oldPassword !== "string" || secrets.oldPassword === "") throw refusedProof("is required to change the password or the e-mail address");
      if (!(await credentials.verify(row, secrets.oldPassword))) throw refusedProof("is wrong");
      decide(true, generationOf(row.hidden));
    },

    async createColumns(secrets, system) {
      const hidden = system?.hasHash === true ? {} : await columnsOf(secrets, String(secrets.password));
      return {
        record: { role: "user", emailVerified: false, ...system?.record },
        hidden: { ...hidden, generation: 1, active: true, ...system?.hidden },
      };
    },

    async updateColumns(row, set, secrets, system) {
      const changes = await credentialColumns(row, set, secrets);
      if (system === undefined) return changes;
      // A hash that is brought along is a new password; an account that is switched off loses its sessions for good.
      const revokes = system.hasHash || system.hidden["active"] === false;
      return {
        set: { ...changes.set, ...system.record },
        setHidden: { ...changes.setHidden, ...(revokes ? endedBy(false) : {}), ...system.hidden },
        increment: revokes ? { generation: 1 } : changes.increment,
        hiddenIs: changes.hiddenIs,
      };
    },

    async removeOperations(context, userId) {
      const operations = await Promise.all(follow.map((one) => one(context, userId)));
      return operations.flat();
    },
  };
  return policy;
}

/** One-time tokens that end with the change; a raised generation makes the list of revoked families superfluous. */
function endedBy(emailChanged: boolean): Hidden {
  const reset: Hidden = { resetHash: null, resetExpires: null, revokedFamilies: null };
  return emailChanged ? { ...reset, verifyHash: null, verifyExpires: null } : reset;
}

function isOwner(call: Call, row: Row): boolean {
  return callerUser(call.caller)?.id === row.id;
}

function isBlank(password: unknown): boolean {
  return password === undefined || password === null || password === "";
}

function emailOf(row: Row): Json {
  return normalEmail(row.record["email"]);
}

function normalEmail(email: Json | undefined): Json {
  return email === undefined || email === "" ? null : email;
}

function refusedProof(message: string): ValidationFailed {
  return new ValidationFailed([{ field: "oldPassword", message }]);
}
