// Uploads that are wrong, hostile or cut off: a clear 4xx, no record, no file, and the service lives on.
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import express from "express";
import { boundary, file, form, text, type Part } from "../support/multipart.js";
import { demand, startService, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

const path = "/api/collections/docs";

describe("bad uploads", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  let files: string[];
  let count: number;

  const total = async (): Promise<number> => (await demand(200, on.request("GET", `${path}?count=true&limit=1`, { token: alice.token }))).body.total;
  const stored = async (folder: "blobs" | "temp"): Promise<string[]> => {
    const entries = await readdir(join(on.folder, "files", folder), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name).sort();
  };
  const descriptors = async (): Promise<number> => (await readdir("/proc/self/fd")).length;
  const send = (...parts: readonly Part[]): Promise<Answer> => on.request("POST", path, { token: alice.token, ...form(...parts) });
  const raw = (body: Buffer | string, type = `multipart/form-data; boundary=${boundary}`, headers: Record<string, string> = {}): Promise<Answer> =>
    on.request("POST", path, { token: alice.token, body: Buffer.from(body), headers: { "content-type": type, ...headers } });

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    alice = await on.signUp(tenant, "alice");
    await on.createCollection(tenant, {
      name: "docs",
      fields: [
        { name: "title", type: "TEXT" }, { name: "n", type: "NUMBER" }, { name: "meta", type: "JSON" },
        { name: "cover", type: "FILE", maxSize: 200_000 }, { name: "pic", type: "FILE", mimeTypes: ["image/png", "image/jpeg"], widths: [100] },
        { name: "att", type: "FILE", multiple: true, maxFiles: 10, maxSize: 4_194_304 },
      ],
      listRule: "true", viewRule: "true", createRule: "@auth.id != null", updateRule: "true",
    });
    await on.createCollection(tenant, { name: "plain", fields: [{ name: "title", type: "TEXT" }], createRule: "true" });
  });
  after(() => on.close());

  beforeEach(async () => {
    files = await stored("blobs");
    count = await total();
  });
  afterEach(async () => {
    // Removal of what was refused may still be under way where the client has left.
    while ((await stored("temp")).length > 0 || (await stored("blobs")).length > files.length) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await stored("blobs")).to.deep.equal(files);
    expect(await total()).to.equal(count);
    expect((await on.request("GET", "/health")).status).to.equal(200);
  });

  const entry = (answer: Answer, field: string, message: RegExp): void => {
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.body).to.have.length(1);
    expect(answer.body[0].field).to.equal(field);
    expect(answer.body[0].message).to.match(message);
  };

  it("a file for a name that takes none is an entry with that name", async () => {
    entry(await send(file("title", "x")), "title", /takes no file/);
    entry(await send(file("cover", "x"), file("nope", "x")), "nope", /takes no file/);
    entry(await send(file("__proto__", "x")), "__proto__", /takes no file/);
  });

  it("two files for a single field, and more than maxFiles for a multiple one", async () => {
    entry(await send(file("cover", "x"), file("cover", "y")), "cover", /takes one file/);
    entry(await send(...Array.from({ length: 11 }, () => file("att", "x"))), "att", /takes at most 10 files/);
  });

  it("a file over maxSize", async () => {
    entry(await send(file("cover", randomBytes(200_001))), "cover", /at most 200000 bytes/);
    entry(await send(file("att", "first"), file("cover", randomBytes(1_000_000)), file("att", "last")), "cover", /at most 200000 bytes/);
  });

  it("content that is not of an allowed type, whatever is declared", async () => {
    entry(await send(file("pic", "<svg xmlns='http://www.w3.org/2000/svg'/>", "a.png", "image/png")), "pic", /must be of type/);
    entry(await send(file("pic", "<html>", "a.png", "image/png")), "pic", /must be of type/);
    entry(await send(file("pic", "", "empty.png", "image/png")), "pic", /must be of type/);
  });

  it("text for a FILE field", async () => {
    expect((await send(text("cover", "hello"))).status).to.equal(400);
    entry(await send(text("att", '["x"]')), "att", /does not hold/);
    for (const value of ["a.png", 5, {}, [], [1], true]) {
      const answer = await on.request("POST", path, { token: alice.token, body: { cover: value } });
      expect([answer.status, answer.body[0]?.field], JSON.stringify(value)).to.deep.equal([400, "cover"]);
    }
  });

  it("bracketed names are unknown fields, never structure", async () => {
    for (const name of ["title[$ne]", "title[]", "meta[a][b]", "__proto__[admin]", "title["]) {
      const answer = await send(text(name, "x"), file("cover", "x"));
      expect([answer.status, answer.body[0]?.field], name).to.deep.equal([400, name]);
    }
  });

  it("unknown and hostile names of text parts", async () => {
    for (const name of ["nope", "toString"]) {
      const answer = await send(text(name, "x"));
      expect([answer.status, answer.body[0]?.field], name).to.deep.equal([400, name]);
    }
    for (const name of ["__proto__", "constructor"]) expect((await send(text(name, "x"))).status).to.equal(400);
    expect(({} as Record<string, unknown>)["x"]).to.equal(undefined);
  });

  it("a scalar given twice", async () => {
    const answer = await send(text("title", "a"), text("title", "b"), file("cover", "x"));
    expect(answer.status).to.equal(400);
    expect(answer.body.error).to.contain("title");
  });

  it("text that is no value of its field", async () => {
    entry(await send(text("n", "1e400"), file("cover", "x")), "n", /number/);
    entry(await send(text("meta", "{"), file("cover", "x")), "meta", /JSON/);
  });

  it("too many parts, too long names, too long headers", async () => {
    expect((await send(...Array.from({ length: 201 }, (_, index) => text(`f${index}`, "x")))).status).to.equal(400);
    expect((await send(text("x".repeat(101), "x"))).status).to.equal(400);
    expect((await send(text("title", "x".repeat(1_048_577)))).status).to.equal(400);
    expect((await raw(`--${boundary}\r\n${Array.from({ length: 3000 }, (_, index) => `X-${index}: y\r\n`).join("")}\r\nx\r\n--${boundary}--\r\n`)).status).to.equal(400);
  });

  const malformed: readonly [what: string, body: string][] = [
    ["no end", `--${boundary}\r\nContent-Disposition: form-data; name="cover"; filename="a"\r\n\r\nabc`],
    ["only a boundary", `--${boundary}`],
    ["garbage", "garbage"],
    ["another boundary", "--other\r\n\r\n--other--\r\n"],
    ["no name", `--${boundary}\r\nContent-Disposition: form-data\r\n\r\nabc\r\n--${boundary}--\r\n`],
    ["broken headers", `--${boundary}\r\n:::\r\n\r\nabc\r\n--${boundary}--\r\n`],
    ["text without end", `--${boundary}\r\nContent-Disposition: form-data; name="title"\r\n\r\nabc`],
  ];
  for (const [what, body] of malformed) {
    it(`a malformed body: ${what}`, async () => {
      const answer = await raw(body);
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.body.error).to.be.a("string");
      expect(answer.text).not.to.match(/busboy|node_modules|at /i);
    });
  }

  it("no boundary, another multipart type, a compressed body, a form for a collection without files", async () => {
    expect((await raw("x", "multipart/form-data")).status).to.equal(415);
    expect((await raw("x", "multipart/mixed; boundary=x")).status).to.equal(415);
    expect((await raw("x", undefined, { "content-encoding": "gzip" })).status).to.equal(415);
    expect((await on.request("POST", "/api/collections/plain", { tenant: "acme", ...form(text("title", "x")) })).status).to.equal(415);
  });

  it("a body over 4 MiB, announced or not, in one file or in many parts: 413, and the connection survives", async () => {
    const parts = (count: number, size: number) => form(...Array.from({ length: count }, () => file("att", Buffer.alloc(size, "x"))));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<Socket>();
    const post = (body: Buffer, chunked: boolean): Promise<number> => new Promise((resolve, reject) => {
      const req = httpRequest(`${on.url}${path}`, {
        method: "POST", agent,
        headers: { authorization: `Bearer ${alice.token}`, "content-type": `multipart/form-data; boundary=${boundary}`, ...(chunked ? { "transfer-encoding": "chunked" } : { "content-length": body.length }) },
      }, (res: IncomingMessage) => {
        res.resume();
        res.on("end", () => resolve(res.statusCode!));
      });
      req.on("socket", (socket) => sockets.add(socket));
      req.on("error", reject);
      req.end(body);
    });
    for (const chunked of [false, true]) {
      for (const [amount, size] of [[1, 4_194_305], [9, 600_000]] as const) expect(await post(parts(amount, size).body, chunked)).to.equal(413);
    }
    const small = await new Promise<number>((resolve, reject) => {
      const req = httpRequest(`${on.url}/health`, { agent }, (res) => { res.resume(); res.on("end", () => resolve(res.statusCode!)); });
      req.on("socket", (socket) => sockets.add(socket));
      req.on("error", reject);
      req.end();
    });
    expect(small).to.equal(200);
    expect(sockets.size).to.equal(1);
    agent.destroy();
  });

  it("fewer bytes than announced, more bytes than announced, and a stop at any point leave nothing", async () => {
    const { body } = form(text("title", "x"), file("att", randomBytes(300_000)), file("cover", randomBytes(100_000)));
    const head = (length: number): string =>
      `POST ${new URL(on.url).pathname.replace(/\/$/, "")}${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${length}\r\n\r\n`;
    const { port } = new URL(on.url);
    const before = await descriptors();
    for (let round = 0; round < 60; round += 1) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      const cut = Math.floor((body.length * round) / 60);
      socket.write(head(body.length));
      socket.write(body.subarray(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      if (round % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
      await once(socket, "close");
    }
    // More than announced: the rest is no request, and the announced part has no end.
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(head(body.length - 10));
    socket.write(body);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 400 /);
    socket.destroy();
    while ((await descriptors()) > before + 10) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("a body that something in front has read already is told as such", async () => {
    const eaten = await startService({
      host: (app) => app.use((req, _res, next) => {
        req.resume();
        req.on("end", () => next());
      }),
    });
    try {
      const acme = await eaten.createTenant("acme").catch(() => undefined);
      expect(acme).to.equal(undefined);
    } finally {
      await eaten.close();
    }
    const guest = await startService({
      host: (app) => app.use((req, _res, next) => {
        if (!(req.headers["content-type"] ?? "").startsWith("multipart")) return next();
        req.resume();
        req.on("end", () => next());
      }),
    });
    try {
      const acme = await guest.createTenant("acme");
      await guest.createCollection(acme, { name: "docs", fields: [{ name: "f", type: "FILE" }], createRule: "true" });
      const answer = await guest.request("POST", path, { tenant: "acme", ...form(file("f", "x")) });
      expect(answer.status).to.equal(400);
      expect(answer.body.error).to.match(/in front of this service/);
    } finally {
      await guest.close();
    }
  });

  it("works behind a host's own JSON and form parsers", async () => {
    const guest = await startService({ host: (app) => app.use(express.json(), express.urlencoded({ extended: true }), express.text()) });
    try {
      const acme = await guest.createTenant("acme");
      await guest.createCollection(acme, { name: "docs", fields: [{ name: "f", type: "FILE" }], createRule: "true", viewRule: "true" });
      expect((await guest.request("POST", path, { tenant: "acme", ...form(file("f", "x")) })).status).to.equal(201);
    } finally {
      await guest.close();
    }
  });

  it("a host that compresses what clients accept leaves files as they are", async () => {
    const guest = await startService({
      host: (app) => app.use((req, res, next) => {
        const { end } = res;
        res.end = ((...args: Parameters<typeof end>) => {
          if (String(req.headers["accept-encoding"]).includes("gzip")) throw new Error("this body would be compressed");
          return end.apply(res, args);
        }) as typeof end;
        next();
      }),
    });
    try {
      const acme = await guest.createTenant("acme");
      await guest.createCollection(acme, { name: "docs", fields: [{ name: "f", type: "FILE" }], createRule: "true", viewRule: "true" });
      const { body } = await demand(201, guest.request("POST", path, { tenant: "acme", ...form(file("f", "0123456789", "a.txt")) }));
      const answer = await guest.request("GET", `${path}/${body.id}/files/f`, { tenant: "acme", headers: { "accept-encoding": "gzip, br", range: "bytes=2-4" } });
      expect([answer.status, answer.text]).to.deep.equal([206, "234"]);
    } finally {
      await guest.close();
    }
  });
});
