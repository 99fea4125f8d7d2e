// listen: the service on a server of its own, by itself or with the host's Express app around it.
import { mkdtemp, rm } from "node:fs/promises";
import { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import express from "express";
import { createRecordsService, listen, type Listening, type RecordsService } from "../../lib/index.js";
import { cheapHasher, demand, send } from "../support/service.js";

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe("listen", () => {
  let folder: string;
  let records: RecordsService;
  let listening: Listening | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-listen-"));
    records = createRecordsService({ storage: folder, hasher: cheapHasher, logger: quiet });
  });
  afterEach(async () => {
    await listening?.close();
    listening = undefined;
    await records.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function fill(): Promise<void> {
    await records.tenants.create({ slug: "acme" });
    await records.tenant("acme").collections.create({ name: "notes", fields: [{ name: "title", type: "TEXT" }], listRule: "true", createRule: "true" });
  }

  it("serves the service alone; what is none of its routes is 404", async () => {
    listening = await listen(records, { port: 0 });
    await fill();
    await demand(201, send(`${listening.url}/api/collections/notes`, "POST", { tenant: "acme", body: { title: "one" } }));
    expect((await send(`${listening.url}/else`, "GET")).status).to.equal(404);
  });

  it("serves an app with all of its routes, its sub-apps and its settings, and nothing is left for Express to swap", async () => {
    const app = express();
    const inner = express();
    const seen: unknown[] = [];
    inner.get("/", (req, res) => void res.json({ inner: req.baseUrl }));
    app.set("query parser", "extended");
    app.use(express.json());
    app.use((req, res, next) => {
      seen.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
      next();
    });
    app.use("/backend", records);
    app.use("/inner", inner);
    app.post("/echo", (req, res) => void res.status(202).cookie("a", "b").json({ body: req.body as unknown, query: req.query, type: req.is("json"), ip: req.ip }));

    listening = await listen(records, { app, port: 0 });
    listening.server.prependListener("request", (req: IncomingMessage, res: ServerResponse) => {
      seen.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response);
      seen.push(req instanceof IncomingMessage, res instanceof ServerResponse);
    });
    await fill();
    const made = await demand(201, send(`${listening.url}/backend/api/collections/notes`, "POST", { tenant: "acme", body: { title: "grüße" } }));
    expect((await demand(200, send(`${listening.url}/backend/api/collections/notes`, "GET", { tenant: "acme" }))).body.items).to.deep.equal([made.body]);
    const echo = await send(`${listening.url}/echo?a[b]=1`, "POST", { body: { x: 1 } });
    expect(echo.status).to.equal(202);
    expect(echo.body).to.deep.equal({ body: { x: 1 }, query: { a: { b: "1" } }, type: "json", ip: "127.0.0.1" });
    expect(echo.headers["set-cookie"]).to.deep.equal(["a=b; Path=/"]);
    expect((await send(`${listening.url}/inner`, "GET")).body).to.deep.equal({ inner: "/inner" });
    expect((await send(`${listening.url}/else`, "GET")).status).to.equal(404);
    expect(seen.length).to.be.greaterThan(20);
    expect(seen.every((each) => each === true)).to.equal(true);
  });

  it("closing it drains, and closes the service too", async () => {
    const app = express().use(records);
    listening = await listen(records, { app, port: 0 });
    const { url } = listening;
    expect((await send(`${url}/health`, "GET")).status).to.equal(200);
    await listening.close();
    await listening.close();
    const refused = await fetch(`${url}/health`).then(() => undefined, (error: Error) => error);
    expect(refused).to.be.instanceOf(Error);
  });
});
