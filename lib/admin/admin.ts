// The front door of admin/: the single superadmin, his setup, sign-in, sessions, tokens and second factor.
import type { Tokens } from "../auth/tokens.js";
import type { Caller } from "../core/call.js";
import { timestamp, type Clock } from "../core/clock.js";
import { Conflict, CredentialRejected, Unauthorized, ValidationFailed } from "../core/errors.js";
import { newSecret } from "../core/ids.js";
import type { JsonObject } from "../core/record.js";
import type { PasswordHasher } from "../hasher/hasher.js";
import { ConditionMissed, type Storage } from "../storage/storage.js";
import { createAdminCookie, type AdminCookie } from "./cookies.js";
import { checkPassword, createPasswordProof, type PasswordCheck } from "./password.js";
import { createSeal } from "./sealed.js";
import { createSecondFactor, type Enrolment } from "./second-factor.js";
import { createSessions } from "./sessions.js";
import { createSetup, type Setup } from "./setup.js";
import { createSignIn, type SignIn } from "./sign-in.js";
import { readSuperadmin, superadminId, superadminLog, superadminTable, type Superadmin } from "./superadmin.js";

export interface AdminDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Behind the service's hashing slots. */
  readonly hasher: PasswordHasher;
  /** What is wrong with a new password, as users/ says it. */
  readonly passwordErrors: PasswordCheck;
  /** A hash with the current parameters, verified where there is no superadmin. @default made at first need */
  readonly dummyHash?: (() => Promise<string>) | undefined;
  /** Each at least 64 hex characters. */
  readonly secrets: { readonly application: string; readonly sessionCookie: string; readonly authenticationCookie: string };
  readonly mode: "dev" | "prod";
  readonly tokens: Pick<Tokens, "sign" | "verify">;
  /** Lifetime of an admin token, seconds. */
  readonly tokenTtl: number;
}

