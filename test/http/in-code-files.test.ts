// Contract 10: a record and its files are written in one go in code too, as a form does over HTTP.
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import { expect } from "chai";
import type { TenantHandle } from "../../lib/index.js";
import { startService, testPassword, type TestService } from "../support/service.js";

type Paper = Record<string, unknown> & { title: string | null; owner: string | null; scan: { id: string; name: string; size: number } | null; pages: { id: string; name: string }[] };

describe("files with a record, in code", () => {
  let on: TestService;
  let acme: TenantHandle;
  let alice: string;
  let bob: string;

  before(async () => {
    on = await startService();
    await on.service.tenants.create({ slug: "acme" });
    acme = on.service.tenant("acme");
    [alice, bob] = (await Promise.all(["alice", "bob"].map((username) => acme.users.create({ username, password: testPassword })))).map(({ id }) => id) as [string, string];
    const own = "owner = @auth.id";
    await acme.collections.create({
      name: "papers",
      fields: [
        { name: "title", type: "TEXT", maxLength: 10 }, { name: "owner", type: "TEXT" },
        { name: "scan", type: "FILE", required: true, maxSize: 20 }, { name: "pages", type: "FILE", multiple: true, maxFiles: 3 },
      ],
      listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: null,
    });
    await acme.collections.create({ name: "shut", fields: [{ name: "scan", type: "FILE" }] });
  });
  after(() => on.close());

  const papers = (who = alice) => acme.as({ userId: who }).collection<Paper>("papers");
  const file = (field: string, content: string, name = `${content}.txt`) => ({ field, name, stream: Readable.from([content]) });
  async function failure(call: Promise<unknown>): Promise<{ status: number; body: unknown }> {
    return await call.then(() => { throw new Error("it should have failed"); }, (error: unknown) => error as never);
  }
  async function stored(): Promise<string[]> {
    const entries = await readdir(join(on.folder, "files"), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name).sort();
  }

  it("a record with a required file is created, by the before-hooks' body too", async () => {
    const seen: unknown[] = [];
    const end = on.service.on("beforeCreate", { tenant: "acme", collection: "papers" }, ({ context, data }) => {
      seen.push([context.recordId, data.body]);
      return { data: { body: { ...(data.body as { owner: string }), title: "hooked" } } };
    });
    const made = await papers().create({ owner: alice }, { files: [file("scan", "one"), file("pages", "p1"), file("pages", "p2")] });
    end();
    expect(seen).to.deep.equal([[made.id, { owner: alice, id: made.id }]]);
    expect([made.title, made.scan?.name, made.pages.map(({ name }) => name)]).to.deep.equal(["hooked", "one.txt", ["p1.txt", "p2.txt"]]);
    expect(await readText((await acme.as({ userId: alice }).files.read("papers", made.id, "scan")).stream)).to.equal("one");
    expect(made).to.deep.equal(await papers().get(made.id));
  });

  it("an update replaces, appends and changes fields at once, under its condition", async () => {
    const made = await papers().create({ owner: alice, title: "a" }, { files: [file("scan", "one"), file("pages", "p1")] });
    const changed = await papers().update(made.id, { title: "b" }, { files: [file("scan", "two"), file("pages", "p2")], ifUnchanged: made });
    expect([changed.title, changed.scan?.name, changed.pages.map(({ name }) => name)]).to.deep.equal(["b", "two.txt", ["p1.txt", "p2.txt"]]);
    expect(changed.scan!.id).not.to.equal(made.scan!.id);
    expect((await failure(papers().update(made.id, {}, { files: [file("scan", "three")], ifUnchanged: made }))).status).to.equal(412);
    expect((await papers().get(made.id)).scan!.id).to.equal(changed.scan!.id);
  });

  it("nothing is written where anything is wrong, and no stream is left open", async () => {
    const { id } = await papers().create({ owner: alice }, { files: [file("scan", "one")] });
    const before = await stored();
    expect(before).not.to.deep.equal([]);
    const tooLarge = createReadStream(import.meta.filename);
    const rest = createReadStream(import.meta.filename);
    const cases: [number, string | undefined, () => Promise<unknown>][] = [
      [400, "scan", () => papers().create({ owner: alice })],
      [400, "title", () => papers().create({ owner: alice, title: "x".repeat(11) }, { files: [file("scan", "one")] })],
      [400, "title", () => papers().update(id, {}, { files: [file("title", "one")] })],
      [400, "scan", () => papers().create({ owner: alice }, { files: [file("pages", "p"), { field: "scan", name: "big", stream: tooLarge }, { field: "pages", name: "rest", stream: rest }] })],
      [400, "pages", () => papers().update(id, {}, { files: ["1", "2", "3", "4"].map((one) => file("pages", one)) })],
      [403, undefined, () => papers(bob).create({ owner: alice }, { files: [file("scan", "one")] })],
      [404, undefined, () => papers(bob).update(id, {}, { files: [file("scan", "one")] })],
      [403, undefined, () => acme.as({ userId: bob }).collection("shut").create({}, { files: [file("scan", "one")] })],
      [401, undefined, () => acme.as("guest").collection("papers").create({}, { files: [file("scan", "one")] })],
      [404, undefined, () => acme.as("system").collection("nowhere").create({}, { files: [file("scan", "one")] })],
      [400, undefined, () => papers().create({ owner: alice }, { files: file("scan", "one") as never })],
      [400, undefined, () => papers().create({ owner: alice }, { files: [{ name: "x", stream: Readable.from([]) } as never] })],
      [400, undefined, () => papers().create({ owner: alice }, { files: [{ field: "scan", name: "x", stream: "text" as never }] })],
    ];
    const readFrom: string[] = [];
    const noted = (whose: string) => ({ field: "scan", name: "x", stream: Readable.from((function* () { readFrom.push(whose); yield "x"; })()) });
    await failure(acme.as("guest").collection("papers").create({}, { files: [noted("guest")] }));
    await failure(acme.as({ userId: bob }).collection("shut").create({}, { files: [noted("bob, create")] }));
    await failure(papers(bob).update(id, {}, { files: [noted("bob, update")] }));
    expect(readFrom).to.deep.equal([]);
    for (const [status, field, run] of cases) {
      const error = await failure(run());
      expect([error.status, field === undefined ? undefined : (error.body as { field: string }[])[0]?.field], String(run)).to.deep.equal([status, field]);
    }
    expect([tooLarge.destroyed, rest.destroyed]).to.deep.equal([true, true]);
    expect(await stored()).to.deep.equal(before);
    expect((await papers().list()).items.filter((paper) => paper.pages.length > 2)).to.deep.equal([]);
  });
});
