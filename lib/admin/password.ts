// The superadmin's user name and password: what they may be, and how the password is proven.
import { ValidationFailed, type FieldError } from "../core/errors.js";
import { equalInConstantTime } from "../core/ids.js";
import type { Json } from "../core/record.js";
import type { PasswordHasher } from "../hasher/hasher.js";
import { hasBrokenText } from "../schema/texts.js";
import type { Superadmin } from "./superadmin.js";

const longestUsername = 255;

/** Entries for a user name that cannot be taken. */
export function checkUsername(value: Json | undefined): FieldError[] {
  if (typeof value !== "string" || value.trim() === "") return [{ field: "username", message: "is required" }];
  if (value.length > longestUsername) return [{ field: "username", message: `must be at most ${longestUsername} characters long` }];
  if (/\p{Cc}/u.test(value) || hasBrokenText(value)) return [{ field: "username", message: "must be well-formed text without control characters" }];
  return [];
}

/** What is wrong with a new password, as entries of `password`: the same for users and the superadmin. */
export type PasswordCheck = (value: unknown) => FieldError[];

/** Entries for a new password that cannot be taken, under the name of the field that carries it. */
export function checkPassword(check: PasswordCheck, field: string, value: Json | undefined): FieldError[] {
  if (value === undefined || value === null || value === "") return [{ field, message: "is required" }];
  return check(value).map(({ message }) => ({ field, message }));
}

export interface PasswordProof {
  /**
   * Whether both are the superadmin's. Verifies exactly one hash in every case, so that time tells nothing.
   * Throws TooManyRequests where no hashing slot is free.
   */
  matches(superadmin: Superadmin | undefined, username: Json | undefined, password: Json | undefined): Promise<boolean>;
  /** Demands the superadmin's own password for a change. Throws ValidationFailed for `password`, TooManyRequests. */
  demand(superadmin: Superadmin, password: Json | undefined): Promise<void>;
}

/** @param dummyHash a hash with the current parameters, verified where there is no superadmin */
export function createPasswordProof(hasher: PasswordHasher, dummyHash: () => Promise<string>): PasswordProof {
  return {
    async matches(superadmin, username, password) {
      // Asked for in every case: making it takes a computation too.
      const dummy = await dummyHash();
      const stored = superadmin?.passwordHash ?? dummy;
      const right = await hasher.verify(stored, usable(password) ? password : "");
      const known = superadmin !== undefined && typeof username === "string" && equalInConstantTime(username, superadmin.username);
      return right && known && usable(password);
    },
    async demand(superadmin, password) {
      if (!usable(password)) throw new ValidationFailed([{ field: "password", message: "is required: the current password" }]);
      if (!(await hasher.verify(superadmin.passwordHash, password))) {
        throw new ValidationFailed([{ field: "password", message: "is not the current password" }]);
      }
    },
  };
}

function usable(password: Json | undefined): password is string {
  return typeof password === "string" && password !== "" && password.length <= 2048;
}
