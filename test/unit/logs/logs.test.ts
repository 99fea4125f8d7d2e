import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogs, type HookLogEntry, type Logs, type NewRequestLogEntry } from "../../../lib/logs/logs.js";
import { createSqliteStorage } from "../../../lib/storage/sqlite/sqlite.js";
import { always } from "../../../lib/storage/filter.js";
import type { Storage, Table } from "../../../lib/storage/storage.js";
import type { TenantContext } from "../../../lib/tenants/context.js";
import { defineTables, systemTables, tenantTables } from "../../../lib/tenants/tables.js";

const dayMs = 86_400_000;

describe("request log and hook log", () => {
  let folder: string;
  let storage: Storage;
  let now: number;
  let gone: Set<string>;
  const opened: Logs[] = [];
  const lines: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string): void => { lines.push({ fields, message }); };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "records-logs-"));
    storage = createSqliteStorage({ folder });
    await storage.open();
    await storage.system.write({ operations: defineTables(systemTables) });
    for (const id of ["t1", "t2"]) await storage.tenant(id).write({ operations: defineTables(tenantTables) });
    now = Date.UTC(2026, 0, 31, 10);
    gone = new Set();
    lines.length = 0;
  });
  afterEach(async () => {
    for (const logs of opened.splice(0)) await logs.close();
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });

  const context = (id: string): TenantContext => ({ tenant: { id }, store: storage.tenant(id) }) as unknown as TenantContext;
  function open(retention = { days: 14, rows: 100_000 }, over: Storage = storage): Logs {
    const logs = createLogs({
      storage: over, retention, clock: { now: () => now }, logger: { debug: log, info: log, warn: log, error: log },
      tenants: { byId: async (id) => (gone.has(id) ? undefined : { ...context(id), store: over.tenant(id) }) },
    });
    opened.push(logs);
    return logs;
  }
  const request = (number: number, more: Partial<NewRequestLogEntry> = {}): NewRequestLogEntry => ({
    requestId: `request-${number}`, startedAt: now, method: "GET", path: "/api/collections/books", status: 200, durationMs: 1.5, hookMs: 0,
    caller: { type: "guest", id: null, keyName: null }, rulesBypassed: false, hooksBypassed: false, rejection: null, ...more,
  });
  const delivery = (number: number, more: Partial<HookLogEntry> = {}): Omit<HookLogEntry, "id"> => ({
    hookId: "hook-1", event: "afterCreate", collection: "books", recordId: `record-${number}`, requestId: `request-${number}`, deliveryId: `delivery-${number}`,
    attempt: 1, startedAt: new Date(now).toISOString(), durationMs: 4, status: 200, outcome: "delivered", ...more,
  });

  async function everything(logs: Logs, query = {}): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await logs.requests.list(context("t1"), { ...query, cursor });
      found.push(...page.items.map(({ requestId }) => requestId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  it("gives the newest first, 25 at a time, up to 100, with what was written a moment ago", async () => {
    const logs = open();
    for (let number = 0; number < 1234; number += 1) logs.requests.write("t1", request(number));
    const newest = (count: number): string[] => Array.from({ length: count }, (_, index) => `request-${1233 - index}`);
    const first = await logs.requests.list(context("t1"), {});
    expect(first.items.map(({ requestId }) => requestId)).to.deep.equal(newest(25));
    expect((await logs.requests.list(context("t1"), { limit: 500 })).items).to.have.length(100);
    logs.requests.write("t1", request(1234));
    const { startedAt, ...told } = request(1234);
    expect((await logs.requests.list(context("t1"), { limit: 1 })).items[0]).to.deep.include({ ...told, time: new Date(startedAt).toISOString() });
    const ids = (await logs.requests.list(context("t1"), { limit: 100 })).items.map(({ id }) => id);
    expect(ids).to.deep.equal([...new Set(ids)].sort().reverse());
    const rest = await logs.requests.list(context("t1"), { cursor: first.nextCursor!, limit: 100 });
    expect(rest.items.map(({ requestId }) => requestId)).to.deep.equal(newest(125).slice(25));
    expect(await everything(logs, { limit: 100 })).to.deep.equal(["request-1234", ...newest(1234)]);
  });

  it("keeps its place while entries arrive, and pages over many small chunks", async () => {
    const logs = open();
    for (let number = 0; number < 60; number += 1) {
      logs.requests.write("t1", request(number));
      if (number % 2 === 0) await logs.flush();
    }
    const first = await logs.requests.list(context("t1"), { limit: 7 });
    for (let number = 60; number < 90; number += 1) logs.requests.write("t1", request(number));
    const second = await logs.requests.list(context("t1"), { limit: 7, cursor: first.nextCursor! });
    expect([...first.items, ...second.items].map(({ requestId }) => requestId)).to.deep.equal(Array.from({ length: 14 }, (_, index) => `request-${59 - index}`));
    expect(await everything(logs, { limit: 7 })).to.have.length(90);
  });

  it("filters by request, key and status", async () => {
    const logs = open();
    for (let number = 0; number < 700; number += 1) {
      const key = number % 100 === 0 ? { caller: { type: "apiKey" as const, id: "key-1", keyName: "importer" } } : {};
      logs.requests.write("t1", request(number, { ...key, status: number % 50 === 0 ? 401 : 200 }));
    }
    logs.requests.write("t1", request(700, { caller: { type: "user", id: "key-1", keyName: null } }));
    expect(await everything(logs, { requestId: "request-3" })).to.deep.equal(["request-3"]);
    expect(await everything(logs, { keyId: "key-1", limit: 3 })).to.deep.equal([6, 5, 4, 3, 2, 1, 0].map((hundred) => `request-${hundred * 100}`));
    expect(await everything(logs, { status: 401, limit: 4 })).to.have.length(14);
    expect(await everything(logs, { status: 401, keyId: "other" })).to.deep.equal([]);
  });

  it("keeps tenants and the instance apart", async () => {
    const logs = open();
    logs.requests.write("t1", request(1));
    logs.requests.write("t2", request(2));
    logs.requests.write(null, request(3));
    const ids = async (of: TenantContext | null): Promise<string[]> => (await logs.requests.list(of, {})).items.map(({ requestId }) => requestId);
    expect([await ids(context("t1")), await ids(context("t2")), await ids(null)]).to.deep.equal([["request-1"], ["request-2"], ["request-3"]]);
  });

  it("keeps hook calls by hook and request, and finds one by its id", async () => {
    const logs = open();
    for (let number = 0; number < 1200; number += 1) logs.hooks.write("t1", delivery(number, number % 3 === 0 ? { hookId: "hook-3", outcome: "failed", status: null } : {}));
    const page = await logs.hooks.list(context("t1"), { hookId: "hook-3", limit: 2 });
    expect(page.items.map(({ recordId }) => recordId)).to.deep.equal(["record-1197", "record-1194"]);
    expect((await logs.hooks.list(context("t1"), { requestId: "request-5" })).items).to.have.length(1);
    const wanted = (await logs.hooks.list(context("t1"), { requestId: "request-700" })).items[0]!;
    expect(await logs.hooks.find(context("t1"), wanted.id)).to.deep.equal(wanted);
    expect(await logs.hooks.find(context("t2"), wanted.id)).to.equal(undefined);
    for (const id of ["nonsense", "", `${wanted.id.slice(0, -3)}fff`, `${wanted.id.slice(0, -3)}ffe`]) expect(await logs.hooks.find(context("t1"), id)).to.equal(undefined);
  });

  it("refuses a cursor that it has not given", async () => {
    const logs = open();
    for (const cursor of ["x", "", "a:b", Buffer.from("x:1").toString("base64url"), "y".repeat(1000)]) {
      let status: unknown;
      await logs.requests.list(context("t1"), { cursor }).catch((error: { status: number }) => { status = error.status; });
      expect(status, cursor).to.equal(400);
    }
  });

  it("costs 500 entries one row, and keeps them over a restart", async () => {
    const logs = open();
    for (let number = 0; number < 1000; number += 1) logs.requests.write("t1", request(number));
    await logs.close();
    expect(await storage.tenant("t1").table("request_log").count(always)).to.equal(2);
    expect((await open().requests.list(context("t1"), { limit: 1 })).items[0]?.requestId).to.equal("request-999");
  });

  it("keeps no more than the retention's rows, give or take a chunk", async () => {
    const logs = open({ days: 14, rows: 1000 });
    for (let round = 0; round < 30; round += 1) {
      for (let number = 0; number < 500; number += 1) logs.requests.write("t1", request(round * 500 + number));
      await logs.flush();
    }
    await logs.close();
    const again = open({ days: 14, rows: 1000 });
    again.requests.write("t1", request(15_000));
    await again.flush();
    const kept = await everything(again, { limit: 100 });
    expect(kept).to.have.length.within(1000, 1501);
    expect(kept[0]).to.equal("request-15000");
  });

  it("looks at no entry to see which chunks go", async () => {
    /** A table whose documents nobody may read. */
    const sealed = (table: Table): Table => ({
      ...table,
      list: async (query) => (await table.list(query)).map(({ id, revision, hidden }) => ({
        id, revision, hidden,
        get text(): string { throw new Error("read"); },
        get record(): never { throw new Error("parsed"); },
      })),
    });
    const logs = open({ days: 14, rows: 1000 }, { ...storage, tenant: (id) => ({ ...storage.tenant(id), table: (name) => sealed(storage.tenant(id).table(name)) }) });
    for (let round = 0; round < 21; round += 1) {
      for (let number = 0; number < 500; number += 1) logs.requests.write("t1", request(round * 500 + number));
      await logs.flush();
    }
    await logs.close();
    expect(lines).to.deep.equal([]);
    expect(await storage.tenant("t1").table("request_log").count(always)).to.equal(2);
  });

  it("neither shows nor keeps what is older than the retention's days", async () => {
    const logs = open({ days: 2, rows: 100_000 });
    logs.requests.write("t1", request(1));
    await logs.flush();
    now += dayMs;
    logs.requests.write("t1", request(2));
    await logs.flush();
    now += dayMs + 1;
    expect(await everything(logs)).to.deep.equal(["request-2"]);
    const again = open({ days: 2, rows: 100_000 });
    again.requests.write("t1", request(3));
    await again.flush();
    expect(await storage.tenant("t1").table("request_log").count(always)).to.equal(2);
  });

  it("holds a bounded number of entries in memory while the store hangs, and says what was lost", async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const slow: Storage = { ...storage, tenant: (id) => ({ ...storage.tenant(id), write: async (unit) => { await gate; return storage.tenant(id).write(unit); } }) };
    const logs = open(undefined, slow);
    for (let number = 0; number < 60_000; number += 1) logs.requests.write("t1", request(number));
    release();
    await logs.close();
    const rows = await storage.tenant("t1").table("request_log").list({ filter: always, limit: 1000 });
    expect(rows.reduce((sum, { record }) => sum + (record["entries"] as unknown[]).length, 0)).to.be.within(20_000, 20_500);
    expect(lines).to.have.length(1);
    expect(lines[0]?.fields).to.have.property("entries").within(39_500, 40_000);
  });

  it("loses entries with one warning where the store fails, and goes on once it is back", async () => {
    let fails = true;
    const flaky: Storage = { ...storage, tenant: (id) => ({ ...storage.tenant(id), write: async (unit) => { if (fails) throw new Error("no disk"); return storage.tenant(id).write(unit); } }) };
    const logs = open(undefined, flaky);
    logs.requests.write("t1", request(1));
    await logs.flush();
    logs.requests.write("t1", request(2));
    await logs.flush();
    fails = false;
    logs.requests.write("t1", request(3));
    expect(await everything(logs)).to.deep.equal(["request-3"]);
    expect(lines.map(({ message }) => message)).to.deep.equal(["log entries could not be written and are lost"]);
  });

  it("does not bring a removed tenant's store back", async () => {
    const logs = open();
    logs.requests.write("t1", request(1));
    logs.forget("t1");
    gone.add("t1");
    await storage.dropTenant("t1");
    logs.requests.write("t1", request(2));
    await logs.flush();
    expect(await storage.tenant("t1").size()).to.equal(0);
  });

  it("T251: escapes control characters in names", async () => {
    const logs = open();
    logs.requests.write("t1", request(1, { caller: { type: "apiKey", id: "k", keyName: "a\r\n{\"level\":50}\u0000\u001b[31m" } }));
    const page = await logs.requests.list(context("t1"), {});
    expect(page.items[0]?.caller.keyName).to.equal("a\r\n{\"level\":50}\u0000\u001b[31m");
    expect(JSON.stringify(page)).to.not.match(/[\u0000-\u001f]/);
  });
});
