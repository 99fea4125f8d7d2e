// Session: the token pair of the signed-in user, kept in the given storage and refreshed before it ends. Several tabs may
// share one storage: a pair that another tab has refreshed is taken over, never refreshed twice.
import { RecordsError } from "./errors.js";

/** What a session is kept in; `localStorage` and `sessionStorage` are. */
export interface SessionStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly tokenType: "Bearer";
  /** Seconds. */
  readonly expiresIn: number;
}

interface StoredPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch, by this machine's clock. */
  readonly expiresAt: number;
  /** When it is time for another one. */
  readonly refreshAt: number;
}

export interface SessionDeps {
  readonly storage: SessionStorage;
  /** Under which name the pair is kept. */
  readonly key: string;
  /** Asks the service for a new pair. Throws RecordsError 401 where the refresh token is no longer good. */
  readonly refresh: (refreshToken: string) => Promise<TokenPair>;
}

export interface Session {
  /** The access token, refreshed where it is about to end; undefined where nobody is signed in. */
  token(): Promise<string | undefined>;
  /** A token in place of one that was refused; undefined where there is none. Only one refresh runs at a time. */
  renew(refused: string): Promise<string | undefined>;
  /** When the access token ends, milliseconds since the epoch; null where nobody is signed in. */
  expiresAt(): number | null;
  start(pair: TokenPair): void;
  end(): void;
  readonly isSignedIn: boolean;
  /** Called when somebody signs in or the session ends. Returns the function that ends it. */
  onChange(listener: (isSignedIn: boolean) => void): () => void;
}

/** Milliseconds before its end at which a token is refreshed, at most a tenth of its life. */
const margin = 10_000;

export function createSession({ storage, key, refresh }: SessionDeps): Session {
  const listeners = new Set<(isSignedIn: boolean) => void>();
  let refreshing: Promise<StoredPair | undefined> | undefined;

  function read(): StoredPair | undefined {
    const text = storage.getItem(key);
    if (text === null) return undefined;
    try {
      const pair = JSON.parse(text) as StoredPair;
      return typeof pair.accessToken === "string" && typeof pair.refreshToken === "string" ? pair : undefined;
    } catch {
      return undefined;
    }
  }

  function write({ accessToken, refreshToken, expiresIn }: TokenPair): StoredPair {
    const lifetime = expiresIn * 1000;
    const expiresAt = Date.now() + lifetime;
    const pair = { accessToken, refreshToken, expiresAt, refreshAt: expiresAt - Math.min(margin, lifetime / 10) };
    storage.setItem(key, JSON.stringify(pair));
    return pair;
  }

  function tell(isSignedIn: boolean): void {
    for (const listener of [...listeners]) listener(isSignedIn);
  }

  function end(): void {
    const was = read() !== undefined;
    storage.removeItem(key);
    if (was) tell(false);
  }

  /** A pair with another access token than this one. */
  async function replace(stale: string): Promise<StoredPair | undefined> {
    const pair = read();
    // Another tab was faster.
    if (pair === undefined || pair.accessToken !== stale) return pair;
    try {
      const fresh = await refresh(pair.refreshToken);
      // Signed out, or in as somebody else, while the answer was on its way.
      return read()?.refreshToken === pair.refreshToken ? write(fresh) : read();
    } catch (error) {
      if (!(error instanceof RecordsError) || error.status !== 401) throw error;
      const now = read();
      if (now !== undefined && now.refreshToken !== pair.refreshToken) return now;
      end();
      return undefined;
    }
  }

  function replaceOnce(stale: string): Promise<StoredPair | undefined> {
    refreshing ??= exclusively(key, () => replace(stale)).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  return {
    async token() {
      const pair = read();
      if (pair === undefined || Date.now() < pair.refreshAt) return pair?.accessToken;
      return (await replaceOnce(pair.accessToken))?.accessToken;
    },
    async renew(refused) {
      const pair = read();
      if (pair === undefined || pair.accessToken !== refused) return pair?.accessToken;
      return (await replaceOnce(refused))?.accessToken;
    },
    expiresAt: () => read()?.expiresAt ?? null,
    start(pair) {
      write(pair);
      tell(true);
    },
    end,
    get isSignedIn() {
      return read() !== undefined;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A session that ends with the program. */
export function createMemoryStorage(): SessionStorage {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

interface LockManager {
  request<T>(name: string, run: () => Promise<T>): Promise<T>;
}

/** One after another over all tabs, where the browser has locks. */
function exclusively<T>(key: string, run: () => Promise<T>): Promise<T> {
  const locks = (globalThis as { navigator?: { locks?: LockManager } }).navigator?.locks;
  return locks === undefined ? run() : locks.request(key, run);
}
