// GET /health: one shape, whatever state the service is in (interface, Health).
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createRecordsService, type RecordsService } from "../../lib/index.js";
import { secretNames } from "../../lib/options.js";
import { cheapHasher, send } from "../support/service.js";

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const secrets = Object.fromEntries(secretNames.map((name, index) => [name, String(index + 1).repeat(64)])) as never;

describe("health", () => {
  let folder: string;
  let on: RecordsService;
  let server: Server;
  let url: string;

  async function start(storage: string): Promise<void> {
    on = createRecordsService({ storage, secrets, hasher: cheapHasher, logger: quiet });
    server = createServer(on);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function look(): Promise<unknown> {
    const { status, body } = await send(`${url}/health`, "GET");
    return [status, body];
  }

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), "records-health-")); });
  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await on.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("200, db true and ok: also for a request that comes before the service is open", async () => {
    await start(join(folder, "data"));
    expect(await look()).to.deep.equal([200, { db: true, status: "ok" }]);
  });

  it("503, db false and degraded where the database cannot be opened, and ok once it can", async () => {
    await writeFile(join(folder, "data"), "a file where the folder should be");
    await start(join(folder, "data"));
    expect(await look()).to.deep.equal([503, { db: false, status: "degraded" }]);
    expect((await send(`${url}/api/collections/notes`, "GET", { tenant: "acme" })).status).to.equal(503);
    await rm(join(folder, "data"));
    await on.ready();
    let answer = await look();
    // One look holds for a second.
    while ((answer as [number])[0] === 503) answer = await look();
    expect(answer).to.deep.equal([200, { db: true, status: "ok" }]);
  });

  it("503, db false and degraded once the service is closed: it gets no more traffic", async () => {
    await start(join(folder, "data"));
    await on.ready();
    await on.close();
    expect(await look()).to.deep.equal([503, { db: false, status: "degraded" }]);
    expect((await send(`${url}/api/collections/notes`, "GET", { tenant: "acme" })).body).to.deep.equal({ error: "The service is shutting down" });
  });
});
