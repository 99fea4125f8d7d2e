// FILE fields over HTTP: upload, download, variants, removal, tokens, under the record's rules.
import { expect } from "chai";
import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { file, form, text, type Part } from "../support/multipart.js";
import { demand, startService, type Answer, type RequestOptions, type TestService, type TestTenant, type TestUser } from "../support/service.js";

const photo = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: "#446688", noise: { type: "gaussian", mean: 120, sigma: 40 } } }).jpeg().toBuffer();

describe("files over HTTP", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  let bob: TestUser;

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    alice = await on.signUp(tenant, "alice");
    bob = await on.signUp(tenant, "bob");
    await on.createCollection(tenant, {
      name: "docs",
      fields: [
        { name: "title", type: "TEXT" }, { name: "n", type: "NUMBER" }, { name: "flag", type: "BOOLEAN" }, { name: "meta", type: "JSON" }, { name: "owner", type: "TEXT" },
        { name: "cover", type: "FILE", widths: [100, 300], maxSize: 200_000 },
        { name: "att", type: "FILE", multiple: true, maxFiles: 4, maxSize: 3_000_000 },
      ],
      listRule: "true", viewRule: "owner = @auth.id || title = \"public\"", createRule: "@auth.id != null", updateRule: "owner = @auth.id", deleteRule: "owner = @auth.id",
    });
    await on.createCollection(tenant, { name: "must", fields: [{ name: "cover", type: "FILE", required: true }], viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" });
  });
  after(() => on.close());

  const create = (parts: readonly Part[], options: RequestOptions = {}) => on.request("POST", "/api/collections/docs", { token: alice.token, ...options, ...form(...parts) });
  const patch = (id: string, parts: readonly Part[], options: RequestOptions = {}) => on.request("PATCH", `/api/collections/docs/${id}`, { token: alice.token, ...options, ...form(...parts) });
  const get = (path: string, options: RequestOptions = {}) => on.request("GET", path, { token: alice.token, ...options });
  const made = async (...parts: readonly Part[]): Promise<Answer["body"]> => (await demand(201, create([text("owner", alice.id), ...parts]))).body;
  /** Links carry the mount path already. */
  const linked = (url: string, options: RequestOptions & { method?: string } = {}) => on.request(options.method ?? "GET", url.slice(new URL(on.url).pathname.replace(/\/$/, "").length), { token: alice.token, ...options });

  async function stored(): Promise<string[]> {
    const folder = join(on.folder, "files", "blobs");
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  }

  describe("upload", () => {
    it("POST with multipart answers 201 with exactly the shape of GET by id", async () => {
      const cover = await photo(400, 300);
      const answer = await create([text("title", "one"), text("n", "1.5"), text("flag", "true"), text("meta", '{"a":[1]}'), text("owner", alice.id), file("cover", cover, "a.jpg", "text/html"), file("att", "first", "1.txt"), file("att", "second", "2.txt")]);
      expect(answer.status, answer.text).to.equal(201);
      const { body } = answer;
      expect(body).to.deep.include({ title: "one", n: 1.5, flag: true, meta: { a: [1] } });
      const base = `${new URL(on.url).pathname.replace(/\/$/, "")}/api/collections/docs/${body.id}/files`;
      expect(body.cover).to.deep.equal({ id: body.cover.id, name: "a.jpg", size: cover.length, type: "image/jpeg", width: 400, height: 300, url: `${base}/cover` });
      expect(body.att).to.deep.equal([
        { id: body.att[0].id, name: "1.txt", size: 5, type: "text/plain", url: `${base}/att/${body.att[0].id}` },
        { id: body.att[1].id, name: "2.txt", size: 6, type: "text/plain", url: `${base}/att/${body.att[1].id}` },
      ]);
      expect((await get(`/api/collections/docs/${body.id}`)).body).to.deep.equal(body);
      expect((await get("/api/collections/docs?sort=createdAt:desc")).body.items[0]).to.deep.equal(body);
      expect((await linked(body.cover.url)).bytes.equals(cover)).to.equal(true);
      expect((await linked(body.att[1].url)).text).to.equal("second");
    });

    it("a record without files holds null and an empty list", async () => {
      const { body } = await on.request("POST", "/api/collections/docs", { token: alice.token, body: { title: "bare" } });
      expect([body.cover, body.att]).to.deep.equal([null, []]);
    });

    it("a form whose file input was left empty uploads nothing", async () => {
      const record = await made(file("cover", "", ""));
      expect(record.cover).to.equal(null);
    });

    it("a file whose name is nothing but dots or a path is kept all the same", async () => {
      for (const name of [".", "..", "a/..", "/"]) {
        const record = await made(file("cover", "bytes", name));
        expect([record.cover?.name, record.cover?.size], name).to.deep.equal(["file", 5]);
      }
    });

    it("PATCH replaces the file of a single field: new id, old id 404, old bytes gone", async () => {
      const record = await made(file("cover", "old", "old.txt"));
      const before = await linked(record.cover.url);
      const changed = await patch(record.id, [file("cover", "new", "new.txt")]);
      expect(changed.status, changed.text).to.equal(200);
      expect(changed.body.cover.id).not.to.equal(record.cover.id);
      expect(changed.body.updatedAt >= record.updatedAt).to.equal(true);
      const now = await linked(record.cover.url, { headers: { "if-none-match": before.headers["etag"]! } });
      expect([now.status, now.text]).to.deep.equal([200, "new"]);
      expect((await linked(`${record.cover.url}/${record.cover.id}`)).status).to.equal(404);
      expect(now.headers["etag"]).not.to.equal(before.headers["etag"]);
    });

    it("several parts of a multiple field append on PATCH, up to maxFiles", async () => {
      const record = await made(file("att", "1"), file("att", "2"));
      const more = (await demand(200, patch(record.id, [file("att", "3"), text("title", "more")]))).body;
      expect(more.att.map((one: { id: string }) => one.id).slice(0, 2)).to.deep.equal(record.att.map((one: { id: string }) => one.id));
      expect(more.att).to.have.length(3);
      expect(more.title).to.equal("more");
      const many = await patch(record.id, [file("att", "4"), file("att", "5")]);
      expect([many.status, many.body]).to.deep.equal([400, [{ field: "att", message: "takes at most 4 files" }]]);
      expect((await get(`/api/collections/docs/${record.id}`)).body).to.deep.equal(more);
    });

    it("JSON removes with null, and orders and removes with the list of kept ids", async () => {
      const record = await made(file("cover", "c"), file("att", "1"), file("att", "2"), file("att", "3"));
      const [first, , third] = record.att.map((one: { id: string }) => one.id);
      const { body } = await demand(200, on.request("PATCH", `/api/collections/docs/${record.id}`, { token: alice.token, body: { cover: null, att: [third, first] } }));
      expect(body.cover).to.equal(null);
      expect(body.att.map((one: { id: string }) => one.id)).to.deep.equal([third, first]);
      expect((await linked(record.att[1].url)).status).to.equal(404);
      expect((await linked(record.cover.url)).status).to.equal(404);
      const unknown = await on.request("PATCH", `/api/collections/docs/${record.id}`, { token: alice.token, body: { att: [first, record.cover.id] } });
      expect([unknown.status, unknown.body[0].field]).to.deep.equal([400, "att"]);
    });

    it("a record that was read can be written back", async () => {
      const record = await made(file("cover", "c"), file("att", "1"));
      const { body } = await demand(200, on.request("PATCH", `/api/collections/docs/${record.id}`, { token: alice.token, body: record }));
      expect(body).to.deep.equal({ ...record, updatedAt: body.updatedAt });
    });

    it("a required file must be there and stay", async () => {
      const none = await on.request("POST", "/api/collections/must", { tenant: "acme", body: {} });
      expect([none.status, none.body[0]?.field]).to.deep.equal([400, "cover"]);
      const { body } = await demand(201, on.request("POST", "/api/collections/must", { tenant: "acme", ...form(file("cover", "x")) }));
      const removal = await on.request("DELETE", `/api/collections/must/${body.id}/files/cover`, { tenant: "acme" });
      expect([removal.status, removal.body[0]?.field]).to.deep.equal([400, "cover"]);
      const nulled = await on.request("PATCH", `/api/collections/must/${body.id}`, { tenant: "acme", body: { cover: null } });
      expect([nulled.status, nulled.body[0]?.field]).to.deep.equal([400, "cover"]);
    });

    it("a refused write keeps no file", async () => {
      const before = await stored();
      expect((await on.request("POST", "/api/collections/docs", { tenant: "acme", ...form(file("cover", "x")) })).status).to.equal(401);
      expect((await create([file("cover", "x"), text("nope", "1")])).status).to.equal(400);
      expect((await create([file("cover", "x"), text("n", "NaN")])).status).to.equal(400);
      const record = await made(file("cover", "x"));
      expect((await patch(record.id, [file("cover", "y")], { token: bob.token })).status).to.equal(404);
      expect((await patch(record.id, [file("cover", "y"), text("n", "NaN")])).status).to.equal(400);
      expect((await patch("0190aaaa-0000-7000-8000-00000000eeee", [file("cover", "y")])).status).to.equal(404);
      // Variants and removals of earlier tests may come in between.
      const added = (await stored()).filter((name) => !name.includes(".w") && !before.includes(name));
      expect(added).to.deep.equal([record.cover.id]);
    });
  });

  describe("download", () => {
    it("is checked as a view", async () => {
      const record = await made(file("cover", "secret"), text("title", "mine"));
      const open = await made(file("cover", "open"), text("title", "public"));
      expect((await linked(record.cover.url, { token: bob.token })).status).to.equal(404);
      expect((await linked(record.cover.url, { token: undefined, tenant: "acme" })).status).to.equal(404);
      expect((await linked(open.cover.url, { token: bob.token })).text).to.equal("open");
      expect((await linked(open.cover.url, { token: undefined, tenant: "acme" })).text).to.equal("open");
      expect((await linked(open.cover.url, { token: "garbage" })).status).to.equal(401);
      expect((await linked(open.cover.url, { token: undefined })).status).to.equal(404);
    });

    it("has the headers of interface and contract, and 304 with no body", async () => {
      const record = await made(file("cover", "<script>alert(1)</script>", "a.html", "text/html"));
      const whole = await linked(record.cover.url);
      expect(whole.headers).to.deep.include({
        etag: `"${record.cover.id}-original"`, "cache-control": "private, max-age=300, immutable", "x-image-width": "original", "accept-ranges": "bytes",
        "x-content-type-options": "nosniff", "content-type": "application/octet-stream", "content-disposition": "attachment; filename=a.html",
      });
      expect(whole.headers["content-security-policy"]).to.contain("sandbox").and.to.contain("default-src 'none'").and.to.contain("frame-ancestors 'none'");
      expect(whole.headers).to.have.property("x-request-id");
      const same = await linked(record.cover.url, { headers: { "if-none-match": whole.headers["etag"]! } });
      expect([same.status, same.bytes.length]).to.deep.equal([304, 0]);
      expect(same.headers).to.include({ etag: whole.headers["etag"]!, "cache-control": "private, max-age=300, immutable" });
    });

    it("supports HEAD and Range", async () => {
      const content = randomBytes(1_300_000);
      const record = await made(file("att", content));
      const { url } = record.att[0];
      const head = await linked(url, { method: "HEAD" });
      expect([head.status, head.headers["content-length"], head.bytes.length]).to.deep.equal([200, "1300000", 0]);
      const part = await linked(url, { headers: { range: "bytes=1000000-1000099" } });
      expect([part.status, part.headers["content-range"]]).to.deep.equal([206, "bytes 1000000-1000099/1300000"]);
      expect(part.bytes.equals(content.subarray(1_000_000, 1_000_100))).to.equal(true);
      const beyond = await linked(url, { headers: { range: "bytes=1300000-" } });
      expect([beyond.status, beyond.headers["content-range"]]).to.deep.equal([416, "bytes */1300000"]);
      expect((await linked(url)).bytes.equals(content)).to.equal(true);
    });

    it("delivers the variant that width asks for, never a smaller one", async () => {
      const cover = await photo(400, 200);
      const record = await made(file("cover", cover));
      const widths = async (width: string): Promise<string> => (await linked(`${record.cover.url}?width=${width}`)).headers["x-image-width"] as string;
      // Made in the background: until then the original is delivered.
      while ((await widths("100")) !== "100" || (await widths("300")) !== "300") await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await Promise.all(["100", "50", "101", "300", "301", "1000000000"].map(widths))).to.deep.equal(["100", "100", "300", "300", "original", "original"]);
      const variant = await linked(`${record.cover.url}?width=100`);
      expect((await sharp(variant.bytes).metadata()).width).to.equal(100);
      expect(variant.headers["etag"]).to.equal(`"${record.cover.id}-100"`);
      expect((await linked(`${record.cover.url}?width=100`, { headers: { "if-none-match": `"${record.cover.id}-original"` } })).status).to.equal(200);
      expect((await linked(`${record.cover.url}?width=100`, { headers: { "if-none-match": `"${record.cover.id}-100"` } })).status).to.equal(304);
      for (const width of ["0", "-1", "abc", "1.5", ""]) expect((await linked(`${record.cover.url}?width=${width}`)).status, `width ${width}`).to.equal(400);
      expect((await linked(`${record.cover.url}?width=100&width=300`)).status).to.equal(400);
      expect((await linked(record.cover.url)).headers["x-image-width"]).to.equal("original");
    });

    it("changing the widths affects only later uploads", async () => {
      const collection = await on.createCollection(tenant, { name: "pics", fields: [{ name: "pic", type: "FILE", widths: [50] }], viewRule: "true", createRule: "true" });
      const upload = async () => (await demand(201, on.request("POST", "/api/collections/pics", { tenant: "acme", ...form(file("pic", await photo(200, 100))) }))).body.pic.url as string;
      const widthOf = async (url: string, width: number) => (await linked(`${url}?width=${width}`)).headers["x-image-width"];
      const first = await upload();
      while ((await widthOf(first, 50)) !== "50") await new Promise((resolve) => setTimeout(resolve, 20));
      await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/pics`, { fields: [{ ...collection.fields[0], widths: [100] }] }));
      const second = await upload();
      while ((await widthOf(second, 100)) !== "100") await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await widthOf(first, 50)).to.equal("50");
      expect(await widthOf(first, 100)).to.equal("original");
      expect(await widthOf(second, 50)).to.equal("100");
    });

    for (const path of ["files/nope", "files/title", "files/cover/..%2f..%2fx", "files/cover/%00", "files/att", "files/cover/PHOTO.w100", "files/__proto__", "files/constructor/x"]) {
      it(`${path} is 404`, async () => {
        const record = await made(file("cover", "x"), file("att", "y"));
        expect((await get(`/api/collections/docs/${record.id}/${path}`)).status).to.equal(404);
        expect((await get(`/api/collections/docs/${record.id}/files/cover/${record.att[0].id}`)).status).to.equal(404);
      });
    }

    it("names of every kind can be downloaded again", async () => {
      for (const name of ["Grüße 日本 🎉.txt", "%0d%0aSet-Cookie: x=1.txt", "a%22b.txt", "../../x.txt", "x".repeat(10_000), "‮gnp.exe"]) {
        const record = await made(file("cover", "x", name));
        const answer = await linked(record.cover.url);
        expect([answer.status, answer.text], name.slice(0, 50)).to.deep.equal([200, "x"]);
        expect([...record.cover.name]).to.have.length.at.most(255);
        expect(answer.headers).not.to.have.property("set-cookie");
      }
    });
  });

  describe("removal", () => {
    it("is checked as an update, answers 204, and 404 where there is no such file", async () => {
      const record = await made(file("cover", "x"), file("att", "1"), file("att", "2"), text("title", "public"));
      expect((await linked(record.cover.url, { method: "DELETE", token: bob.token })).status).to.equal(403);
      expect((await linked(record.cover.url, { method: "DELETE", token: undefined, tenant: "acme" })).status).to.equal(401);
      const removed = await linked(record.cover.url, { method: "DELETE" });
      expect([removed.status, removed.text]).to.deep.equal([204, ""]);
      expect((await linked(record.cover.url, { method: "DELETE" })).status).to.equal(404);
      expect((await linked(record.cover.url)).status).to.equal(404);
      expect((await linked(record.att[0].url, { method: "DELETE" })).status).to.equal(204);
      const now = (await get(`/api/collections/docs/${record.id}`)).body;
      expect(now.cover).to.equal(null);
      expect(now.att).to.deep.equal([record.att[1]]);
      expect(now.updatedAt > record.updatedAt).to.equal(true);
      expect((await get(`/api/collections/docs/${record.id}/files/att`, {})).status).to.equal(404);
    });

    it("two removals at once: one 204, one 404, and files of other fields stay", async () => {
      const record = await made(file("cover", "x"), file("att", "1"), file("att", "2"), file("att", "3"));
      const answers = await Promise.all([linked(record.att[0].url, { method: "DELETE" }), linked(record.att[0].url, { method: "DELETE" }), linked(record.att[1].url, { method: "DELETE" })]);
      expect(answers.map((one) => one.status).sort()).to.deep.equal([204, 204, 404]);
      expect((await get(`/api/collections/docs/${record.id}`)).body.att).to.deep.equal([record.att[2]]);
    });

    it("of a record, a collection or a tenant removes the bytes", async () => {
      const other = await on.createTenant("short-lived");
      const definition = { fields: [{ name: "f", type: "FILE" }], createRule: "true", viewRule: "true", deleteRule: "true" };
      const upload = async (name: string) => {
        await on.createCollection(other, { name, ...definition });
        return (await demand(201, on.request("POST", `/api/collections/${name}`, { tenant: other.slug, ...form(file("f", name)) }))).body;
      };
      const ids = [await upload("a"), await upload("b"), await upload("c")];
      expect(await stored()).to.include.members(ids.map((one) => one.f.id));
      await demand(204, on.request("DELETE", `/api/collections/a/${ids[0].id}`, { tenant: other.slug }));
      await demand(204, on.meta("DELETE", `/api/meta/tenants/${other.id}/collections/b`));
      await demand(204, on.meta("DELETE", `/api/meta/tenants/${other.id}`));
      while ((await stored()).some((name) => ids.some((one) => name.startsWith(one.f.id)))) await new Promise((resolve) => setTimeout(resolve, 10));
    });
  });

  describe("file tokens", () => {
    const token = async (user: TestUser): Promise<string> => (await demand(200, on.request("POST", "/api/files/token", { token: user.token }))).body.token;

    it("let a browser's <img> view with the caller's rights, and nothing else", async () => {
      const record = await made(file("cover", "mine"));
      const answer = await demand(200, on.request("POST", "/api/files/token", { token: alice.token }));
      expect(answer.body).to.deep.equal({ token: answer.body.token, expiresIn: 120 });
      const query = `?token=${answer.body.token}`;
      expect((await linked(record.cover.url + query, { token: undefined })).text).to.equal("mine");
      expect((await linked(record.cover.url + query, { token: undefined, method: "HEAD" })).status).to.equal(200);
      expect((await linked(`${record.cover.url}?token=${await token(bob)}`, { token: undefined })).status).to.equal(404);
      expect((await linked(record.cover.url + query, { token: undefined, method: "DELETE" })).status).not.to.equal(204);
      expect((await on.request("GET", `/api/collections/docs/${record.id}${query}`, { tenant: "acme" })).status).to.equal(404);
      expect((await on.request("GET", "/api/auth/me", { token: answer.body.token })).status).to.equal(401);
      expect((await linked(record.cover.url + query, { token: undefined, tenant: "another" })).status).to.equal(403);
    });

    it("guests get none, and a bad one is 401 like any bad credential", async () => {
      expect((await on.request("POST", "/api/files/token", { tenant: "acme" })).status).to.equal(401);
      const record = await made(file("cover", "x"), text("title", "public"));
      const bad = await linked(`${record.cover.url}?token=bad`, { token: undefined });
      expect([bad.status, bad.body, bad.headers["www-authenticate"]]).to.deep.equal([401, { error: "Unauthorized" }, "Bearer"]);
    });

    it("end after two minutes, and with the user's tokens", async () => {
      const carol = await on.signUp(tenant, "carol");
      const record = await made(file("cover", "x"), text("title", "public"));
      const first = await token(carol);
      const view = async (value: string) => (await linked(`${record.cover.url}?token=${value}`, { token: undefined })).status;
      expect(await view(first)).to.equal(200);
      on.clock.advance(120_000);
      expect(await view(first)).to.equal(401);
      const second = await token(carol);
      expect(await view(second)).to.equal(200);
      await demand(204, on.request("POST", "/api/auth/logout", { token: carol.token }));
      expect(await view(second)).to.equal(401);
    });

    it("of an API key end with the key", async () => {
      const { body: key } = await demand(201, on.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "k", userId: alice.id }));
      const { body } = await demand(200, on.request("POST", "/api/files/token", { token: key.key }));
      const record = await made(file("cover", "x"));
      const view = async () => (await linked(`${record.cover.url}?token=${body.token}`, { token: undefined })).status;
      expect(await view()).to.equal(200);
      await demand(204, on.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys/${key.id}/revoke`));
      expect(await view()).to.equal(401);
    });
  });
});
