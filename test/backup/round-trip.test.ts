// A tenant out and in again: the same service, another one, and while others write.
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect } from "chai";
import { demand, secretsOf, startService, type TestService, type TestTenant } from "../support/service.js";
import { archiveOf, furnish, picture, unpack, type Furnished } from "./support.js";

type Items = Record<string, unknown>[];

describe("backup: there and back", function () {
  this.timeout(120_000);
  let service: TestService;
  let furnished: Furnished;
  let archive: Buffer;

  before(async () => {
    service = await startService();
    furnished = await furnish(service);
    archive = await archiveOf(service, furnished.tenant);
  });
  after(() => service.close());

  const exported = async (at: TestService, { slug }: TestTenant, collection: string): Promise<Items> => {
    let text = "";
    for await (const piece of await at.service.tenant(slug).collections.export(collection)) text += String(piece);
    return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const definitions = async (at: TestService, { slug }: TestTenant) => await at.service.tenant(slug).collections.list();

  it("over HTTP: the same collections, records, accounts, settings, hooks and files, in another tenant", async () => {
    const token = await service.superadminToken();
    const out = await service.request("GET", `/api/meta/tenants/${furnished.tenant.id}/backup`, { token });
    expect([out.status, out.headers["content-type"]]).to.deep.equal([200, "application/zip"]);
    expect(out.headers["content-disposition"]).to.match(new RegExp(`^attachment; filename="${furnished.tenant.slug}-\\d{4}-\\d\\d-\\d\\d\\.zip"$`));
    const copy = await service.createTenant();
    const answer = await demand(200, service.request("POST", `/api/meta/tenants/${copy.id}/restore`, { token, body: out.bytes, headers: { "content-type": "application/zip" } }));
    expect(answer.body).to.deep.include({ collections: 3, records: 452, users: 2, files: 3, hooks: 1, apiKeys: 1 });
    expect(answer.body.warnings).to.have.length(1).and.to.satisfy(([warning]: string[]) => /^The API key reader \(pk_.{8}…\) is revoked/.test(warning!));

    expect(await definitions(service, copy)).to.deep.equal(await definitions(service, furnished.tenant));
    for (const name of ["authors", "books", "users"]) expect(await exported(service, copy, name), name).to.deep.equal(await exported(service, furnished.tenant, name));
    const [from, to] = [furnished.tenant, copy].map(({ slug }) => service.service.tenant(slug));
    expect(await to!.settings.get()).to.deep.equal(await from!.settings.get());
    expect(await to!.hooks.list()).to.deep.equal(await from!.hooks.list());
    // The account signs in with its password, and the rules hold.
    const { body } = await demand(200, service.login(copy, "ann"));
    const books = await demand(200, service.request("GET", "/api/collections/books?limit=100", { token: body.accessToken }));
    expect(books.body.items).to.have.length(100);
    const { scans } = books.body.items[0] as { scans: { url: string }[] };
    expect((await demand(200, service.request("GET", scans[0]!.url, { token: body.accessToken }))).text).to.equal("first");
    const [author] = (await demand(200, service.request("GET", "/api/collections/authors", { tenant: copy.slug }))).body.items as { portrait: { url: string } }[];
    expect((await demand(200, service.request("GET", author!.portrait.url, { tenant: copy.slug }))).bytes.equals(await picture())).to.equal(true);
  });

  it("a key that works in its tenant comes back revoked, and goes on working there alone", async () => {
    const copy = await service.createTenant();
    await service.service.tenant(copy.slug).restore(archive);
    expect((await service.request("GET", "/api/auth/me", { token: furnished.key })).body.username).to.equal("ann");
    expect((await service.service.tenant(copy.slug).apiKeys.list()).map(({ status }) => status)).to.deep.equal(["revoked"]);
  });

  it("in a service of its own, from a stream: keys and hooks work where the secrets are the same, and hooks are disabled where not", async () => {
    const source = await startService();
    const from = await furnish(source, "origin");
    const stream = await source.service.tenant("origin").backup();
    const other = await startService({ secrets: secretsOf("another service") });
    await other.createTenant("there");
    const report = await other.service.tenant("there").restore(stream);
    expect(report.warnings).to.deep.equal([`The hook ${from.hookId} (beforeDelete) is disabled and has a new secret and no headers: its own were sealed by another service`]);
    const [hook] = await other.service.tenant("there").hooks.list();
    expect(hook).to.deep.include({ enabled: false, headers: {} });
    expect((await other.request("GET", "/api/auth/me", { token: from.key })).body.id).to.equal(from.userId);
    await source.close();
    await other.close();
  });

  it("the archive names no secret in plain text", async () => {
    const parts = await unpack(archive);
    const all = Buffer.concat([...parts.values()]).toString("utf8");
    for (const secret of [furnished.key, furnished.hookSecret, "header-secret", "correct horse battery"]) expect(all).not.to.contain(secret);
    const users = [...parts].filter(([path]) => path.startsWith("records/")).map(([, content]) => content.toString("utf8")).find((text) => text.includes('"ann"'))!;
    expect(users).to.contain("passwordHash").and.not.to.contain("resetHash").and.not.to.contain("revokedFamilies");
    const manifest = JSON.parse(parts.get("manifest.json")!.toString("utf8")) as { format: string; version: number; entries: Record<string, { size: number }> };
    expect(manifest).to.include({ format: "records-service-backup", version: 1 });
    expect(Object.keys(manifest.entries).sort()).to.deep.equal([...parts.keys()].filter((path) => path !== "manifest.json").sort());
  });

  it("image variants come along; those that were never made are made after the restore", async () => {
    const copy = await service.createTenant();
    const parts = await unpack(archive);
    const token = await service.superadminToken();
    await service.service.tenant(copy.slug).restore(archive);
    const [author] = (await demand(200, service.request("GET", "/api/collections/authors", { tenant: copy.slug }))).body.items as { portrait: { url: string } }[];
    let label = "";
    while (label !== "16") label = String((await service.request("GET", `${author!.portrait.url}?width=16`, { token, tenant: copy.slug })).headers["x-image-width"]);
    expect([...parts.keys()].filter((path) => path.endsWith(".w16")).length).to.be.lessThan(2);
  });

  it("is of one moment, while others write: a transfer between two records is in it whole or not at all", async () => {
    const tenant = await service.createTenant();
    const handle = service.service.tenant(tenant.slug);
    await handle.collections.create({ name: "accounts", fields: [{ name: "balance", type: "NUMBER" }, { name: "file", type: "FILE" }] });
    const system = handle.as("system");
    const accounts = system.collection<{ balance: number }>("accounts");
    const ids: string[] = [];
    for (let index = 0; index < 600; index += 1) ids.push((await accounts.create({ balance: 10 })).id);
    await system.files.upload("accounts", ids[300]!, "file", { name: "a.txt", stream: Readable.from([Buffer.from("a")]) });

    let running = true;
    let transfers = 0;
    const balances = new Map(ids.map((id) => [id, 10]));
    const writing = (async () => {
      for (let step = 0; running; step += 1) {
        const [from, to] = [ids[(step * 7) % 600]!, ids[(step * 13 + 299) % 600]!];
        if (from === to) continue;
        balances.set(from, balances.get(from)! - 1);
        balances.set(to, balances.get(to)! + 1);
        await system.batch([{ method: "PATCH", collection: "accounts", id: from, body: { balance: balances.get(from)! } }, { method: "PATCH", collection: "accounts", id: to, body: { balance: balances.get(to)! } }]);
        if (step % 10 === 0) await system.files.upload("accounts", ids[300]!, "file", { name: "b.txt", stream: Readable.from([Buffer.from(String(step))]) });
        transfers += 1;
      }
    })();
    const archives: Buffer[] = [];
    for (let round = 0; round < 3; round += 1) archives.push(await archiveOf(service, tenant));
    running = false;
    await writing;
    expect(transfers).to.be.greaterThan(0);
    for (const one of archives) {
      const copy = await service.createTenant();
      const report = await service.service.tenant(copy.slug).restore(one);
      expect(report).to.deep.include({ records: 600, files: 1, warnings: [] });
      const total = (await exported(service, copy, "accounts")).reduce((sum, { balance }) => sum + (balance as number), 0);
      expect(total).to.equal(6_000);
    }
  });

  it("records that are made or removed meanwhile are in it once or not at all", async () => {
    const tenant = await service.createTenant();
    const handle = service.service.tenant(tenant.slug);
    await handle.collections.create({ name: "notes", fields: [{ name: "text", type: "TEXT" }] });
    const notes = handle.as("system").collection("notes");
    const ids: string[] = [];
    for (let index = 0; index < 500; index += 1) ids.push((await notes.create({ text: String(index) })).id);
    const reading = archiveOf(service, tenant);
    for (let index = 0; index < 100; index += 1) {
      await notes.delete(ids[index * 5]!);
      await notes.create({ text: `new ${index}` });
    }
    const copy = await service.createTenant();
    await service.service.tenant(copy.slug).restore(await reading);
    const found = (await exported(service, copy, "notes")).map(({ id }) => id as string);
    expect(new Set(found).size).to.equal(found.length);
    // Each step removed one and then made one: of one moment there are 500, or 499 between the two.
    expect(found.length).to.be.within(499, 500);
  });

  it("a change of definitions meanwhile breaks the stream, and what came of it is refused", async () => {
    const tenant = await service.createTenant();
    const handle = service.service.tenant(tenant.slug);
    await handle.collections.create({ name: "notes", fields: [{ name: "text", type: "TEXT" }] });
    // More than the stream holds before somebody reads it.
    for (let index = 0; index < 401; index += 1) await handle.as("system").collection("notes").create({ text: randomBytes(1500).toString("base64") });
    const stream = await handle.backup();
    await handle.collections.create({ name: "more", fields: [] });
    const chunks: Buffer[] = [];
    let failure: Error | undefined;
    try {
      for await (const chunk of stream) chunks.push(chunk as Buffer);
    } catch (error) {
      failure = error as Error;
    }
    expect(failure?.message).to.equal("Collections, hooks or settings were changed during the backup; make it again");
    const copy = await service.createTenant();
    const refused = await service.service.tenant(copy.slug).restore(Buffer.concat(chunks)).then(() => undefined, (error: Error) => error);
    expect(refused?.message).to.match(/^This is no backup: /);
  });

  it("a client that leaves in the middle ends the reading, and troubles nobody", async () => {
    const own = await startService();
    const tenant = await own.createTenant();
    const handle = own.service.tenant(tenant.slug);
    await handle.collections.create({ name: "notes", fields: [{ name: "text", type: "TEXT" }, { name: "file", type: "FILE" }] });
    const notes = handle.as("system").collection("notes");
    for (let index = 0; index < 600; index += 1) await notes.create({ text: randomBytes(3_000).toString("base64").slice(0, 4_000) });
    const [first] = (await notes.list({ limit: 1 })).items;
    await handle.as("system").files.upload("notes", first!.id, "file", { name: "f.bin", stream: Readable.from([randomBytes(1_000_000)]) });
    const token = await own.superadminToken();
    const left = new Promise<void>((resolve, reject) => {
      const req = request(`${own.url}/api/meta/tenants/${tenant.id}/backup`, { headers: { authorization: `Bearer ${token}` }, agent: false }, (res) => {
        res.once("data", () => {
          res.destroy();
          resolve();
        });
      });
      req.once("error", reject);
      req.end();
    });
    await left;
    await demand(200, own.request("GET", "/health"));
    // Waits for requests under way: a backup that went on would hold it up.
    await own.close();
    expect(own.logged.filter(({ level }) => level === "error" || level === "warn")).to.deep.equal([]);
  });

  it("mails that wait are not in it: a restore writes to nobody", async () => {
    const sent: string[] = [];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const own = await startService({ mailer: { send: async ({ to }) => { sent.push(to); await gate; } } });
    const tenant = await own.createTenant("mails");
    const handle = own.service.tenant("mails");
    await handle.settings.update({ passwordReset: { enabled: true, linkUrl: "https://app.test/reset" } });
    const names = Array.from({ length: 8 }, (_, n) => `user${n}@example.com`);
    for (const [n, email] of names.entries()) await own.signUp(tenant, `user${n}`, { email });
    for (const email of names.slice(0, 7)) await handle.auth.forgotPassword({ email });
    // Five are under way, the others wait.
    while (sent.length < 5) await new Promise((resolve) => setImmediate(resolve));
    const copy = await own.createTenant("copy");
    await own.service.tenant("copy").restore(await archiveOf(own, tenant));
    await own.service.tenant(copy.slug).auth.forgotPassword({ email: names[7]! });
    release();
    await own.close();
    expect(sent.sort()).to.deep.equal(names);
  });

  it("from a file, with progress; an empty tenant too", async () => {
    const folder = await mkdtemp(join(tmpdir(), "records-archive-"));
    const empty = await service.createTenant();
    const file = join(folder, "empty.zip");
    const steps: string[] = [];
    await writeFile(file, await archiveOf(service, empty));
    const copy = await service.createTenant();
    expect(await service.service.tenant(copy.slug).restore({ file })).to.deep.include({ collections: 1, records: 0, users: 0 });
    await writeFile(file, archive);
    const second = await service.createTenant();
    await service.service.tenant(second.slug).restore(createReadStream(file), { onProgress: (step, done) => void steps.push(`${step} ${done}`) });
    expect(steps).to.include("records 454").and.to.include("files 3");
    await rm(folder, { recursive: true });
  });
});
