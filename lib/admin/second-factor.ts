// The superadmin's second factor: enrolment, its end, and the check of a code at sign-in.
import { timestamp, type Clock } from "../core/clock.js";
import { Conflict, ServiceError, ValidationFailed } from "../core/errors.js";
import type { JsonObject } from "../core/record.js";
import { number } from "../storage/filter.js";
import { ConditionMissed, type Operation, type Storage, type Update } from "../storage/storage.js";
import type { PasswordProof } from "./password.js";
import { createRecoveryCodes } from "./recovery-codes.js";
import { createSeal } from "./sealed.js";
import { readSuperadmin, superadminId, superadminTable, type Superadmin } from "./superadmin.js";
import { newTotpSecret, totpStep, totpUri } from "./totp.js";

/** Wrong codes over all attempts, before the second factor rests. Whoever gets this far knows the password. */
const mostFailures = 50;
const restMs = 15 * 60_000;

export interface Enrolment {
  /** Base32. */
  readonly secret: string;
  /** `otpauth://`, for a QR code. */
  readonly uri: string;
  /** Each works once, in place of a code. Never shown again. */
  readonly recoveryCodes: readonly string[];
}

export interface SecondFactor {
  /** Begins an enrolment; nothing is asked at sign-in before it is confirmed. Throws ValidationFailed, Conflict where it is on, TooManyRequests. */
  enrol(superadmin: Superadmin, input: JsonObject): Promise<Enrolment>;
  /** Turns it on with the first code. Throws ValidationFailed for `code`, Conflict where no enrolment is under way. */
  confirm(superadmin: Superadmin, input: JsonObject): Promise<void>;
  /** Turns it off. Throws ValidationFailed for `password`, TooManyRequests. */
  disable(superadmin: Superadmin, input: JsonObject): Promise<void>;
  /** How many recovery codes are left. */
  recoveryCodesLeft(superadmin: Superadmin): number;
  /**
   * Whether the code is right, and uses it up, together with `alongside` in one unit. 429 while the second factor
   * rests after too many wrong codes.
   */
  take(code: string, alongside: readonly Operation[]): Promise<boolean>;
}

