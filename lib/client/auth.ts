// Sign-in and everything about one's own account.
import type { Fields, Stored } from "./collection.js";
import type { Session, TokenPair } from "./session.js";
import type { Transport } from "./transport.js";

export interface Auth<U extends Fields = Fields> {
  /** Signs in; requests carry the session from now on. Throws RecordsError: 401 wrong, 403 unverified, 429 busy. */
  login(credentials: { readonly username: string; readonly password: string }): Promise<TokenPair>;
  /** Ends every session of the user, with `session` only this one. The client is signed out in any case. */
  logout(options?: { readonly scope?: "all" | "session" }): Promise<void>;
  /** Makes an account, where the tenant allows it. It is not signed in. */
  register(account: { readonly username: string; readonly password: string; readonly email?: string } & Partial<U>): Promise<Stored<U>>;
  /** The caller's own account. */
  me(): Promise<Stored<U>>;
  /** Refreshes now; elsewhere it happens by itself. Resolves to whether anybody is signed in. */
  refresh(): Promise<boolean>;
  /** Mails a link for a new password, where there is such an account. */
  forgotPassword(email: string): Promise<void>;
  resetPassword(token: string, password: string): Promise<void>;
  /** Mails a link that proves the address. */
  requestVerification(email: string): Promise<void>;
  confirmVerification(token: string): Promise<void>;
  /** A token pair of another user, where the caller is a token issuer. The client's own session stays. */
  issueToken(userId: string): Promise<TokenPair>;
  /** Goes on with a token pair that came from elsewhere. */
  use(pair: TokenPair): void;
  readonly isSignedIn: boolean;
  /** Called when somebody signs in, and when the session ends for whatever reason. Returns the function that ends it. */
  onChange(listener: (isSignedIn: boolean) => void): () => void;
}

export function createAuth<U extends Fields>(transport: Transport, session: Session, tenant: string | undefined): Auth<U> {
  const named = tenant === undefined ? {} : { tenant };
  return {
    async login(credentials) {
      const pair = await transport.json<TokenPair>("POST", "/api/auth/login", { anonymous: true, body: { ...named, ...credentials } });
      session.start(pair);
      return pair;
    },
    async logout({ scope = "all" } = {}) {
      try {
        await transport.send("POST", "/api/auth/logout", { body: { scope } });
      } finally {
        session.end();
      }
    },
    register: (account) => transport.json("POST", "/api/auth/register", { anonymous: true, body: { ...named, ...account } }),
    me: () => transport.json("GET", "/api/auth/me"),
    async refresh() {
      const token = await session.token();
      return token !== undefined && (await session.renew(token)) !== undefined;
    },
    async forgotPassword(email) {
      await transport.send("POST", "/api/auth/password/forgot", { anonymous: true, body: { ...named, email } });
    },
    async resetPassword(token, password) {
      await transport.send("POST", "/api/auth/password/reset", { anonymous: true, body: { token, password } });
    },
    async requestVerification(email) {
      await transport.send("POST", "/api/auth/verify/request", { anonymous: true, body: { ...named, email } });
    },
    async confirmVerification(token) {
      await transport.send("POST", "/api/auth/verify/confirm", { anonymous: true, body: { token } });
    },
    issueToken: (userId) => transport.json("POST", "/api/auth/issue-token", { body: { userId } }),
    use: (pair) => session.start(pair),
    get isSignedIn() {
      return session.isSignedIn;
    },
    onChange: (listener) => session.onChange(listener),
  };
}
