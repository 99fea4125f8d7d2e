// The routes of /api/admin: setup, sign-in, sign-out and the superadmin's own account (contract 9).
import type { IncomingMessage } from "node:http";
import type { Admin, AdminIdentity } from "../admin/admin.js";
import { changesState, isOwnSite } from "../admin/own-site.js";
import { attemptSeconds, sessionSeconds } from "../admin/sessions.js";
import { CredentialRejected, Forbidden } from "../core/errors.js";
import type { Exchange, Handler, Reply } from "./exchange.js";

const noStore = { "Cache-Control": "no-store" } as const;

export type AdminRoutes = Readonly<Record<
  "setup" | "login" | "loginCode" | "token" | "tokenCode" | "me" | "logout" | "password" | "enrol" | "confirm" | "disable",
  Handler
>>;

/** Throws Forbidden where a request that changes state came with a cookie, but not from a page of this site. */
function demandOwnSite({ req }: Pick<Exchange, "req">): void {
  if (changesState(req.method ?? "GET") && !isOwnSite(req.headers)) {
    throw new Forbidden("A request with the session cookie must come from this site: send Origin or Sec-Fetch-Site");
  }
}

export function createAdminRoutes({ admin }: { readonly admin: Admin }): AdminRoutes {
  const { session, attempt } = admin.cookies;

  /** Begins a session; the attempt that led to it, where there was one, is forgotten. */
  async function signedIn(exchange: Exchange, generation: number, body: object | null): Promise<Reply> {
    const { req, facts: { mountPath } } = exchange;
    const secret = await admin.startSession(generation);
    const forgotten = attempt.read(req.headers.cookie).present ? [attempt.clear(mountPath)] : [];
    const headers = { ...noStore, "Set-Cookie": [session.set(secret, mountPath, sessionSeconds), ...forgotten] };
    return body === null ? { status: 204, headers } : { status: 200, headers, json: body };
  }

  return {
    async setup(exchange) {
      const { username } = await admin.setup(await exchange.json());
      return { status: 201, headers: noStore, json: { username, twoFactorEnabled: false } };
    },

    async login(exchange) {
      const step = await admin.signIn.password("session", await exchange.json());
      if (!step.twoFactorRequired) return signedIn(exchange, step.generation, { twoFactorRequired: false });
      const cookie = attempt.set(step.attempt, exchange.facts.mountPath, attemptSeconds);
      return { status: 200, headers: { ...noStore, "Set-Cookie": cookie }, json: { twoFactorRequired: true } };
    },

    async loginCode(exchange) {
      const { code } = await exchange.json();
      const { present, secrets } = attempt.read(exchange.req.headers.cookie);
      if (present) demandOwnSite(exchange);
      return signedIn(exchange, await admin.signIn.code("session", secrets, code), { twoFactorRequired: false });
    },

    async token(exchange) {
      const step = await admin.signIn.password("token", await exchange.json());
      const json = step.twoFactorRequired ? { twoFactorRequired: true, twoFactorToken: step.attempt } : admin.issueToken(step.generation);
      return { status: 200, headers: noStore, json };
    },

    async tokenCode(exchange) {
      const { twoFactorToken, code } = await exchange.json();
      const attempts = typeof twoFactorToken === "string" && twoFactorToken.length <= 128 ? [twoFactorToken] : [];
      return { status: 200, headers: noStore, json: admin.issueToken(await admin.signIn.code("token", attempts, code)) };
    },

    async me(exchange) {
      await exchange.superadmin();
      return { status: 200, headers: noStore, json: await admin.me() };
    },

    async logout(exchange) {
      await exchange.superadmin();
      const { mountPath } = exchange.facts;
      const identity = await cookieIdentity(exchange);
      if (identity === undefined) await admin.endAll();
      else await admin.endSession(identity);
      return { status: 204, headers: { ...noStore, "Set-Cookie": [session.clear(mountPath), attempt.clear(mountPath)] } };
    },

    async password(exchange) {
      await exchange.superadmin();
      const identity = await cookieIdentity(exchange);
      const generation = await admin.changePassword(await exchange.json());
      // The browser that made the change stays signed in; every other session and every token has ended.
      return identity === undefined ? { status: 204, headers: noStore } : signedIn(exchange, generation, null);
    },

    async enrol(exchange) {
      await exchange.superadmin();
      return { status: 200, headers: noStore, json: await admin.enrolSecondFactor(await exchange.json()) };
    },

    async confirm(exchange) {
      await exchange.superadmin();
      await admin.confirmSecondFactor(await exchange.json());
      return { status: 204, headers: noStore };
    },

    async disable(exchange) {
      await exchange.superadmin();
      await admin.disableSecondFactor(await exchange.json());
      return { status: 204, headers: noStore };
    },
  };

  /** The session that the request came with; undefined where it came with a token. */
  async function cookieIdentity({ req }: Exchange): Promise<string | undefined> {
    if (req.headers.authorization !== undefined) return undefined;
    return (await admin.verifySession(req.headers.cookie))?.sessionId ?? undefined;
  }
}

/**
 * Who a request's session cookie stands for; undefined without one, or where it is no longer good: a browser goes on
 * sending it. Throws Forbidden where the request changes state and does not come from this site.
 */
export async function cookieSession(admin: Pick<Admin, "verifySession">, req: IncomingMessage): Promise<AdminIdentity | undefined> {
  let identity: AdminIdentity | undefined;
  try {
    identity = await admin.verifySession(req.headers.cookie);
  } catch (error) {
    if (!(error instanceof CredentialRejected)) throw error;
  }
  if (identity !== undefined) demandOwnSite({ req });
  return identity;
}