export function createSecondFactor(deps: {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly proof: PasswordProof;
  readonly applicationSecret: string;
}): SecondFactor {
  const { storage, clock, proof } = deps;
  const seal = createSeal(deps.applicationSecret, "totp secret");
  const recovery = createRecoveryCodes(deps.applicationSecret);

  const change = (parts: Pick<Update, "set" | "setHidden" | "where" | "hiddenIs">): Update => ({ type: "update", table: superadminTable, id: superadminId, ...parts });

  /** Writes, and tells whether the row was still as the change demands. */
  async function attempt(operations: readonly Operation[]): Promise<boolean> {
    try {
      await storage.system.write({ operations });
      return true;
    } catch (error) {
      if (error instanceof ConditionMissed) return false;
      throw error;
    }
  }

  /** What using the code up changes; undefined where it is wrong. */
  function use(superadmin: Superadmin, code: string): Update | undefined {
    const typed = code.replace(/\s/g, "");
    const secret = superadmin.totpSecret === null ? undefined : seal.open(superadmin.totpSecret);
    const step = secret === undefined ? undefined : totpStep(secret, typed, clock.now());
    if (step !== undefined) {
      if (step <= superadmin.totpStep) return undefined;
      return change({
        where: { op: "less", left: number("totpStep"), right: { value: step }, orEqual: false },
        hiddenIs: { totpSecret: superadmin.totpSecret },
        set: { totpStep: step },
        setHidden: { codeFailures: 0 },
      });
    }
    const hashes = readHashes(superadmin.recoveryHashes);
    const hash = recovery.hash(typed);
    if (hash === undefined || !hashes.includes(hash)) return undefined;
    return change({
      hiddenIs: { recoveryHashes: superadmin.recoveryHashes },
      setHidden: { recoveryHashes: JSON.stringify(hashes.filter((other) => other !== hash)), codeFailures: 0 },
    });
  }

  async function countFailure(superadmin: Superadmin): Promise<void> {
    const now = clock.now();
    if (superadmin.codeFailures === 0 || now - superadmin.codeFailuresSince > restMs) {
      await storage.system.write({ operations: [change({ setHidden: { codeFailures: 1, codeFailuresSince: now } })] });
    } else {
      await storage.system.write({ operations: [{ ...change({}), increment: { codeFailures: 1 } }] });
    }
  }

  return {
    async enrol(superadmin, input) {
      await proof.demand(superadmin, input["password"]);
      if (superadmin.twoFactorEnabled) throw new Conflict("The second factor is on: turn it off first");
      const secret = newTotpSecret();
      const recoveryCodes = recovery.create();
      const hashes = recoveryCodes.map((code) => recovery.hash(code)!);
      const done = await attempt([change({
        hiddenIs: { generation: superadmin.generation, totpSecret: null },
        setHidden: { pendingTotpSecret: seal.seal(secret), pendingRecoveryHashes: JSON.stringify(hashes) },
      })]);
      if (!done) throw new Conflict("The superadmin has changed meanwhile: try again");
      return { secret, uri: totpUri(secret, superadmin.username), recoveryCodes };
    },

    async confirm(superadmin, input) {
      if (superadmin.twoFactorEnabled) throw new Conflict("The second factor is on already");
      if (superadmin.pendingTotpSecret === null) throw new Conflict("No enrolment is under way: begin with POST /api/admin/2fa");
      const { code } = input;
      const secret = seal.open(superadmin.pendingTotpSecret);
      const step = typeof code === "string" && secret !== undefined ? totpStep(secret, code.replace(/\s/g, ""), clock.now()) : undefined;
      if (step === undefined) throw new ValidationFailed([{ field: "code", message: "is not the code that the authenticator shows" }]);
      const done = await attempt([change({
        hiddenIs: { pendingTotpSecret: superadmin.pendingTotpSecret, generation: superadmin.generation },
        set: { twoFactorEnabled: true, totpStep: step, updatedAt: timestamp(clock) },
        setHidden: {
          totpSecret: superadmin.pendingTotpSecret,
          recoveryHashes: superadmin.pendingRecoveryHashes,
          pendingTotpSecret: null,
          pendingRecoveryHashes: null,
          codeFailures: 0,
        },
      })]);
      if (!done) throw new Conflict("The superadmin has changed meanwhile: try again");
    },

    async disable(superadmin, input) {
      await proof.demand(superadmin, input["password"]);
      const done = await attempt([change({
        hiddenIs: { generation: superadmin.generation },
        set: { twoFactorEnabled: false, updatedAt: timestamp(clock) },
        setHidden: { totpSecret: null, recoveryHashes: null, pendingTotpSecret: null, pendingRecoveryHashes: null, codeFailures: 0 },
      })]);
      if (!done) throw new Conflict("The superadmin has changed meanwhile: try again");
    },

    recoveryCodesLeft: (superadmin) => readHashes(superadmin.recoveryHashes).length,

    async take(code, alongside) {
      // Another code may be used in the same moment; the row is then read again, and a used code is a wrong one.
      for (let round = 0; round < 5; round += 1) {
        const superadmin = await readSuperadmin(storage);
        if (superadmin === undefined || !superadmin.twoFactorEnabled) return false;
        const rests = superadmin.codeFailures >= mostFailures ? superadmin.codeFailuresSince + restMs - clock.now() : 0;
        if (rests > 0) throw tooManyCodes(rests);
        const used = use(superadmin, code);
        if (used === undefined) {
          await countFailure(superadmin);
          return false;
        }
        if (await attempt([used, ...alongside])) return true;
      }
      return false;
    },
  };
}

function readHashes(text: string | null): string[] {
  return text === null ? [] : (JSON.parse(text) as string[]);
}

function tooManyCodes(ms: number): ServiceError {
  return new ServiceError(429, "Too many requests", { headers: { "Retry-After": String(Math.ceil(ms / 1000)) } });
}
