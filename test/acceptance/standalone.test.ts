// Acceptance: the standalone server as a process. Environment, output, exit status, signals, what a restart keeps.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { SMTPServer } from "smtp-server";
import { openStream } from "../support/event-stream.js";
import { file, form } from "../support/multipart.js";
import { demand, send } from "../support/service.js";
import type { Running } from "../support/example.js";
import { connect, listening, openMailbox, openReceiver, setUp, setupToken, startProcess, startStandaloneExample, superadmin } from "./backend.js";

const secretNames = ["APPLICATION", "TOKEN", "SESSION_COOKIE", "AUTHENTICATION_COOKIE", "FLASH_COOKIE"];
const hex = (length = 64) => randomBytes(64).toString("hex").slice(0, length);

describe("acceptance: standalone server", () => {
  const running: Running[] = [];
  const folders: string[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.remove()));
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  });
  const start = async (env: Record<string, string> = {}, folder?: string) => {
    const one = await startProcess(env, folder);
    running.push(one);
    return one;
  };
  const newFolder = async () => {
    folders.push(await mkdtemp(join(tmpdir(), "acceptance-")));
    return folders.at(-1)!;
  };

  it("the example does the same, and a signal right after it listens ends it with 0", async () => {
    const one = await startStandaloneExample();
    running.push(one);
    await one.said(listening);
    expect(await one.end("SIGTERM")).to.equal(0);
  });

  it("prints listening once it answers, then the setup token and the link to open; port 0 takes a free one", async () => {
    const [one, two] = await Promise.all([start(), start({ CONNECTOR_HTTP_HOST: "127.0.0.2" })]);
    const url = await one.said(listening);
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect((await demand(200, send(`${url}/health`, "GET"))).body).to.deep.equal({ db: true, status: "ok" });
    const token = await one.said(setupToken);
    const link = await one.said(new RegExp(`(http\\S+${token})`));
    await demand(200, send(link.split("#")[0]!, "GET"));
    expect(await two.said(listening)).to.match(/^http:\/\/127\.0\.0\.2:[1-9]\d*$/);
  });

  it("a restart keeps records, files, users, tokens, keys and settings; a delivery goes on; no setup token is told again", async () => {
    const receiver = await openReceiver();
    const folder = await newFolder();
    const first = await start({}, folder);
    const url = await first.said(listening);
    await setUp(url, await first.said(setupToken));
    const backend = await connect(first, url);
    const tenant = await backend.tenant("acme");
    const ann = await tenant.account("ann");
    await tenant.settings({ webhookAllowlist: [receiver.host] });
    const all = { listRule: "true", viewRule: "true", createRule: "true" };
    await tenant.collection({ name: "docs", fields: [{ name: "title", type: "TEXT" }, { name: "file", type: "FILE" }], ...all });
    await tenant.hook({ collection: "docs", event: "beforeView", url: `${receiver.url}/view` });
    const { key } = await tenant.key({ name: "k", userId: ann.id });
    const { body, headers } = form(file("file", "bytes of a file"));
    const record = (await demand(201, backend.call("POST", "/api/collections/docs", { token: ann.token, body, headers }))).body;
    expect(await first.end("SIGTERM")).to.equal(0);

    const second = await start({}, folder);
    const again = await second.said(listening);
    for (const token of [ann.token, key]) {
      expect((await demand(200, send(`${again}/api/collections/docs/${record.id}`, "GET", { token }))).body).to.deep.equal(record);
      expect((await demand(200, send(`${again}${record.file.url}`, "GET", { token }))).text).to.equal("bytes of a file");
    }
    expect(receiver.to("/view")).to.have.length(2);
    await demand(200, send(`${again}/api/auth/refresh`, "POST", { body: { refreshToken: ann.refreshToken } }));
    await demand(200, send(`${again}/api/meta/tenants`, "GET", { token: backend.adminToken }));
    await demand(200, send(`${again}/api/admin/token`, "POST", { body: superadmin }));
    expect(await second.end("SIGINT")).to.equal(0);
    expect(second.output()).not.to.match(setupToken);
    for (const secret of [ann.token, ann.refreshToken, key, superadmin.password, backend.adminToken]) expect(first.output() + second.output()).not.to.contain(secret);
    await receiver.close();
  });

  it("a kill in the middle of writing loses nothing that was answered", async () => {
    const folder = await newFolder();
    const first = await start({}, folder);
    const url = await first.said(listening);
    await setUp(url, await first.said(setupToken));
    const backend = await connect(first, url);
    const tenant = await backend.tenant("acme");
    await tenant.collection({ name: "rows", fields: [{ name: "n", type: "NUMBER" }] });
    const answered: string[] = [];
    const write = async (url: string) => {
      for (let n = 0; ; n += 1) {
        const answer = await send(`${url}/api/collections/rows`, "POST", { token: backend.adminToken, tenant: "acme", body: { n } }).catch(() => undefined);
        if (answer === undefined) return;
        if (answer.status === 201) answered.push(answer.body.id);
        if (answered.length === 60) void first.end("SIGKILL");
      }
    };
    await Promise.all([write(url), write(url), write(url)]);
    await first.ended;
    const second = await start({}, folder);
    const again = await second.said(listening);
    for (const id of answered) await demand(200, send(`${again}/api/collections/rows/${id}`, "GET", { token: backend.adminToken, tenant: "acme" }));
    expect(answered.length).to.be.at.least(60);
  });

  it("a wrong setting ends it with 1 and one message naming every fault", async () => {
    const one = await start({ CONNECTOR_HTTP_PORT: "99999", SMTP_HOST: "mail.example.org", SMTP_PORT: "abc", SMTP_PROTOCOL: "pop", SMTP_AUTHENTICATION: "perhaps", APPLICATION_MODE: "production", STORAGE_URL: "ftp://example.org" });
    expect(await one.ended).to.equal(1);
    for (const name of ["CONNECTOR_HTTP_PORT", "SMTP_PORT", "SMTP_PROTOCOL", "SMTP_AUTHENTICATION", "APPLICATION_MODE", "STORAGE_URL"]) expect(one.output(), name).to.contain(name);
    expect(one.output()).not.to.contain("    at ").and.not.match(listening);
  });

  it("prod: every missing secret is named, of each pair either name does; short ones are refused", async () => {
    const short = hex(63);
    const env = { APPLICATION_MODE: "prod", APPLICATION_SECRET: hex(), TOKEN_KEY: hex(), SESSION_COOKIE_KEY: hex(), AUTHENTICATION_COOKIE_SECRET: hex(), FLASH_COOKIE_SECRET: short };
    const [missing, one, good] = await Promise.all([start({ APPLICATION_MODE: "prod" }), start(env), start({ ...env, FLASH_COOKIE_SECRET: hex() })]);
    expect(await missing.ended).to.equal(1);
    for (const name of secretNames) expect(missing.output()).to.contain(`${name}_SECRET`);
    expect(await one.ended).to.equal(1);
    expect(one.output()).to.contain("FLASH_COOKIE").and.not.contain("TOKEN_KEY").and.not.contain(short);
    const url = await good.said(listening);
    await setUp(url, await good.said(setupToken));
    const login = await demand(200, send(`${url}/api/admin/login`, "POST", { body: superadmin }));
    expect(login.headers["set-cookie"]![0]).to.match(/Secure/i).and.match(/SameSite=Strict/i).and.match(/HttpOnly/i);
  });

  it("SERVICE_STORAGE holds database, files and generated secrets, the latter for the owner alone", async () => {
    const folder = await newFolder();
    const one = await start({ SERVICE_STORAGE: join(folder, "deep", "storage") }, folder);
    await one.said(listening);
    expect(await readdir(folder)).to.deep.equal(["deep"]);
    const inside = await readdir(join(folder, "deep", "storage"));
    for (const name of inside) {
      const { mode } = await stat(join(folder, "deep", "storage", name));
      if (/secret/i.test(name)) expect(mode & 0o077, name).to.equal(0);
    }
    expect(inside.some((name) => /secret/i.test(name))).to.equal(true);
  });

  it("a port that is taken ends it with 1 and a message", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const one = await start({ CONNECTOR_HTTP_PORT: String(port) });
    expect(await one.ended).to.equal(1);
    expect(one.output()).to.match(/EADDRINUSE|in use|taken/i).and.not.match(listening);
    taken.close();
  });

  it("SIGTERM ends open streams and answers what is under way", async () => {
    const one = await start();
    const url = await one.said(listening);
    const stream = await openStream(url);
    const ended = one.end("SIGTERM");
    await stream.ended;
    expect(await ended).to.equal(0);
  });

  describe("mail", () => {
    const prepare = async (env: Record<string, string>) => {
      const one = await start(env);
      const url = await one.said(listening);
      await setUp(url, await one.said(setupToken));
      const tenant = await (await connect(one, url)).tenant("acme");
      await tenant.account("ann", { email: "ann@example.org" });
      await tenant.settings({ passwordReset: { enabled: true, linkUrl: "https://a.example.org/{token}" } });
      return { one, forgot: () => demand(200, send(`${url}/api/auth/password/forgot`, "POST", { body: { tenant: "acme", email: "ann@example.org" } })), login: () => tenant.login("ann") };
    };

    it("SMTP_AUTHENTICATION signs in with SMTP_USERNAME and SMTP_PASSWORD", async () => {
      let given: unknown;
      const server = new SMTPServer({
        authMethods: ["PLAIN", "LOGIN"], allowInsecureAuth: true, disabledCommands: ["STARTTLS"],
        onAuth: ({ username, password }, _session, done) => {
          given = { username, password };
          done(null, { user: username });
        },
        onData: (stream, _session, done) => void stream.resume().on("end", () => {
          server.emit("mail");
          done();
        }),
      });
      server.on("error", () => undefined);
      server.listen(0, "127.0.0.1");
      await once(server.server, "listening");
      const { forgot, one } = await prepare({ SMTP_HOST: "127.0.0.1", SMTP_PORT: String((server.server.address() as AddressInfo).port), SMTP_AUTHENTICATION: "true", SMTP_USERNAME: "postman", SMTP_PASSWORD: "a mail password", SMTP_PROTOCOL: "smtp", SMTP_FROM: "a@example.org" });
      const mail = once(server, "mail");
      await forgot();
      await mail;
      expect(given).to.deep.equal({ username: "postman", password: "a mail password" });
      expect(one.output()).not.to.contain("a mail password");
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });

    it("an empty SMTP_HOST sends nothing, and a server that is not there changes no answer", async () => {
      const mailbox = await openMailbox();
      await mailbox.close();
      await Promise.all([{ ...mailbox.env, SMTP_HOST: "" }, mailbox.env].map(async (env) => {
        const { forgot, login, one } = await prepare(env);
        expect((await forgot()).body).to.deep.equal({});
        await demand(200, login());
        expect(await one.end()).to.equal(0);
      }));
    });
  });
});
