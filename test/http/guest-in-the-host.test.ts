// Contract 10, "A good guest in the host's app".
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGzip } from "node:zlib";
import { expect } from "chai";
import express, { type Express, type RequestHandler } from "express";
import { createRecordsService, type RecordsService } from "../../lib/index.js";
import { file, form, text } from "../support/multipart.js";
import { cheapHasher, closeServer, demand, send, testPassword } from "../support/service.js";

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const rules = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };

describe("a good guest in the host's app", () => {
  const folders: string[] = [];
  const services: RecordsService[] = [];
  const servers: Server[] = [];

  /** Serves all tests that need none of its own, each mounted in its own app. */
  let on: RecordsService;

  async function service(): Promise<RecordsService> {
    const folder = await mkdtemp(join(tmpdir(), "records-guest-"));
    folders.push(folder);
    const made = createRecordsService({ storage: folder, hasher: cheapHasher, logger: quiet });
    services.push(made);
    return made;
  }

  async function listen(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function fill(on: RecordsService, slug = "acme"): Promise<void> {
    await on.tenants.create({ slug });
    await on.tenant(slug).collections.create({ name: "notes", fields: [{ name: "title", type: "TEXT" }, { name: "file", type: "FILE" }], ...rules });
    await on.tenant(slug).users.create({ username: "anna", password: testPassword });
  }

  /** The main routes once: JSON in and out, a form, a login, errors. */
  async function works(url: string): Promise<void> {
    const at = `${url}/api/collections/notes`;
    const made = await demand(201, send(at, "POST", { tenant: "acme", body: { title: "grüße" } }));
    expect((await send(`${at}/${made.body.id}`, "GET", { tenant: "acme" })).body).to.deep.equal(made.body);
    expect((await demand(200, send(`${at}/${made.body.id}`, "PATCH", { tenant: "acme", body: { title: "x" } }))).body.title).to.equal("x");
    expect((await demand(200, send(`${at}?filter=title:eq:x&limit=1`, "GET", { tenant: "acme" }))).body.items).to.have.length(1);
    const { body, headers } = form(text("title", "with a file"), file("file", "content"));
    const uploaded = await demand(201, send(at, "POST", { tenant: "acme", body, headers }));
    const path = new URL(url).pathname.replace(/\/$/, "");
    expect(uploaded.body.file.url.startsWith(`${path}/api/collections/notes/`), uploaded.body.file.url).to.equal(true);
    expect((await send(new URL(uploaded.body.file.url, url).href, "GET", { tenant: "acme" })).text).to.equal("content");
    const pair = await demand(200, send(`${url}/api/auth/login`, "POST", { body: { tenant: "acme", username: "anna", password: testPassword } }));
    await demand(200, send(`${url}/api/auth/me`, "GET", { token: pair.body.accessToken }));
    expect((await send(at, "POST", { tenant: "acme", body: "{", headers: { "content-type": "application/json" } })).status).to.equal(400);
    expect((await send(`${url}/api/nosuch`, "GET")).body).to.deep.equal({ error: "Not found" });
    await demand(204, send(`${at}/${made.body.id}`, "DELETE", { tenant: "acme" }));
  }

  before(async () => {
    on = await service();
    await fill(on);
  });
  afterEach(async () => {
    for (const one of services.splice(1)) await one.close();
    for (const server of servers.splice(0)) await closeServer(server);
  });
  after(async () => {
    await on.close();
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });

  for (const mount of ["/", "/a", "/a/b", "/a-b_c.d/ü"]) {
    it(`works at ${mount}`, async () => {
      const app = express();
      app.use(encodeURI(mount), on);
      await works(`${await listen(app)}${mount === "/" ? "" : encodeURI(mount)}`);
    });
  }

  it("works in a router of the host's, whose mount has a parameter", async () => {
    const app = express();
    const router = express.Router();
    router.use("/backend", on);
    app.use("/shops/:shop", router);
    await works(`${await listen(app)}/shops/one/backend`);
  });

  const parsers: readonly (readonly [string, (app: Express) => void])[] = [
    ["express.json()", (app) => app.use(express.json())],
    ["express.json() that takes anything", (app) => app.use(express.json({ strict: false, limit: "50mb", type: () => false }))],
    ["express.urlencoded()", (app) => app.use(express.urlencoded({ extended: true }))],
    ["express.text()", (app) => app.use(express.text())],
    ["express.raw() for JSON", (app) => app.use(express.raw({ type: "application/json" }))],
    ["express.text() for JSON", (app) => app.use(express.text({ type: "application/json" }))],
  ];
  for (const [name, use] of parsers) {
    it(`works after ${name}`, async () => {
      const app = express();
      app.set("env", "test");
      use(app);
      app.use("/backend", on);
      await works(`${await listen(app)}/backend`);
    });
  }

  it("works before express.json(), and leaves the host's own routes their bodies", async () => {
    const app = express();
    app.use(on);
    app.use(express.json());
    app.post("/own", (req, res) => void res.json({ got: req.body as unknown }));
    const url = await listen(app);
    await works(url);
    expect((await send(`${url}/own`, "POST", { body: { a: 1 } })).body).to.deep.equal({ got: { a: 1 } });
  });

  it("the host's parser does not loosen anything: shape, size and names are checked all the same", async () => {
    const app = express();
    app.use(express.json({ strict: false, limit: "50mb" }), on);
    const url = await listen(app);
    const post = (body: string) => send(`${url}/api/collections/notes`, "POST", { tenant: "acme", body, headers: { "content-type": "application/json" } });
    for (const body of ["null", '"text"', "[]", "5", '{"__proto__":{"a":1}}', '{"title":"\\u0000"}']) expect((await post(body)).status, body).to.equal(400);
    expect((await post(JSON.stringify({ title: "x".repeat(5 * 1024 * 1024) }))).status).to.equal(413);
  });

  it("a multipart body eaten upstream gives a clear error at once", async () => {
    const app = express();
    app.use((req, _res, next) => {
      req.resume();
      req.on("end", () => next());
    });
    app.use(on);
    const url = await listen(app);
    const { body, headers } = form(text("title", "x"), file("file", "content"));
    const answer = await send(`${url}/api/collections/notes`, "POST", { tenant: "acme", body, headers });
    expect(answer.status).to.be.oneOf([400, 500]);
    expect(answer.body.error).to.match(/multipart|body/i);
    const json = await send(`${url}/api/collections/notes`, "POST", { tenant: "acme", body: { title: "x" } });
    expect(json.status).to.be.oneOf([400, 500]);
    expect(json.body.error).to.match(/body/i);
  });

  it("the host's settings have no effect: query parser, trust proxy, case, strict routing, json spaces", async () => {
    for (const parser of ["extended", "simple", false, () => ({ tenant: "evil", limit: { $ne: 1 } })]) {
      const app = express();
      app.set("query parser", parser);
      app.set("trust proxy", true);
      app.set("case sensitive routing", false);
      app.set("strict routing", true);
      app.set("json spaces", 4);
      app.set("etag", false);
      app.use("/backend", on);
      const url = `${await listen(app)}/backend`;
      await works(url);
      expect((await send(`${url}/api/collections/notes?filter[title]=x`, "GET", { tenant: "acme" })).status).to.equal(400);
      expect((await send(`${url}/api/collections/notes?limit=1&limit=2`, "GET", { tenant: "acme" })).status).to.equal(400);
    }
  });

  it("trust proxy does not let a header choose the address of a key", async () => {
    const [user] = (await on.tenant("acme").as("system").collection("users").list()).items;
    const { key } = await on.tenant("acme").apiKeys.create({ name: "bound", userId: user!.id, allowedCidrs: ["10.0.0.0/8"] });
    const app = express();
    app.set("trust proxy", true);
    app.use(on);
    const url = await listen(app);
    for (const headers of [{}, { "x-forwarded-for": "10.1.1.1" }, { "x-real-ip": "10.1.1.1" }, { forwarded: "for=10.1.1.1" }] as Record<string, string>[]) {
      expect((await send(`${url}/api/auth/me`, "GET", { token: key, headers })).status).to.equal(401);
    }
  });

  it("header setters of the host, as helmet and cors are, stand beside; on the host's own routes nothing is added or taken", async () => {
    const app = express();
    const setter: RequestHandler = (_req, res, next) => {
      res.setHeader("Access-Control-Allow-Origin", "https://app.example.org");
      res.setHeader("Content-Security-Policy", "default-src 'self'");
      res.setHeader("X-Frame-Options", "SAMEORIGIN");
      next();
    };
    const alone = express();
    for (const one of [app, alone]) {
      one.use(setter);
      if (one === app) one.use(on);
      one.get("/own", (_req, res) => void res.send("own"));
      one.get("/thrown", () => {
        throw new Error("own");
      });
      one.use((_error: Error, _req: IncomingMessage, res: ServerResponse, _next: () => void) => {
        res.statusCode = 555;
        res.end("the host's handler");
      });
    }
    const [url, bare] = [await listen(app), await listen(alone)];
    await works(url);
    const answer = await send(`${url}/api/collections/notes`, "GET", { tenant: "acme" });
    expect(answer.headers["access-control-allow-origin"]).to.equal("https://app.example.org");
    for (const path of ["/own", "/thrown", "/nosuch", "/apiary", "/administration", "/healthy", "/authenticated"]) {
      for (const method of ["GET", "POST"]) {
        const [one, two] = [await send(url + path, method), await send(bare + path, method)];
        const { date: _a, ...headers } = one.headers;
        const { date: _b, ...expected } = two.headers;
        expect([one.status, one.text, headers], path).to.deep.equal([two.status, two.text, expected]);
      }
    }
  });

  it("a preflight answered by the host's cors never reaches the service; one that is not is 405", async () => {
    const app = express();
    app.use("/with", (req, res, next) => (req.method === "OPTIONS" ? void res.status(204).end() : next()), on);
    app.use("/without", on);
    const url = await listen(app);
    expect((await send(`${url}/with/api/collections/notes`, "OPTIONS")).status).to.equal(204);
    expect((await send(`${url}/without/api/collections/notes`, "OPTIONS")).status).to.be.oneOf([204, 404, 405]);
  });

  it("a middleware that compresses as compression() does gets whole answers", async () => {
    const app = express();
    app.use((_req, res, next) => {
      const gzip = createGzip();
      const [writeHead, write, end] = [res.writeHead, res.write, res.end].map((method) => (method as (...given: unknown[]) => unknown).bind(res));
      let packs = false;
      res.writeHead = ((status: number, headers: Record<string, string>) => {
        for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
        packs = ![204, 304].includes(status);
        if (packs) {
          res.removeHeader("Content-Length");
          res.setHeader("Content-Encoding", "gzip");
          gzip.on("data", (chunk: Buffer) => void write!(chunk)).on("end", () => void end!());
        }
        return writeHead!(status);
      }) as never;
      res.write = ((chunk: Buffer) => (packs ? gzip.write(chunk) : write!(chunk))) as never;
      res.end = ((chunk?: Buffer | string, encoding?: BufferEncoding) => {
        if (packs && chunk === undefined) gzip.end();
        else if (packs) gzip.end(chunk, encoding as BufferEncoding);
        else end!(chunk, encoding);
        return res;
      }) as never;
      next();
    });
    app.use(on);
    const url = await listen(app);
    for (const title of ["packed", "größer als ASCII"]) {
      const made = await fetch(`${url}/api/collections/notes`, { method: "POST", headers: { "content-type": "application/json", "x-tenant": "acme" }, body: JSON.stringify({ title }) });
      expect([made.status, made.headers.get("content-encoding")]).to.deep.equal([201, "gzip"]);
      expect(await made.json()).to.include({ title });
    }
    const list = await fetch(`${url}/api/collections/notes?sort=createdAt:desc&limit=2`, { headers: { "x-tenant": "acme" } });
    expect(((await list.json()) as { items: { title: string }[] }).items.map(({ title }) => title)).to.deep.equal(["größer als ASCII", "packed"]);
  });

  it("two services with two storages run in one process with nothing shared", async () => {
    const [one, two] = [await service(), await service()];
    await fill(one);
    await fill(two);
    const app = express();
    app.use("/one", one);
    app.use("/two", two);
    const url = await listen(app);
    await works(`${url}/one`);
    await works(`${url}/two`);
    await demand(201, send(`${url}/one/api/collections/notes`, "POST", { tenant: "acme", body: { title: "only in one" } }));
    expect((await send(`${url}/two/api/collections/notes?filter=title:eq:only%20in%20one`, "GET", { tenant: "acme" })).body.items).to.deep.equal([]);
    const { body } = await send(`${url}/one/api/auth/login`, "POST", { body: { tenant: "acme", username: "anna", password: testPassword } });
    expect((await send(`${url}/two/api/auth/me`, "GET", { token: body.accessToken })).status).to.equal(401);
    expect((await send(`${url}/two/api/auth/refresh`, "POST", { body: { refreshToken: body.refreshToken } })).status).to.equal(401);
    const heard: string[] = [];
    one.on("beforeCreate", {}, () => void heard.push("one"));
    await send(`${url}/two/api/collections/notes`, "POST", { tenant: "acme", body: {} });
    expect(heard).to.deep.equal([]);
    await one.close();
    await works(`${url}/two`);
    expect((await send(`${url}/one/api/collections/notes`, "GET", { tenant: "acme" })).status).to.equal(503);
  });

  it("one service mounted twice names each mount in its links", async () => {
    const app = express();
    app.use("/one", on);
    app.use("/two", on);
    const url = await listen(app);
    await works(`${url}/one`);
    await works(`${url}/two`);
  });

  it("requests that come before ready() wait for it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "records-guest-"));
    folders.push(folder);
    const first = createRecordsService({ storage: folder, hasher: cheapHasher, logger: quiet });
    await fill(first);
    await first.close();
    const on = createRecordsService({ storage: folder, hasher: cheapHasher, logger: quiet });
    services.push(on);
    const app = express();
    app.use(on);
    const url = await listen(app);
    const answers = await Promise.all([send(`${url}/api/collections/notes`, "GET", { tenant: "acme" }), send(`${url}/api/collections/notes`, "POST", { tenant: "acme", body: { title: "early" } }), send(`${url}/health`, "GET")]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 201, 200]);
  });

  it("plain node:http with (req, res, next), and with (req, res) alone", async () => {
    const handler = on as unknown as (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void;
    const url = await listen((req, res) => handler(req, res, (error) => {
      res.statusCode = error === undefined ? 418 : 599;
      res.end("the host's");
    }));
    await works(url);
    expect((await send(`${url}/own`, "GET")).status).to.equal(418);
    const alone = await listen(handler);
    await works(alone);
    const answer = await send(`${alone}/own`, "GET", { headers: { "X-Request-Id": "the-host-s" } });
    expect([answer.status, answer.body, answer.headers["x-request-id"]]).to.deep.equal([404, { error: "Not found" }, "the-host-s"]);
    expect((await send(`${alone}/%E0%A4%A`, "GET")).status).to.be.oneOf([400, 404]);
  });

  it("an Express 4 host, where req.query is assigned and a mount strips req.url, works", async () => {
    const handler = on as unknown as (req: IncomingMessage, res: ServerResponse, next: () => void) => void;
    const url = await listen((req, res) => {
      const prefix = "/backend";
      if (!req.url!.startsWith(prefix)) return void res.writeHead(404).end();
      Object.assign(req, { originalUrl: req.url, baseUrl: prefix, query: { limit: "evil" }, app: {}, next: undefined });
      req.url = req.url!.slice(prefix.length) || "/";
      handler(req, res, () => void res.writeHead(404).end());
    });
    await works(`${url}/backend`);
  });

  it("leaves no listener on the process, and none behind after close", async () => {
    const counts = () => Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
    const before = counts();
    const on = await service();
    await fill(on);
    const app = express();
    app.use(on);
    await works(await listen(app));
    expect(counts()).to.deep.equal(before);
    await on.close();
    expect(counts()).to.deep.equal(before);
  });
});
