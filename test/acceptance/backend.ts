// What an acceptance test works with: the standalone server as a process of its own, set up over HTTP alone, with a
// mailbox behind SMTP_* and a receiver for webhooks.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { runCommand, runExample, type Running } from "../support/example.js";
import { closeServer, demand, send, type Answer, type RequestOptions } from "../support/service.js";

/** Sixteen characters and more. */
export const password = "a password of some length";

export interface Account {
  readonly id: string;
  readonly username: string;
  readonly token: string;
  readonly refreshToken: string;
}

export interface Tenant {
  readonly id: string;
  readonly slug: string;
  /** A meta request below `/api/meta/tenants/{id}`. */
  meta(method: string, path: string, body?: unknown): Promise<Answer>;
  settings(change: object): Promise<Answer>;
  collection(definition: object): Promise<any>;
  /** Makes an account by the admin editor and signs it in. */
  account(username: string, more?: object): Promise<Account>;
  login(username: string, word?: string): Promise<Answer>;
  /** Makes an API key: the list entry and `key`. */
  key(definition: object): Promise<any>;
  hook(definition: object): Promise<any>;
}

export interface Backend {
  readonly url: string;
  readonly process: Running;
  call(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** A bearer admin token. */
  readonly adminToken: string;
  meta(method: string, path: string, body?: unknown): Promise<Answer>;
  tenant(slug: string): Promise<Tenant>;
  /** Ends the server, SIGTERM first. */
  stop(): Promise<void>;
}

export const superadmin = { username: "root", password };

/** What `npm start` runs. */
export function startProcess(env: Readonly<Record<string, string>> = {}, folder?: string): Promise<Running> {
  return runCommand(["start"], { env: { CONNECTOR_HTTP_PORT: "0", ...env }, ...(folder === undefined ? {} : { folder }) });
}

/** The standalone server of the examples. */
export function startStandaloneExample(env: Readonly<Record<string, string>> = {}): Promise<Running> {
  return runExample("examples/standalone/server.ts", { env: { CONNECTOR_HTTP_PORT: "0", ...env } });
}

export const listening = /^.*listening on (http:\/\/[^\s"]+)/m;
export const setupToken = /setup token: ([^\s"]+)/;

/** A server with a superadmin. */
export async function startBackend(env: Readonly<Record<string, string>> = {}): Promise<Backend> {
  const running = await startProcess(env);
  const url = await running.said(listening);
  await setUp(url, await running.said(setupToken));
  return connect(running, url);
}

export function setUp(url: string, token: string): Promise<Answer> {
  return demand(201, send(`${url}/api/admin/setup`, "POST", { body: { token, ...superadmin } }));
}

export async function connect(running: Running, url: string): Promise<Backend> {
  const call: Backend["call"] = (method, path, options) => patiently(() => send(`${url}${path}`, method, options));
  const adminToken = (await demand(200, call("POST", "/api/admin/token", { body: superadmin }))).body.accessToken as string;
  const meta: Backend["meta"] = (method, path, body) => call(method, path, { token: adminToken, body });
  return {
    url, process: running, call, adminToken, meta,
    async tenant(slug) {
      const { id } = (await demand(201, meta("POST", "/api/meta/tenants", { slug, name: slug }))).body;
      const at = `/api/meta/tenants/${id}`;
      const login: Tenant["login"] = (username, word = password) => call("POST", "/api/auth/login", { body: { tenant: slug, username, password: word } });
      return {
        id, slug, login,
        meta: (method, path, body) => meta(method, `${at}${path}`, body),
        settings: (change) => demand(200, meta("PATCH", `${at}/settings`, change)),
        collection: async (definition) => (await demand(201, meta("POST", `${at}/collections`, definition))).body,
        async account(username, more = {}) {
          const made = await demand(201, meta("POST", `${at}/users`, { username, password, ...more }));
          const pair = await demand(200, login(username, (more as { password?: string }).password));
          return { id: made.body.id, username, token: pair.body.accessToken, refreshToken: pair.body.refreshToken };
        },
        key: async (definition) => (await demand(201, meta("POST", `${at}/api-keys`, definition))).body,
        hook: async (definition) => (await demand(201, meta("POST", `${at}/hooks`, definition))).body,
      };
    },
    async stop() {
      await running.end();
      await running.remove();
    },
  };
}

/** The promise of 429 taken at its word: nothing was written, so a retry is safe. */
async function patiently(request: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await request();
    if (answer.status !== 429 || attempt === 10) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export interface ReceivedMail {
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly text: string;
}

export interface Mailbox {
  /** For the server's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly mails: readonly ReceivedMail[];
  /** The next mail that was not yet taken. */
  next(): Promise<ReceivedMail>;
  close(): Promise<void>;
}

export async function openMailbox(): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  const arrivals = queue<ReceivedMail>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => void PostalMime.parse(Buffer.concat(chunks)).then((parsed) => {
        const from = parsed.from as { address?: string; name?: string } | undefined;
        const to = parsed.to?.[0] as { address?: string } | undefined;
        const mail = { from: from?.address ?? "", fromName: from?.name ?? "", to: to?.address ?? "", text: `${parsed.text ?? ""}\n${parsed.html ?? ""}` };
        mails.push(mail);
        arrivals.put(mail);
        done();
      }, done));
    },
  });
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    env: { SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), SMTP_AUTHENTICATION: "false", SMTP_PROTOCOL: "smtp", SMTP_FROM: "service@example.org", SMTP_FROM_NAME: "The Service" },
    mails,
    next: arrivals.take,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  /** The envelope. */
  readonly body: any;
}

