// A service for tests: a cheap hasher, a clock that can be moved, a mailbox, on a store of its own in a temporary
// folder, mounted at TEST_MOUNT in an Express app. A test closes what it opened.
import { createHash, timingSafeEqual } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express, { type Express } from "express";
import { createRecordsService, type Mail, type PasswordHasher, type RecordsService, type RecordsServiceOptions } from "../../lib/index.js";
import { databaseOf, withDatabase } from "./mongo-url.js";

/** A hasher that costs nothing, for tests where hashing is not the point. */
export const cheapHasher: PasswordHasher = {
  hash: async (password) => `$cheap$${createHash("sha256").update(password).digest("hex")}`,
  verify: async (stored, password) => {
    const hash = Buffer.from(`$cheap$${createHash("sha256").update(password).digest("hex")}`);
    const known = Buffer.from(stored);
    return hash.length === known.length && timingSafeEqual(hash, known);
  },
  needsRehash: () => false,
};

/** Real time plus what a test has added. */
export class TestClock {
  #ahead = 0;
  now(): number {
    return Date.now() + this.#ahead;
  }
  /** @param ms milliseconds */
  advance(ms: number): void {
    this.#ahead += ms;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed where it is JSON, else the text. */
  readonly body: any;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface RequestOptions {
  /** Bearer credential. */
  readonly token?: string | undefined;
  /** Slug for `X-Tenant`. */
  readonly tenant?: string | undefined;
  /** An object is sent as JSON; text and bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The local address to connect from, such as 127.0.0.2. */
  readonly localAddress?: string;
}

export interface TestTenant {
  readonly id: string;
  readonly slug: string;
}

export interface TestUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
  readonly refreshToken: string;
}

export interface TestService {
  /** Base address, mount path included. */
  readonly url: string;
  readonly app: Express;
  readonly service: RecordsService;
  readonly clock: TestClock;
  readonly mails: Mail[];
  readonly folder: string;
  /** Log lines: level, fields, message. */
  readonly logged: { level: string; fields: Record<string, unknown>; message: string }[];
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A bearer admin token; the superadmin is set up on first use. */
  superadminToken(): Promise<string>;
  /** A request to the meta API or the data plane as the superadmin. */
  meta(method: string, path: string, body?: unknown): Promise<Answer>;
  createTenant(slug?: string): Promise<TestTenant>;
  createCollection(tenant: TestTenant, definition: object): Promise<Answer["body"]>;
  /** Makes an account by the superadmin's editor and signs it in. */
  signUp(tenant: TestTenant, username: string, more?: object): Promise<TestUser>;
  login(tenant: TestTenant, username: string, password?: string): Promise<Answer>;
  close(): Promise<void>;
}

export const testPassword = "correct horse battery";

export interface StartOptions extends RecordsServiceOptions {
  /** Routes and parsers of the host, before the service. */
  readonly host?: (app: Express) => void;
  /** Kept after close, for a second service on the same folder. */
  readonly folder?: string;
}

export async function startService({ host, folder: given, ...options }: StartOptions = {}): Promise<TestService> {
  const mount = process.env["TEST_MOUNT"] ?? "";
  const folder = given ?? (await mkdtemp(join(tmpdir(), "records-test-")));
  const clock = new TestClock();
  const mails: Mail[] = [];
  const logged: TestService["logged"] = [];
  const log = (level: string) => (fields: object, message: string) => {
    logged.push({ level, fields: fields as Record<string, unknown>, message });
    // TEST_LOG shows what a failing test's service had to say.
    if (level === "error" && process.env["TEST_LOG"] !== undefined) console.error(message, fields);
  };
  const service = createRecordsService({
    ...storageOf(folder),
    hasher: cheapHasher,
    clock,
    mailer: { send: async (mail) => void mails.push(mail) },
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    ...options,
  });
  const app = express();
  host?.(app);
  app.use(mount === "" ? "/" : mount, service);
  // The listener of its own, without Express around it, as the standalone server has it.
  const ownListener = process.env["TEST_OWN_LISTENER"] !== undefined && mount === "" && host === undefined;
  const server = createServer(ownListener ? service : app);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  await service.ready();
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${mount}`;
  let admin: Promise<string> | undefined;

  const request = (method: string, path: string, requestOptions: RequestOptions = {}) => send(`${url}${path}`, method, requestOptions);

  async function setUp(): Promise<string> {
    const { token } = await service.createSetupToken();
    const credentials = { username: "root", password: testPassword };
    await demand(201, request("POST", "/api/admin/setup", { body: { token, ...credentials } }));
    const answer = await demand(200, request("POST", "/api/admin/token", { body: credentials }));
    return answer.body.accessToken as string;
  }

  const superadminToken = () => (admin ??= setUp());
  const meta: TestService["meta"] = async (method, path, body) => request(method, path, { token: await superadminToken(), body });
  const login: TestService["login"] = (tenant, username, password = testPassword) => request("POST", "/api/auth/login", { body: { tenant: tenant.slug, username, password } });
  let tenants = 0;

  return {
    url, app, service, clock, mails, folder, logged, request, superadminToken, meta, login,
    async createTenant(slug = `t${(tenants += 1)}`) {
      return (await demand(201, meta("POST", "/api/meta/tenants", { slug }))).body as TestTenant;
    },
    async createCollection(tenant, definition) {
      return (await demand(201, meta("POST", `/api/meta/tenants/${tenant.id}/collections`, definition))).body;
    },
    async signUp(tenant, username, more = {}) {
      const user = await demand(201, meta("POST", `/api/meta/tenants/${tenant.id}/users`, { username, password: testPassword, ...more }));
      const pair = await demand(200, login(tenant, username));
      return { id: user.body.id, username, password: testPassword, token: pair.body.accessToken, refreshToken: pair.body.refreshToken };
    },
    async close() {
      await service.close();
      await closeServer(server);
      if (given === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The store in the folder, or where TEST_STORAGE names a MongoDB server, a database there that is named after the folder
 * and the database in the URL.
 * Files stay in the folder, where tests look for them.
 */
export function storageOf(folder: string): Pick<RecordsServiceOptions, "storage" | "secrets" | "files"> {
  const url = process.env["TEST_STORAGE"];
  if (url === undefined || url === "") return { storage: folder };
  const name = `${databaseOf(url)}t${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
  return { storage: withDatabase(url, name), files: join(folder, "files"), secrets: secretsOf("test") };
}

/** Secrets that are always the same for the same seed. */
export function secretsOf(seed: string): NonNullable<RecordsServiceOptions["secrets"]> {
  const secret = (of: string): string => createHash("sha256").update(`${seed} ${of}`).digest("hex");
  return Object.fromEntries(["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"].map((each) => [each, secret(each)]));
}

/** The answer, where it has the status; an error that shows the body otherwise. */
export async function demand(status: number, answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  if (got.status !== status) throw new Error(`expected ${status}, got ${got.status}: ${got.text}`);
  return got;
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** One request on a connection of its own. */
export function send(url: string, method: string, { token, tenant, body, headers = {}, localAddress }: RequestOptions = {}): Promise<Answer> {
  const isJson = body !== undefined && typeof body !== "string" && !Buffer.isBuffer(body);
  const payload = body === undefined ? undefined : isJson ? Buffer.from(JSON.stringify(body)) : Buffer.from(body as string | Buffer);
  return new Promise((resolve, reject) => {
    const req = httpRequest(url, {
      method,
      agent: false,
      ...(localAddress === undefined ? {} : { localAddress }),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(tenant === undefined ? {} : { "x-tenant": tenant }),
        ...(isJson ? { "content-type": "application/json" } : {}),
        ...(payload === undefined ? {} : { "content-length": String(payload.length) }),
        ...headers,
      },
    }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const text = bytes.toString("utf8");
        const json = (res.headers["content-type"] ?? "").startsWith("application/json");
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: json && text !== "" ? JSON.parse(text) : text, text, bytes });
      });
    });
    req.on("error", reject);
    req.end(payload);
  });
}