/** A superadmin who has proven himself. */
export interface AdminIdentity {
  readonly caller: Extract<Caller, { type: "superadmin" }>;
  /** The session that he came with; null where he came with a token. */
  readonly sessionId: string | null;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface AdminToken {
  readonly accessToken: string;
  readonly tokenType: "Bearer";
  /** Seconds. */
  readonly expiresIn: number;
}

export interface AdminProfile {
  readonly username: string;
  readonly twoFactorEnabled: boolean;
  readonly recoveryCodesLeft: number;
  readonly createdAt: string;
}

export interface Admin extends Setup {
  readonly signIn: SignIn;
  readonly cookies: { readonly session: AdminCookie; readonly attempt: AdminCookie };
  /** False until the first setup. */
  hasSuperadmin(): Promise<boolean>;
  /** A bearer token for the superadmin of this generation. */
  issueToken(generation: number): AdminToken;
  /** Begins a session; resolves to the secret for the session cookie. */
  startSession(generation: number): Promise<string>;
  /** Throws CredentialRejected. */
  verifyToken(token: string): Promise<AdminIdentity>;
  /** undefined where the header carries no session cookie. Throws CredentialRejected where it carries none that holds. */
  verifySession(cookieHeader: string | undefined): Promise<AdminIdentity | undefined>;
  /** Ends a session. Harmless where it is gone. */
  endSession(sessionId: string): Promise<void>;
  /** Ends every session and every token: a token has no end of its own but its expiry. */
  endAll(): Promise<void>;
  me(): Promise<AdminProfile>;
  /**
   * Ends every session and token made before; resolves to the new generation. Throws ValidationFailed for `password`
   * (wrong) or `newPassword`, TooManyRequests.
   */
  changePassword(input: JsonObject): Promise<number>;
  /** See SecondFactor.enrol, confirm, disable. */
  enrolSecondFactor(input: JsonObject): Promise<Enrolment>;
  confirmSecondFactor(input: JsonObject): Promise<void>;
  disableSecondFactor(input: JsonObject): Promise<void>;
}

const caller = { type: "superadmin", id: superadminId } as const;

export function createAdmin(deps: AdminDeps): Admin {
  const { storage, clock, hasher, passwordErrors, secrets, tokens, tokenTtl } = deps;
  const secure = deps.mode === "prod";
  const proof = createPasswordProof(hasher, deps.dummyHash ?? onceMade(() => hasher.hash(newSecret())));
  const sessions = createSessions({ storage, clock });
  const secondFactor = createSecondFactor({ storage, clock, proof, applicationSecret: secrets.application });
  const setup = createSetup({ storage, clock, hasher, passwordErrors, sessions });
  const cookies = {
    session: createAdminCookie("records_session", createSeal(secrets.sessionCookie, "session cookie"), secure),
    attempt: createAdminCookie("records_attempt", createSeal(secrets.authenticationCookie, "authentication cookie"), secure),
  };

  async function superadmin(): Promise<Superadmin> {
    const found = await readSuperadmin(storage);
    if (found === undefined) throw new Unauthorized();
    return found;
  }

  return {
    ...setup,
    cookies,
    signIn: createSignIn({ storage, clock, hasher, proof, sessions, secondFactor }),
    hasSuperadmin: async () => (await readSuperadmin(storage)) !== undefined,

    issueToken: (generation) => ({
      accessToken: tokens.sign("admin", { subject: superadminId, tenantId: null, generation, familyId: null }, tokenTtl),
      tokenType: "Bearer",
      expiresIn: tokenTtl,
    }),
    startSession: (generation) => sessions.start("session", generation),

    async verifyToken(token) {
      const claims = tokens.verify("admin", token);
      const found = await readSuperadmin(storage);
      if (found === undefined || claims.subject !== superadminId) throw new CredentialRejected("unknown");
      if (claims.generation !== found.generation) throw new CredentialRejected("revoked");
      return { caller, sessionId: null, expiresAt: claims.expiresAt };
    },

    async verifySession(cookieHeader) {
      const { present, secrets: found } = cookies.session.read(cookieHeader);
      if (!present) return undefined;
      for (const secret of found) {
        const session = await sessions.find("session", secret);
        if (session === undefined) continue;
        const current = await readSuperadmin(storage);
        if (current?.generation === session.generation) return { caller, sessionId: session.id, expiresAt: session.expiresAt };
      }
      throw new CredentialRejected("unknown");
    },
    endSession: (sessionId) => sessions.end(sessionId),
    async endAll() {
      await storage.system.write({
        operations: [{ type: "update", table: superadminTable, id: superadminId, increment: { generation: 1 }, log: superadminLog, optional: true }],
      });
      await sessions.endAll();
    },

    async me() {
      const current = await superadmin();
      const { username, twoFactorEnabled, createdAt } = current;
      return { username, twoFactorEnabled, recoveryCodesLeft: secondFactor.recoveryCodesLeft(current), createdAt };
    },

    async changePassword(input) {
      const current = await superadmin();
      const entries = checkPassword(passwordErrors, "newPassword", input["newPassword"]);
      if (entries.length > 0) throw new ValidationFailed(entries);
      await proof.demand(current, input["password"]);
      const passwordHash = await hasher.hash(input["newPassword"] as string);
      try {
        await storage.system.write({
          operations: [{
            type: "update", table: superadminTable, id: superadminId, log: superadminLog,
            hiddenIs: { passwordHash: current.passwordHash, generation: current.generation },
            set: { updatedAt: timestamp(clock) },
            setHidden: { passwordHash, pendingTotpSecret: null, pendingRecoveryHashes: null },
            increment: { generation: 1 },
          }],
        });
      } catch (error) {
        if (error instanceof ConditionMissed) throw new Conflict("The superadmin has changed meanwhile: try again");
        throw error;
      }
      await sessions.endAll();
      return current.generation + 1;
    },

    enrolSecondFactor: async (input) => secondFactor.enrol(await superadmin(), input),
    confirmSecondFactor: async (input) => secondFactor.confirm(await superadmin(), input),
    disableSecondFactor: async (input) => secondFactor.disable(await superadmin(), input),
  };
}

/** Calls the maker once; after a failure, again at the next call. */
function onceMade(make: () => Promise<string>): () => Promise<string> {
  let made: Promise<string> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
