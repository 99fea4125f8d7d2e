// Archives that nobody should trust: each is refused with what is wrong, and leaves nothing behind.
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { deflateRawSync } from "node:zlib";
import { expect } from "chai";
import { startService, type TestService, type TestTenant } from "../support/service.js";
import { archiveOf, furnish, pack, unpack, type Furnished } from "./support.js";

type Parts = Map<string, Buffer>;

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

describe("backup: bad archives", function () {
  this.timeout(120_000);
  let service: TestService;
  let furnished: Furnished;
  let archive: Buffer;
  let target: TestTenant;

  before(async () => {
    service = await startService();
    furnished = await furnish(service);
    archive = await archiveOf(service, furnished.tenant);
  });
  after(() => service.close());
  beforeEach(async () => {
    target = await service.createTenant();
  });

  async function restore(bytes: Buffer) {
    return await service.request("POST", `/api/meta/tenants/${target.id}/restore`, { token: await service.superadminToken(), body: bytes, headers: { "content-type": "application/zip" } });
  }

  /** Refused with the message; the tenant is as empty as before, also on disk, and takes a sound archive afterwards. */
  async function refused(bytes: Buffer, message: string | RegExp): Promise<void> {
    const answer = await restore(bytes);
    expect(answer.status, answer.text).to.equal(400);
    if (typeof message === "string") expect(answer.body).to.deep.equal({ error: message });
    else expect(answer.body.error).to.match(message);
    expect((await service.service.tenant(target.slug).collections.list()).map(({ name }) => name)).to.deep.equal(["users"]);
    expect((await service.service.tenant(target.slug).users.list()).items).to.deep.equal([]);
    expect(await service.service.tenant(target.slug).apiKeys.list()).to.deep.equal([]);
    const left = await readdir(`${service.folder}/files/${target.id}`, { recursive: true, withFileTypes: true }).catch(() => []);
    expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).to.deep.equal([]);
    expect((await restore(archive)).status).to.equal(200);
    target = await service.createTenant();
  }

  /** The archive with changed parts; `manifest` names them as they are then. */
  async function changed(change: (parts: Parts) => void, { resign = true } = {}): Promise<Buffer> {
    const parts = await unpack(archive);
    change(parts);
    if (resign) {
      const manifest = JSON.parse(parts.get("manifest.json")!.toString("utf8")) as { entries: object };
      const entries = [...parts].filter(([path]) => path !== "manifest.json").map(([path, content]) => [path, { size: content.length, sha256: sha256(content) }]);
      parts.set("manifest.json", Buffer.from(JSON.stringify({ ...manifest, entries: Object.fromEntries(entries) })));
    }
    return await pack(parts);
  }

  /** The first page of a collection, by its name. */
  function pageOf(parts: Parts, name: string): string {
    const definition = parts.get("collections.ndjson")!.toString("utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line) as { id: string; name: string }).find((one) => one.name === name)!;
    return [...parts.keys()].find((path) => path.startsWith(`records/${definition.id}/`))!;
  }
  const edit = (parts: Parts, path: string, replace: (text: string) => string): void => {
    const text = parts.get(path)!.toString("utf8");
    const next = replace(text);
    if (next === text) throw new Error(`${path} is as it was`);
    parts.set(path, Buffer.from(next));
  };
  const manifestWith = (members: object) => (parts: Parts): void => edit(parts, "manifest.json", (text) => JSON.stringify({ ...(JSON.parse(text) as object), ...members }));

  const cases: [string, () => Promise<Buffer>, string | RegExp][] = [
    ["something that is no zip", async () => Buffer.from("hello, this is no archive at all"), /^This is no backup: End of central directory record signature not found/],
    ["an empty zip", () => pack([]), "The archive lacks manifest.json"],
    ["a zip of something else", () => pack([["readme.txt", "hello"]]), 'The archive has the entry "readme.txt", which no backup has'],
    ["a manifest of another program", () => pack([["manifest.json", '{"format":"other"}']]), "This archive is no backup of this service"],
    ["a manifest that is no JSON", () => changed((parts) => void parts.set("manifest.json", Buffer.from("{")), { resign: false }), "manifest.json is not valid JSON"],
    ["a newer format", () => changed(manifestWith({ version: 2 })), "The backup has the format 2, and this service knows up to 1: restore it with a newer release"],
    ["a changed byte", () => changed((parts) => edit(parts, pageOf(parts, "books"), (text) => text.replace("Solaris", "Solarus")), { resign: false }), /^records\/.* is damaged: its content is not what its checksum says$/],
    ["a changed file", () => changed((parts) => {
      const path = [...parts.keys()].find((one) => one.startsWith("files/") && !one.includes(".w") && parts.get(one)!.toString() === "first")!;
      parts.set(path, Buffer.from("fIrst"));
    }, { resign: false }), /^files\/.* is damaged: its content is not what its checksum says$/],
    ["a missing page", () => changed((parts) => void parts.delete(pageOf(parts, "books")), { resign: false }), /^The archive lacks records\//],
    ["a missing file", () => changed((parts) => void parts.delete([...parts.keys()].find((one) => /^files\/.*[0-9a-f]$/.test(one))!)), /^The archive lacks files\/.*, which a record names$/],
    ["an entry that the manifest does not name", () => changed((parts) => void parts.set("hooks.ndjson", parts.get("hooks.ndjson")!), { resign: false }).then(async (bytes) => pack([...(await unpack(bytes)), ["records/01a1fda2-0000-7000-8000-000000000001/00000001.ndjson", ""]])), /^The archive has records\/01a1fda2.*, which its manifest does not name$/],
    ["a page of no collection", () => changed((parts) => void parts.set("records/01a1fda2-0000-7000-8000-000000000001/00000001.ndjson", Buffer.from(""))), /^The archive has records\/01a1fda2.*, which belongs to no collection$/],
    ["a record with a member of no field", () => changed((parts) => edit(parts, pageOf(parts, "books"), (text) => text.replace('"title":', '"colour":1,"title":'))), /with "colour", which is no field of books$/],
    ["a record with a value of another type", () => changed((parts) => edit(parts, pageOf(parts, "books"), (text) => text.replace(/"price":9\.5/, '"price":"dear"'))), /whose price is no NUMBER$/],
    ["a record twice", () => changed((parts) => edit(parts, pageOf(parts, "authors"), (text) => text + text)), /which was there before$/],
    ["a line that is no record", () => changed((parts) => edit(parts, pageOf(parts, "books"), () => "[]\n")), /holds a line that is no record$/],
    ["a record that reaches for prototypes", () => changed((parts) => edit(parts, pageOf(parts, "books"), (text) => text.replace('"title":', '"__proto__":{"a":1},"title":'))), /has the key __proto__, which is not allowed$/],
    ["a file that is larger than its record says", () => changed((parts) => edit(parts, pageOf(parts, "books"), (text) => text.replace('"size":5', '"size":6'))), /^files\/.* has 5 bytes, and its record says 6$/],
    ["records that break a unique index", () => changed((parts) => edit(parts, pageOf(parts, "books"), (text) => text.replace('"title":"Book 1"', '"title":"Book 2"'))), "The archive holds records of books with the same title, author, which must be unique"],
    ["accounts with the same name", () => changed((parts) => edit(parts, pageOf(parts, "users"), (text) => text.replace('"username":"ben"', '"username":"ann"'))), "The archive holds accounts with the same username, which must be unique"],
    ["an account with more hidden members than there are", () => changed((parts) => edit(parts, pageOf(parts, "users"), (text) => text.replace('"hidden":{', '"hidden":{"admin":true,'))), /cannot be read$/],
    ["a collection with a name that cannot be", () => changed((parts) => edit(parts, "collections.ndjson", (text) => text.replaceAll('"books"', '"../books"'))), /^collections\.ndjson holds the collection \.\.\/books, which cannot be: name/],
    ["a rule that does not hold", () => changed((parts) => edit(parts, "collections.ndjson", (text) => text.replace('"viewRule":"@auth.id != null"', '"viewRule":"nope = 1"'))), /^collections\.ndjson holds a rule that does not hold: books\.viewRule/],
    ["no users", () => changed((parts) => edit(parts, "collections.ndjson", (text) => text.split("\n").filter((line) => !line.includes('"system":true')).join("\n"))), /must hold users once$/],
    ["a relation to nowhere", () => changed((parts) => edit(parts, "collections.ndjson", (text) => text.replace('"collection":"authors"', '"collection":"nobody"'))), /refers to a collection that is not there$/],
    ["an unknown setting", () => changed((parts) => edit(parts, "settings.json", (text) => text.replace("{", '{"root":true,'))), "settings.json has root, which is no setting"],
    ["a setting of another type", () => changed((parts) => edit(parts, "settings.json", (text) => text.replace('"selfRegistration":true', '"selfRegistration":"yes"'))), "settings.json has a selfRegistration that cannot be"],
    ["a hook that could not be saved", () => changed((parts) => edit(parts, "hooks.ndjson", (text) => text.replace("http://127.0.0.1:9/hook", "file:///etc/passwd"))), /^hooks\.ndjson holds the hook .*, which cannot be: url/],
    ["a key of nobody", () => changed((parts) => edit(parts, "api-keys.ndjson", (text) => text.replace(furnished.userId, "01a1fda2-0000-7000-8000-000000000001"))), /of an account that is not in the archive$/],
  ];
  for (const [what, make, message] of cases) {
    it(`${what} is refused, and nothing is written`, async () => refused(await make(), message));
  }

  it("cut off anywhere it is refused", async () => {
    for (const share of [0.1, 0.5, 0.9, 0.999]) {
      const answer = await restore(archive.subarray(0, Math.floor(archive.length * share)));
      expect([answer.status, answer.body.error]).to.satisfy(([status, error]: [number, string]) => status === 400 && error.startsWith("This is no backup: "));
    }
    await refused(archive.subarray(0, archive.length - 1), /^This is no backup: /);
  });

  for (const path of ["../escape.txt", "/etc/passwd", "files/../../x", "C:/windows", "records\\..\\x"]) {
    it(`the path ${path} is refused`, async () => refused(rawZip([{ path, content: Buffer.from("x") }]), /^(?:This is no backup|The archive has the entry)/));
  }

  it("an entry that unpacks to more than it says is refused", async () => {
    const bomb = rawZip([{ path: "manifest.json", content: Buffer.alloc(50_000_000), claimed: 10 }]);
    expect(bomb.length).to.be.lessThan(60_000);
    await refused(bomb, /^manifest\.json is damaged$/);
  });

  it("entries that say they unpack to more than a GiB are refused before anything is unpacked", async () => {
    const id = "01a1fda2-0000-7000-8000-000000000001";
    const entries = Array.from({ length: 6 }, (_, index) => ({ path: `records/${id}/0000000${index}.ndjson`, content: Buffer.from("x"), claimed: 200 * 1024 * 1024 }));
    await refused(rawZip(entries), "The archive has more than 1024 MiB when it is unpacked");
    await refused(rawZip([{ path: "manifest.json", content: Buffer.from("x"), claimed: 300 * 1024 * 1024 }]), 'The entry "manifest.json" is too large when it is unpacked');
  });

  it("entries that lie over each other, and the same path twice, are refused", async () => {
    await refused(rawZip([{ path: "manifest.json", content: Buffer.from("{}") }, { path: "tenant.json", content: Buffer.from("{}"), at: 0 }]), "The archive has entries that lie over each other");
    await refused(rawZip([{ path: "manifest.json", content: Buffer.from("{}") }, { path: "manifest.json", content: Buffer.from("{}") }]), 'The archive has the entry "manifest.json" twice');
  });

  it("a tenant that is not empty is left as it is: 409", async () => {
    await service.createCollection(target, { name: "mine", fields: [] });
    const answer = await restore(archive);
    expect([answer.status, answer.body]).to.deep.equal([409, { error: "The tenant is not empty: make a new one to restore into" }]);
    const users = await service.createTenant();
    await service.signUp(users, "zoe");
    const second = await service.request("POST", `/api/meta/tenants/${users.id}/restore`, { token: await service.superadminToken(), body: archive, headers: { "content-type": "application/zip" } });
    expect(second.status).to.equal(409);
    expect((await service.login(users, "zoe")).status).to.equal(200);
  });

  it("of two restores at once into one tenant one succeeds, and it is whole", async () => {
    const answers = await Promise.all([restore(archive), restore(archive)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    expect((await service.service.tenant(target.slug).as("system").collection("books").list({ count: true })).total).to.equal(451);
  });

  it("an account that appears during the restore stays, and nothing is restored", async () => {
    const handle = service.service.tenant(target.slug);
    let made: Promise<unknown> | undefined;
    const outcome = await handle.restore(archive, {
      onProgress: () => void (made ??= handle.users.create({ username: "early", password: "correct horse battery" })),
    }).then(() => undefined, (error: Error & { status?: number }) => error);
    await made;
    expect(outcome?.status).to.equal(409);
    expect((await handle.users.list()).items.map((user) => user["username"])).to.deep.equal(["early"]);
    expect((await handle.collections.list()).map(({ name }) => name)).to.deep.equal(["users"]);
  });

  it("only the superadmin may: 401, 403; another media type 415, no body 400, an unknown tenant 404, over the cap 413", async () => {
    const user = await service.signUp(furnished.tenant, `u${Date.now()}`);
    const path = `/api/meta/tenants/${target.id}/restore`;
    const headers = { "content-type": "application/zip" };
    const token = await service.superadminToken();
    expect((await service.request("GET", `/api/meta/tenants/${furnished.tenant.id}/backup`)).status).to.equal(401);
    expect((await service.request("GET", `/api/meta/tenants/${furnished.tenant.id}/backup`, { token: user.token })).status).to.equal(403);
    expect((await service.request("GET", `/api/meta/tenants/${furnished.tenant.id}/backup`, { token: furnished.key })).status).to.equal(403);
    expect((await service.request("POST", path, { body: archive, headers })).status).to.equal(401);
    expect((await service.request("POST", path, { token, body: archive, headers: { "content-type": "text/plain" } })).status).to.equal(415);
    expect((await service.request("POST", path, { token, headers })).status).to.equal(400);
    expect((await service.meta("GET", "/api/meta/tenants/01a1fda2-0000-7000-8000-000000000001/backup")).status).to.equal(404);
    expect((await service.request("POST", path, { token, body: Buffer.alloc(4 * 1024 * 1024 + 1), headers })).status).to.equal(413);
  });
});

/** A zip by hand, with sizes and places that need not be true. */
function rawZip(entries: readonly { readonly path: string; readonly content: Buffer; readonly claimed?: number; readonly at?: number }[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, content, claimed = content.length, at = offset } of entries) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(claimed, 22);
    local.writeUInt16LE(name.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(20, 4);
    central.writeUInt16LE(20, 6);
    central.writeUInt16LE(0x0800, 8);
    central.writeUInt16LE(8, 10);
    central.writeUInt32LE(packed.length, 20);
    central.writeUInt32LE(claimed, 24);
    central.writeUInt16LE(name.length, 28);
    central.writeUInt32LE(at, 42);
    locals.push(local, name, packed);
    directory.push(central, name);
    offset += local.length + name.length + packed.length;
  }
  const table = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(table.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, table, end]);
}
