// Who is signed in. A session that runs out while somebody works is asked for in a dialog above the screen.
import { signal } from "./signal.js";
import { ApiError, onSessionExpired } from "../api/http.js";
import { admin } from "../api/service.js";
import type { Superadmin } from "../api/types.js";

export type Session =
  | { readonly state: "unknown" }
  | { readonly state: "signedOut" }
  | { readonly state: "unreachable"; readonly message: string }
  | { readonly state: "signedIn"; readonly superadmin: Superadmin };

export const session = signal<Session>({ state: "unknown" });
/** Set while a session that ran out is asked for again. */
export const expired = signal<{ readonly resolve: () => void; readonly reject: (error: unknown) => void } | null>(null);
let waiting: Promise<void> | null = null;

/** Asks the service who is signed in. */
export async function loadSession(): Promise<void> {
  try {
    session.value = { state: "signedIn", superadmin: await admin.me() };
  } catch (error) {
    session.value = error instanceof ApiError && error.status !== 401
      ? { state: "unreachable", message: error.message }
      : { state: "signedOut" };
  }
}

/** Called once the credentials were taken. */
export async function signedIn(): Promise<void> {
  await loadSession();
  if (session.value.state !== "signedIn") return;
  expired.value?.resolve();
  expired.value = null;
  waiting = null;
}

export async function signOut(): Promise<void> {
  try {
    await admin.logout();
  } finally {
    session.value = { state: "signedOut" };
  }
}

/** Ends the wait for a new session: the requests that wait fail, and the sign-in page comes. */
export function giveUpSession(): void {
  expired.value?.reject(new ApiError(401, "The session has ended"));
  expired.value = null;
  waiting = null;
  session.value = { state: "signedOut" };
}

onSessionExpired(() => {
  if (session.value.state !== "signedIn") {
    session.value = { state: "signedOut" };
    return Promise.reject(new ApiError(401, "Sign in first"));
  }
  waiting ??= new Promise<void>((resolve, reject) => {
    expired.value = { resolve, reject };
  });
  return waiting;
});
