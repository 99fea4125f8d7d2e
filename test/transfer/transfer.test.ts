// Import and export of a collection, over HTTP and in code.
import { Readable } from "node:stream";
import { expect } from "chai";
import { startService, type TestService, type TestTenant } from "../support/service.js";

const fields = [
  { name: "title", type: "TEXT", required: true, unique: true },
  { name: "price", type: "NUMBER" },
  { name: "sold", type: "BOOLEAN" },
  { name: "published", type: "DATE" },
  { name: "tags", type: "JSON" },
  { name: "state", type: "SELECT", values: ["new", "used"], default: "new" },
];

describe("transfer", () => {
  let service: TestService;
  let tenant: TestTenant;
  let path: string;

  before(async () => {
    service = await startService();
  });
  after(() => service.close());

  beforeEach(async () => {
    tenant = await service.createTenant();
    await service.createCollection(tenant, { name: "books", fields });
    path = `/api/meta/tenants/${tenant.id}/collections/books`;
  });

  async function send(body: string, query: string, type = "text/csv") {
    return service.request("POST", `${path}/import?${query}`, { token: await service.superadminToken(), body, headers: { "content-type": type } });
  }
  const read = async (format: string) => service.meta("GET", `${path}/export?format=${format}`);
  const titles = async () => (await read("ndjson")).text.trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line).title as string);

  it("imports a CSV, each cell converted to its field's type, in the order of the rows", async () => {
    const text = '\ufefftitle,price,sold,published,tags\r\n"Zażółć, ""gęślą"" jaźń",12.5,true,2020-02-29,"{""a"":[1]}"\r\nSecond,,false,,\r\n"two\nlines",0,,,\r\n';
    const answer = await send(text, "format=csv");
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ dryRun: false, rows: 3, valid: 3, imported: 3, errors: [], moreErrors: 0 });
    const list = await service.request("GET", "/api/collections/books", { token: await service.superadminToken(), tenant: tenant.slug });
    expect(list.body.items.map(({ id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...rest }: Record<string, unknown>) => rest)).to.deep.equal([
      { title: 'Zażółć, "gęślą" jaźń', price: 12.5, sold: true, published: "2020-02-29T00:00:00.000Z", tags: { a: [1] }, state: "new" },
      { title: "Second", price: null, sold: false, published: null, tags: null, state: "new" },
      { title: "two\nlines", price: 0, sold: null, published: null, tags: null, state: "new" },
    ]);
  });

  it("a dry run reports each bad row with its line, and writes nothing", async () => {
    const text = "title,price,sold,state\nfirst,1,true,new\n,2,true,new\nthird,dear,yes,old\nfirst,3,,\n";
    const answer = await send(text, "format=csv&dryRun=true");
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({
      dryRun: true, rows: 4, valid: 1, imported: 0, moreErrors: 0,
      errors: [
        { row: 2, line: 3, field: "title", message: "is required" },
        { row: 3, line: 4, field: "price", message: "must be a number" },
        { row: 3, line: 4, field: "sold", message: "must be true or false" },
        { row: 3, line: 4, field: "state", message: "must be one of new, used" },
        { row: 4, line: 5, field: "title", message: "is the same as in row 1, and must be unique" },
      ],
    });
    expect(await titles()).to.deep.equal([]);
  });

  it("an import with a bad row answers 400 with the array and writes nothing", async () => {
    const answer = await send('{"title":"good"}\n{"title":5}\nnot json\n[1]\n', "format=ndjson", "application/x-ndjson");
    expect(answer.status).to.equal(400);
    expect(answer.body).to.deep.equal([
      { field: "row 2, title", message: "must be a text" },
      { field: "row 3", message: "is not valid JSON" },
      { field: "row 3, title", message: "is required" },
      { field: "row 4", message: "must be an object" },
      { field: "row 4, title", message: "is required" },
    ]);
    expect(await titles()).to.deep.equal([]);
  });

  for (const format of ["csv", "ndjson", "json"] as const) {
    it(`what was exported as ${format} comes back as it was, with its ids`, async () => {
      const books = service.service.tenant(tenant.slug).as("system").collection("books");
      await books.create({ title: "  spaces, and a line\r\nend ", price: -1.5e-7, sold: true, published: "1999-12-31T23:59:59.999Z", tags: ["ż", null, { x: "" }], state: "used" });
      await books.create({ title: "=1+1", tags: "" });
      await books.create({ title: "\ufeff😀" });
      const out = await read(format);
      expect(out.headers["content-disposition"]).to.equal(`attachment; filename="${tenant.slug}-books.${format}"`);
      const other = await service.createTenant();
      await service.createCollection(other, { name: "books", fields });
      const back = await service.request("POST", `/api/meta/tenants/${other.id}/collections/books/import?format=${format}`, {
        token: await service.superadminToken(), body: out.text, headers: { "content-type": "application/octet-stream" },
      });
      expect(back.body).to.include({ imported: 3 });
      const strip = (items: Record<string, unknown>[]) => items.map(({ createdAt: _createdAt, updatedAt: _updatedAt, ...rest }) => rest);
      const [before, after] = await Promise.all([tenant, other].map(async ({ slug }) => strip((await service.service.tenant(slug).as("system").collection("books").list()).items as never)));
      expect(after).to.deep.equal(before);
    });
  }

  it("a value or an id that is stored already is a bad row", async () => {
    const made = await service.service.tenant(tenant.slug).as("system").collection("books").create({ title: "there" });
    const answer = await send(JSON.stringify([{ title: "there" }, { title: "new", id: made.id }, { title: "x", id: "7" }]), "dryRun=true", "application/json");
    expect(answer.body.errors).to.deep.equal([
      { row: 1, line: null, field: "title", message: "is taken by a stored record" },
      { row: 2, line: null, field: "id", message: "is the id of a stored record" },
      { row: 3, line: null, field: "id", message: "must be a UUID in lower case; leave it out to have one made" },
    ]);
  });

  it("relations must name stored records, or earlier rows of the same file", async () => {
    await service.createCollection(tenant, { name: "nodes", fields: [{ name: "parent", type: "RELATION", collection: "nodes" }] });
    const [a, b] = ["01a1fda2-0000-7000-8000-000000000001", "01a1fda2-0000-7000-8000-000000000002"];
    const nodes = service.service.tenant(tenant.slug).collections;
    const rows = (...items: object[]) => ({ format: "json" as const, open: () => Readable.from([Buffer.from(JSON.stringify(items))]) });
    expect((await nodes.import("nodes", { ...rows({ id: b, parent: a }, { id: a }), dryRun: true })).errors).to.deep.equal([
      { row: 1, line: null, field: "parent", message: "names no record of nodes yet: row 2 must come first" },
    ]);
    expect(await nodes.import("nodes", rows({ id: a }, { id: b, parent: a }))).to.include({ imported: 2 });
  });

  it("a hook's refusal leaves out the row and is reported, the others are imported", async () => {
    const stop = service.service.on("beforeCreate", { tenant: tenant.slug, collection: "books" }, (envelope) =>
      (envelope.data.body as { title: string }).title === "no" ? { continue: false, error: "not this one" } : undefined);
    const answer = await send("title\nyes\nno\nagain\n", "format=csv");
    stop();
    expect(answer.body).to.deep.include({ imported: 2, errors: [{ row: 2, line: 3, field: "", message: "not this one" }] });
    expect(await titles()).to.deep.equal(["yes", "again"]);
  });

  const unreadable: [string, string, string, string][] = [
    ["an unknown column", "format=csv", "title,colour\na,b\n", 'The first line must name fields of books, and "colour" is none; there are title, price, sold, published, tags, state'],
    ["a column named twice", "format=csv", "title,title\na,b\n", "The first line names title twice"],
    ["an open quote", "format=csv", 'title\n"never closed\n', "This is no CSV: line 2 opens a quote that is never closed"],
    ["an empty CSV", "format=csv", "\n", "This CSV is empty: its first line must name the fields"],
    ["broken JSON", "format=json", "[{", "This is not valid JSON"],
    ["JSON without a list", "format=json", "{}", "The JSON must be a list of records, or an object with such a list as items"],
    ["an unknown format", "format=xml", "<a/>", "format must be one of csv, ndjson, json"],
    ["an unknown delimiter", "format=csv&delimiter=x", "title\n", "delimiter must be one of , ; | tab"],
    ["a delimiter that is a member of all objects", "format=csv&delimiter=constructor", "title\n", "delimiter must be one of , ; | tab"],
  ];
  for (const [what, query, body, message] of unreadable) {
    it(`${what} is answered with 400`, async () => {
      const answer = await send(body, query);
      expect([answer.status, answer.body]).to.deep.equal([400, { error: message }]);
    });
  }

  it("bytes that are no UTF-8 are answered with 400", async () => {
    const answer = await service.request("POST", `${path}/import?format=csv`, { token: await service.superadminToken(), body: Buffer.from([0x74, 0xff, 0x0a]), headers: { "content-type": "text/csv" } });
    expect([answer.status, answer.body]).to.deep.equal([400, { error: "This is not valid UTF-8" }]);
  });

  it("an unknown collection is 404, another media type 415, a guest 401, a user 403", async () => {
    const user = await service.signUp(tenant, "ann");
    expect((await service.meta("GET", `/api/meta/tenants/${tenant.id}/collections/nope/export`)).status).to.equal(404);
    expect((await send("x", "", "image/png")).status).to.equal(415);
    expect((await service.request("GET", `${path}/export`)).status).to.equal(401);
    expect((await service.request("GET", `${path}/export`, { token: user.token })).status).to.equal(403);
    expect((await service.request("POST", `${path}/import`, { token: user.token, body: [] })).status).to.equal(403);
  });

  it("accounts are exported without anything secret, and imported with a password", async () => {
    const users = `/api/meta/tenants/${tenant.id}/collections/users`;
    const answer = await service.request("POST", `${users}/import?format=csv`, {
      token: await service.superadminToken(), body: "username,password,role\nann,correct horse battery,admin\n", headers: { "content-type": "text/csv" },
    });
    expect(answer.body).to.include({ imported: 1 });
    const out = await service.meta("GET", `${users}/export?format=csv`);
    const [header, line] = out.text.split("\r\n") as [string, string];
    expect(header).to.equal("id,createdAt,updatedAt,username,email,role,emailVerified");
    expect(line).to.match(/,ann,,user,false$/);
    expect((await service.login(tenant, "ann")).status).to.equal(200);
  });

  it("pages through more records than one page holds", async () => {
    const rows = Array.from({ length: 1_203 }, (_, index) => `{"title":"${index}"}`).join("\n");
    expect((await send(rows, "format=ndjson", "application/x-ndjson")).body).to.include({ imported: 1_203 });
    expect(await titles()).to.deep.equal(Array.from({ length: 1_203 }, (_, index) => String(index)));
    expect(JSON.parse((await read("json")).text)).to.have.length(1_203);
  });
});
