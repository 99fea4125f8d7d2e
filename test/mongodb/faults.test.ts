// The database down at the start, gone in the middle, hanging, and back again: a stand-in of the test's own, or a proxy
// before the server that TEST_MONGODB_URL names.
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import express from "express";
import { createRecordsService, type RecordsService } from "../../lib/index.js";
import { serve } from "../../lib/standalone/serve.js";
import { cheapHasher, closeServer, send, startService, type Answer } from "../support/service.js";
import { canBeProxied, openProxy, openStandIn, type FaultyServer } from "./faulty-server.js";
import { freePort } from "./stand-ins.js";

const kind = process.env["TEST_MONGODB_KIND"];
const url = process.env["TEST_MONGODB_URL"];
const secrets = Object.fromEntries(["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"].map((each) => [each, createHash("sha256").update(each).digest("hex")]));
/** Milliseconds: what the interface's operators are promised. */
const healthBound = 3_000;
const requestBound = 5_000;
const recoveryBound = 15_000;

async function timed<Result>(run: Promise<Result>): Promise<{ result: Result; took: number }> {
  const start = performance.now();
  const result = await run;
  return { result, took: performance.now() - start };
}

async function until(wanted: () => Promise<boolean>): Promise<number> {
  const start = performance.now();
  while (!(await wanted())) {
    if (performance.now() - start > recoveryBound) break;
    await wait(200);
  }
  return performance.now() - start;
}

/** The server itself where the test may have one of its own; else the given one behind a proxy. */
const servers: Record<string, () => Promise<FaultyServer>> = {};
if (kind === "ferretdb" || kind === "mongo-java-server") servers[kind] = () => openStandIn(kind);
// What is in memory is gone when its process is: there the network fails, and not the server.
if (kind !== "ferretdb" && url !== undefined && canBeProxied(url)) servers[`${kind ?? "the given server"} behind a proxy`] = () => openProxy(url);

describe("faults of the database", () => {
  if (url !== undefined && Object.keys(servers).length === 0) it.skip("all of them (left out: a server behind TLS cannot be reached through a proxy)", () => undefined);
});

for (const [name, open] of Object.entries(servers)) {
  describe(`faults of the database: ${name}`, function () {
    this.timeout(120_000);
    let server: FaultyServer | undefined;

    beforeEach(async () => {
      server = await open();
    });
    afterEach(() => server?.stop());

    async function outage(stop: () => Promise<void> | void, start: () => Promise<void> | void): Promise<void> {
      const house = await startService({ storage: server!.url, secrets });
      try {
        const tenant = await house.createTenant();
        await house.createCollection(tenant, { name: "notes", fields: [{ name: "title", type: "TEXT" }], viewRule: "@auth.id != null", createRule: "@auth.id != null" });
        const user = await house.signUp(tenant, "ada");
        const created = await house.request("POST", "/api/collections/notes", { token: user.token, body: { title: "kept" } });
        expect(created.status, created.text).to.equal(201);
        const read = (): Promise<Answer> => house.request("GET", `/api/collections/notes/${created.body.id as string}`, { token: user.token });
        expect((await read()).status).to.equal(200);

        await stop();
        // What the look before has found may hold for a second.
        await wait(1_100);
        const [health, reading, writing, login] = await Promise.all([
          timed(house.request("GET", "/health")), timed(read()),
          timed(house.request("POST", "/api/collections/notes", { token: user.token, body: { title: "lost" } })),
          timed(house.login(tenant, "ada")),
        ]);
        expect([health.result.status, health.result.body]).to.deep.equal([503, { db: false, status: "degraded" }]);
        expect(health.took).to.be.below(healthBound);
        for (const { result, took } of [reading, writing, login]) {
          expect(result.status, result.text).to.equal(503);
          expect(result.text).not.to.match(/mongo|127\.0\.0\.1|stack/i);
          expect(took).to.be.below(requestBound);
        }

        await start();
        const healthy = await until(async () => (await house.request("GET", "/health")).status === 200);
        const readable = await until(async () => (await read()).status === 200);
        const writable = await until(async () => (await house.request("POST", "/api/collections/notes", { token: user.token, body: { title: "after" } })).status === 201);
        expect(healthy + readable + writable).to.be.below(recoveryBound);
        expect((await read()).body.title).to.equal("kept");
      } finally {
        await house.close();
      }
    }

    it("hanging: /health is 503 within 3 s, requests are within 5 s, all is well 15 s after it goes on", () =>
      outage(() => server!.hang(), () => server!.goOn()));

    if (kind === "ferretdb" || name.includes("proxy")) {
      it("gone and back: the same, and what was acknowledged is there", () => outage(() => server!.kill(), () => server!.start()));
    }

    it("down at the start: the standalone server answers 503, tells its address once the server is there, and ends where it is asked to", async () => {
      await server!.kill();
      const port = await freePort();
      const environment = {
        STORAGE_URL: server!.url, CONNECTOR_HTTP_PORT: String(port), LOG_LEVEL: "silent",
        APPLICATION_SECRET: secrets["application"], TOKEN_SECRET: secrets["token"], SESSION_COOKIE_SECRET: secrets["sessionCookie"],
        AUTHENTICATION_COOKIE_SECRET: secrets["authenticationCookie"], FLASH_COOKIE_SECRET: secrets["flashCookie"],
      };
      const given = new AbortController();
      const givenUp = serve(environment, () => undefined, given.signal).then(() => "open", () => "ended");
      await until(async () => (await send(`http://127.0.0.1:${port}/health`, "GET").catch(() => undefined))?.status === 503);
      given.abort();
      expect(await givenUp).to.equal("ended");

      const lines: string[] = [];
      const starting = serve(environment, (line) => void lines.push(line));
      expect(await until(async () => (await send(`http://127.0.0.1:${port}/health`, "GET").catch(() => undefined))?.status === 503)).to.be.below(recoveryBound);
      expect(lines).to.deep.equal([]);
      await server!.start();
      const running = await starting;
      expect(lines.map((line) => line.split(" ")[0])).to.deep.equal(["listening", "setup", "open"]);
      await running.close();
    });

    it("down at the start: /health is 503, requests too, and the service opens once the server is there", async () => {
      await server!.kill();
      const service: RecordsService = createRecordsService({
        storage: server!.url, secrets, hasher: cheapHasher, announceSetup: false,
        logger: { debug() {}, info() {}, warn() {}, error() {} },
      });
      const listening: Server = createServer(express().use(service));
      await new Promise<void>((done) => listening.listen(0, done));
      const at = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
      try {
        const failure = await service.ready().then(() => undefined, (error: unknown) => error);
        expect(failure).to.be.instanceOf(Error).with.property("name", "StorageUnavailable");
        const [health, request] = await Promise.all([timed(send(`${at}/health`, "GET")), timed(send(`${at}/api/auth/me`, "GET"))]);
        expect(health.result.status).to.equal(503);
        expect(health.took).to.be.below(healthBound);
        expect(request.result.status).to.equal(503);
        expect(request.took).to.be.below(requestBound);
        await server!.start();
        expect(await until(async () => (await send(`${at}/health`, "GET")).status === 200)).to.be.below(recoveryBound);
        expect((await send(`${at}/api/auth/me`, "GET")).status).to.equal(401);
      } finally {
        await service.close();
        await closeServer(listening);
      }
    });
  });
}
