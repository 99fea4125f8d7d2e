// The standalone server: `records-service start` and examples/standalone, as processes.
import { randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { openStream } from "../support/event-stream.js";
import { runCommand, runExample, type Running } from "../support/example.js";
import { demand, send, testPassword } from "../support/service.js";

const secretNames = ["APPLICATION_SECRET", "TOKEN_SECRET", "SESSION_COOKIE_SECRET", "AUTHENTICATION_COOKIE_SECRET", "FLASH_COOKIE_SECRET"];
const hex = (bytes = 32) => randomBytes(bytes).toString("hex");
const free = { CONNECTOR_HTTP_PORT: "0" };

describe("standalone server", function () {
  this.timeout(120_000);
  const running: Running[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.remove()));
  });
  const keep = async (one: Promise<Running>): Promise<Running> => {
    running.push(await one);
    return running.at(-1)!;
  };
  const start = (env: Record<string, string> = {}, folder?: string) => keep(runCommand(["start"], { env: { ...free, ...env }, ...(folder === undefined ? {} : { folder }) }));
  const listening = /^listening on (http:\/\/\S+)$/m;

  for (const [name, run] of [
    ["records-service start", () => start()],
    ["examples/standalone", () => keep(runExample("examples/standalone/server.ts", { env: free }))],
  ] as const) {
    it(`${name}: answers, names a superadmin by the printed token, and ends with 0 at SIGTERM`, async () => {
      const server = await run();
      const url = await server.said(listening);
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      await demand(200, send(`${url}/health`, "GET"));
      const token = await server.said(/^setup token: (\S+)$/m);
      expect(await server.said(/^open (\S+)/m)).to.equal(`${url}/admin/#/setup?token=${token}`);
      await demand(201, send(`${url}/api/admin/setup`, "POST", { body: { token, username: "root", password: testPassword } }));
      expect(server.output().split(token), "the token stands in the two lines alone").to.have.length(3);
      expect(await server.end("SIGTERM")).to.equal(0);
      const again = await start({}, server.folder);
      await again.said(listening);
      expect(await again.end("SIGINT")).to.equal(0);
      expect(again.output()).not.to.contain("setup token");
    });
  }

  it("keeps data and generated secrets in SERVICE_STORAGE, by default ./data, readable by the owner alone", async () => {
    const server = await start();
    await server.said(listening);
    const { mode } = await stat(join(server.folder, "data", "secrets.json"));
    expect((mode & 0o777).toString(8)).to.equal("600");
  });

  it("answers paths that are not the service's with 404 as JSON, and goes on after nonsense", async () => {
    const url = await (await start()).said(listening);
    for (const path of ["/", "/nope", "/api/nope", "/%zz", "/api/%zz"]) {
      const answer = await send(`${url}${path}`, "GET");
      expect([400, 404], path).to.include(answer.status);
      expect(answer.body, path).to.have.keys("error");
    }
    await demand(200, send(`${url}/health`, "GET"));
  });

  it("in mode prod it needs every secret, and names each that is missing or short in one message, no value", async () => {
    const short = "abc123deadbeef";
    const server = await start({ APPLICATION_MODE: "prod", TOKEN_SECRET: short, SESSION_COOKIE_KEY: hex(), CONNECTOR_HTTP_PORT: "eighty", SMTP_PROTOCOL: "imap" });
    expect(await server.ended).to.equal(1);
    for (const name of ["APPLICATION_SECRET", "TOKEN_SECRET", "AUTHENTICATION_COOKIE_SECRET or AUTHENTICATION_COOKIE_KEY", "FLASH_COOKIE_SECRET or FLASH_COOKIE_KEY", "CONNECTOR_HTTP_PORT", "SMTP_PROTOCOL"]) {
      expect(server.output()).to.contain(`- ${name} `);
    }
    expect(server.output()).not.to.contain("SESSION_COOKIE").and.not.to.contain(short);
  });

  it("in mode prod with all secrets, of each pair either name, it starts and keeps none on disk", async () => {
    const env = Object.fromEntries(secretNames.map((name, index) => [index % 2 === 1 ? name.replace("SECRET", "KEY") : name, hex()]));
    const server = await start({ ...env, APPLICATION_MODE: "prod", SERVICE_STORAGE: "elsewhere" });
    await demand(200, send(`${await server.said(listening)}/health`, "GET"));
    expect(await stat(join(server.folder, "elsewhere", "secrets.json")).catch(() => null)).to.equal(null);
    expect(await stat(join(server.folder, "data")).catch(() => null)).to.equal(null);
  });

  it("an address that is taken ends it with 1 and says so", async () => {
    const first = await start();
    const port = new URL(await first.said(listening)).port;
    const second = await start({ CONNECTOR_HTTP_PORT: port }, first.folder);
    expect(await second.ended).to.equal(1);
    expect(second.output()).to.contain("CONNECTOR_HTTP_PORT").and.to.contain(port).and.to.contain("EADDRINUSE");
  });

  it("a host that is no address of this machine is named with its variable", async () => {
    for (const host of ["256.256.256.256", "192.0.2.1"]) {
      const server = await start({ CONNECTOR_HTTP_HOST: host });
      expect(await server.ended, host).to.equal(1);
      expect(server.output()).to.contain("CONNECTOR_HTTP_HOST").and.to.contain(host);
    }
  });

  it("a signal ends open streams, answers the request under way, and takes no new one", async () => {
    const server = await start();
    const url = await server.said(listening);
    const stream = await openStream(url);
    // A request whose body is still to come.
    const body = JSON.stringify({ tenant: "nope", username: "ann", password: testPassword });
    const pending = new Promise<number>((resolve, reject) => {
      const req = request(`${url}/api/auth/login`, { method: "POST", headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) } }, (res) => {
        res.resume();
        resolve(res.statusCode ?? 0);
      });
      req.on("error", reject);
      req.write(body.slice(0, 10));
      void stream.ended.then(() => req.end(body.slice(10)));
    });
    await demand(200, send(`${url}/health`, "GET"));
    const ended = server.end("SIGTERM");
    await stream.ended;
    expect(await pending).to.equal(401);
    expect(await ended).to.equal(0);
    expect(await send(`${url}/health`, "GET").then(() => "answered", () => "refused")).to.equal("refused");
  });

  it("a second signal ends it at once", async () => {
    const server = await start();
    const url = await server.said(listening);
    const req = request(`${url}/api/auth/login`, { method: "POST", headers: { "content-type": "application/json", "content-length": "100" } });
    req.on("error", () => undefined);
    req.write("{");
    await new Promise<void>((resolve) => void req.once("socket", (socket) => socket.connecting ? socket.once("connect", () => resolve()) : resolve()));
    await demand(200, send(`${url}/health`, "GET"));
    server.process.kill("SIGTERM");
    server.process.kill("SIGINT");
    expect(await server.ended).to.equal(1);
  });

  it("npm start hands signals on, and Ctrl-C, which then comes twice at once, drains", async () => {
    const server = await start();
    const url = await server.said(listening);
    const script = (JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as { scripts: Record<string, string> }).scripts["start"];
    expect(script).to.match(/^exec node dist\/command-line\/main\.cjs start /);
    await demand(200, send(`${url}/health`, "GET"));
    server.process.kill("SIGINT");
    server.process.kill("SIGINT");
    expect(await server.ended).to.equal(0);
  });

  it("raises the thread pool, unless the environment sets it", async () => {
    const threads = async (env: Record<string, string>) => {
      const server = await start(env);
      await server.said(listening);
      const { readdir } = await import("node:fs/promises");
      return (await readdir(`/proc/${server.process.pid}/task`)).length;
    };
    const raised = await threads({});
    expect(raised - (await threads({ UV_THREADPOOL_SIZE: "6" }))).to.equal(10);
  });
});