export interface Reply {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Never answers. */
  readonly hang?: boolean;
  /** Closes the connection without an answer. */
  readonly cut?: boolean;
}

export interface Receiver {
  readonly url: string;
  /** `host:port` for the allowlist. */
  readonly host: string;
  readonly deliveries: readonly Delivery[];
  /** What the path answers from now on. @default 200 without a body */
  answer(path: string, reply: Reply | ((delivery: Delivery) => Reply)): void;
  /** The next delivery to the path that was not yet taken. */
  next(path: string): Promise<Delivery>;
  to(path: string): readonly Delivery[];
  close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const answers = new Map<string, Reply | ((delivery: Delivery) => Reply)>();
  const arrivals = new Map<string, ReturnType<typeof queue<Delivery>>>();
  const at = (path: string) => arrivals.get(path) ?? arrivals.set(path, queue<Delivery>()).get(path)!;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const raw = Buffer.concat(chunks);
      const path = req.url ?? "";
      const delivery = { method: req.method ?? "", path, headers: req.headers, raw, body: raw.length === 0 ? null : JSON.parse(raw.toString("utf8")) };
      deliveries.push(delivery);
      const given = answers.get(path) ?? {};
      const reply = typeof given === "function" ? given(delivery) : given;
      at(path).put(delivery);
      if (reply.hang === true) return;
      if (reply.cut === true) return void req.socket.destroy();
      res.writeHead(reply.status ?? 200, { ...(reply.body === undefined ? {} : { "content-type": "application/json" }), ...reply.headers });
      res.end(reply.body === undefined ? undefined : typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`, host, deliveries,
    answer: (path, reply) => void answers.set(path, reply),
    next: (path) => at(path).take(),
    to: (path) => deliveries.filter((delivery) => delivery.path === path),
    close: () => closeServer(server),
  };
}

/** The header's value, computed as a receiver would. */
export function signature(secret: string, raw: Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`;
}

/** For what cannot be awaited: asks until it is so, and fails where it never is. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await new Promise((resolve) => setTimeout(resolve, 25))) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error("waited in vain");
}

function queue<T>() {
  const ready: T[] = [];
  const waiting: ((value: T) => void)[] = [];
  return {
    put(value: T): void {
      const first = waiting.shift();
      if (first === undefined) ready.push(value);
      else first(value);
    },
    take: (): Promise<T> => (ready.length > 0 ? Promise.resolve(ready.shift()!) : new Promise((resolve) => waiting.push(resolve))),
  };
}
