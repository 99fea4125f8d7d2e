// Acceptance: FILE fields. Upload, reference, download, variants, deletion, tokens.
import { expect } from "chai";
import sharp from "sharp";
import { file as filePart, form, type Part } from "../support/multipart.js";
import { demand, type Answer } from "../support/service.js";
import { eventually, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";
import { openScene, type Scene } from "./scene.js";

describe("acceptance: files", () => {
  let scene: Scene;
  let backend: Backend;
  let receiver: Receiver;
  let tenant: Tenant;
  let ann: Account;
  let bob: Account;
  let jpeg: Buffer;
  let png: Buffer;
  before(async () => {
    ({ backend, receiver, tenant, ann } = scene = await openScene());
    bob = await tenant.account("bob");
    const picture = { create: { width: 640, height: 320, channels: 3 as const, background: "#3377aa" } };
    [jpeg, png] = await Promise.all([sharp(picture).jpeg().toBuffer(), sharp(picture).png().toBuffer()]);
    await tenant.collection({
      name: "docs",
      fields: [
        { name: "title", type: "TEXT", maxLength: 100 }, { name: "count", type: "NUMBER" }, { name: "done", type: "BOOLEAN" }, { name: "meta", type: "JSON" },
        { name: "owner", type: "RELATION", collection: "users" },
        { name: "cover", type: "FILE", widths: [64, 256], maxSize: 1_000_000 }, { name: "papers", type: "FILE", multiple: true, maxFiles: 3 }, { name: "small", type: "FILE", maxSize: 10 }, { name: "image", type: "FILE", mimeTypes: ["image/png"] },
      ],
      listRule: "owner = @auth.id", viewRule: "owner = @auth.id", createRule: "owner = @auth.id", updateRule: "owner = @auth.id", deleteRule: "owner = @auth.id",
    });
    await tenant.collection({ name: "needs", fields: [{ name: "file", type: "FILE", required: true }], listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" });
  });
  after(() => scene.end());

  const send = (method: string, path: string, parts: Part[], token: string | undefined = ann.token): Promise<Answer> => {
    const { body, headers } = form(...parts);
    return backend.call(method, `/api/collections/${path}`, { token, tenant: token === undefined ? "acme" : undefined, body, headers });
  };
  const create = async (parts: Part[]) => (await demand(201, send("POST", "docs", [{ name: "owner", value: ann.id }, ...parts]))).body;
  const get = (path: string, headers: Record<string, string> = {}, token: string | undefined = ann.token) => backend.call("GET", path, { token, headers, tenant: token === undefined ? "acme" : undefined });
  const file = (name: string, data: Buffer | string, filename = "file.bin") => filePart(name, data, filename.replaceAll('"', "%22"));

  describe("upload", () => {
    it("201 with exactly the shape of GET by id; scalar parts get their field's type; the type is sniffed", async () => {
      const made = await create([{ name: "title", value: "Ä" }, { name: "count", value: "4.5" }, { name: "done", value: "true" }, { name: "meta", value: '{"a":[1]}' }, file("cover", jpeg, "holiday.txt"), file("papers", "one", "1.txt"), file("papers", "two", "2.txt")]);
      expect(made).to.deep.include({ title: "Ä", count: 4.5, done: true, meta: { a: [1] }, small: null });
      expect(made.cover).to.include({ name: "holiday.txt", size: jpeg.length, type: "image/jpeg", width: 640, height: 320 });
      expect(made.cover).to.have.all.keys("id", "name", "size", "type", "width", "height", "url");
      expect(made.cover.url).to.equal(`/api/collections/docs/${made.id}/files/cover`);
      expect(made.papers.map((paper: { url: string; id: string }) => paper.url)).to.deep.equal(made.papers.map(({ id }: { id: string }) => `/api/collections/docs/${made.id}/files/papers/${id}`));
      expect(made).to.deep.equal((await get(`/api/collections/docs/${made.id}`)).body);
      for (const [reference, bytes] of [[made.cover, jpeg], [made.papers[0], Buffer.from("one")], [made.papers[1], Buffer.from("two")]] as const) expect((await get(reference.url)).bytes.equals(bytes)).to.equal(true);
    });

    it("PATCH replaces a single file under a new id, appends to a multiple field, and keeps the rest", async () => {
      const made = await create([file("cover", jpeg), file("papers", "one")]);
      const patched = await demand(200, send("PATCH", `docs/${made.id}`, [file("cover", png), file("papers", "two")]));
      expect(patched.body.cover.id).not.to.equal(made.cover.id);
      expect(patched.body.cover.type).to.equal("image/png");
      expect(patched.body.papers[0]).to.deep.equal(made.papers[0]);
      expect(patched.body.papers).to.have.length(2);
      expect(patched.body).to.deep.equal((await get(`/api/collections/docs/${made.id}`)).body);
      expect(patched.body.updatedAt > made.updatedAt).to.equal(true);
    });

    it("in JSON: null removes, an array of kept ids reorders, and other things are refused", async () => {
      const made = await create([file("cover", jpeg), file("papers", "one"), file("papers", "two")]);
      const [one, two] = made.papers.map(({ id }: { id: string }) => id);
      const patch = (body: object) => backend.call("PATCH", `/api/collections/docs/${made.id}`, { token: ann.token, body });
      expect((await demand(200, patch({ papers: [two, one] }))).body.papers.map(({ id }: { id: string }) => id)).to.deep.equal([two, one]);
      expect((await demand(200, patch({ papers: [one] }))).body.papers.map(({ id }: { id: string }) => id)).to.deep.equal([one]);
      expect((await get(`/api/collections/docs/${made.id}/files/papers/${two}`)).status).to.equal(404);
      expect((await demand(200, patch({ cover: null }))).body.cover).to.equal(null);
      for (const body of [{ papers: ["nothing"] }, { papers: [two] }, { papers: [one, one] }, { papers: one }, { cover: "x" }, { papers: [7] }]) {
        const answer = await patch(body);
        expect(answer.status, JSON.stringify(body)).to.equal(400);
        expect(answer.body[0]).to.have.all.keys("field", "message");
      }
    });

    it("a record that was read can be written back", async () => {
      const made = await create([{ name: "title", value: "t" }, file("cover", jpeg), file("papers", "one")]);
      const answer = await backend.call("PATCH", `/api/collections/docs/${made.id}`, { token: ann.token, body: made });
      expect(answer.status, answer.text).to.equal(200);
      expect({ ...answer.body, updatedAt: made.updatedAt }).to.deep.equal(made);
    });

    it("over maxSize, a type that is not allowed, too many, a bad scalar, an unknown part: 400 with the field", async () => {
      const cases: [Part[], string][] = [
        [[file("small", "eleven byte")], "small"], [[file("image", jpeg, "fake.png")], "image"], [["a", "b", "c", "d"].map((text) => file("papers", text))].map((parts) => [parts.flat(), "papers"])[0] as [Part[], string],
        [[{ name: "count", value: "many" }], "count"], [[{ name: "meta", value: "{" }], "meta"], [[file("nothing", "x")], "nothing"], [[file("title", "x")], "title"], [[file("cover", jpeg), file("cover", png)], "cover"], [[{ name: "nothing", value: "x" }], "nothing"],
      ];
      for (const [parts, field] of cases) {
        const answer = await send("POST", "docs", [{ name: "owner", value: ann.id }, ...parts]);
        expect(answer.status, `${field}: ${answer.text}`).to.equal(400);
        expect(answer.body.map((entry: { field: string }) => entry.field), answer.text).to.include(field);
      }
      await create([file("small", "ten bytes!"), file("image", png)]);
    });

    it("a body over 4 MiB is 413 and the connection survives", async () => {
      const answer = await send("POST", "docs", [{ name: "owner", value: ann.id }, file("cover", Buffer.alloc(4 * 1024 * 1024 + 10))]);
      expect(answer.status).to.equal(413);
      expect(answer.body).to.have.all.keys("error");
      expect((await send("POST", "docs", [{ name: "owner", value: ann.id }, file("cover", Buffer.alloc(1_000_001))])).status).to.equal(400);
    });

    it("the rules decide: another's record, a guest", async () => {
      const made = await create([]);
      expect((await send("POST", "docs", [{ name: "owner", value: ann.id }, file("cover", jpeg)], bob.token)).status).to.equal(403);
      expect((await send("PATCH", `docs/${made.id}`, [file("cover", jpeg)], bob.token)).status).to.equal(404);
      const { body, headers } = form(file("cover", jpeg));
      expect((await backend.call("POST", "/api/collections/docs", { tenant: "acme", body, headers })).status).to.equal(401);
    });

    it("malformed multipart is 400, another content type 415", async () => {
      const post = (type: string, body: string) => backend.call("POST", "/api/collections/docs", { token: ann.token, body, headers: { "content-type": type } });
      expect([400, 415], "no boundary").to.include((await post("multipart/form-data", "x")).status);
      expect((await post("multipart/form-data; boundary=a", "--a\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nx")).status).to.equal(400);
      expect((await post("text/plain", "x")).status).to.equal(415);
      expect((await post("application/x-www-form-urlencoded", "title=x")).status).to.equal(415);
    });
  });

  describe("download", () => {
    it("a strong ETag, 304 without a body, Cache-Control, nosniff, sandbox, disposition", async () => {
      const made = await create([file("cover", jpeg, 'a "b" ü.jpg'), file("papers", "<script>alert(1)</script>", "page.html")]);
      const answer = await get(made.cover.url);
      expect(answer.status).to.equal(200);
      expect(answer.headers.etag).to.match(/^"[^"]+"$/).and.contain(made.cover.id);
      expect(answer.headers["cache-control"]).to.equal("private, max-age=300, immutable");
      expect(answer.headers["content-type"]).to.equal("image/jpeg");
      expect(answer.headers["x-content-type-options"]).to.equal("nosniff");
      expect(answer.headers["content-security-policy"]).to.contain("sandbox");
      expect(answer.headers["content-disposition"]).to.match(/^inline/);
      expect(answer.headers["x-image-width"]).to.equal("original");
      for (const given of [answer.headers.etag!, `"x", ${answer.headers.etag}`, `W/${answer.headers.etag}`, "*"]) {
        const same = await get(made.cover.url, { "if-none-match": given });
        expect([same.status, same.bytes.length, same.headers.etag], given).to.deep.equal([304, 0, answer.headers.etag]);
      }
      await demand(200, get(made.cover.url, { "if-none-match": '"other"' }));
      const page = await get(made.papers[0].url);
      expect(page.headers["content-disposition"]).to.match(/^attachment/);
      expect(page.headers["content-type"]).not.to.contain("html");
    });

    it("ranges and HEAD", async () => {
      const { papers } = await create([file("papers", "0123456789", "digits.txt")]);
      const part = await get(papers[0].url, { range: "bytes=2-4" });
      expect([part.status, part.text, part.headers["content-range"]]).to.deep.equal([206, "234", "bytes 2-4/10"]);
      expect((await get(papers[0].url, { range: "bytes=-3" })).text).to.equal("789");
      expect((await get(papers[0].url, { range: "bytes=10-" })).status).to.equal(416);
      const head = await backend.call("HEAD", papers[0].url, { token: ann.token });
      expect([head.status, head.text, head.headers["content-length"]]).to.deep.equal([200, "", "10"]);
    });

    it("access is checked like a view", async () => {
      const { id, cover } = await create([file("cover", jpeg)]);
      expect((await get(cover.url, {}, bob.token)).status).to.equal(404);
      expect((await backend.call("GET", cover.url, { tenant: "acme" })).status).to.equal(401);
      expect((await get(cover.url, {}, "junk")).status).to.equal(401);
      for (const path of [`docs/${id}/files/papers`, `docs/${id}/files/nothing`, `docs/${id}/files/title`, `docs/${id}/files/image`, `docs/${id}/files/papers/${cover.id}`, `nothing/${id}/files/cover`, `docs/nothing/files/cover`]) {
        expect((await get(`/api/collections/${path}`)).status, path).to.equal(404);
      }
      expect((await get(`/api/collections/docs/${id}/files/cover/..%2f..%2fsecrets.json`)).status).to.equal(404);
    });

    it("the former file's id and ETag do not serve the new one", async () => {
      const { id, cover } = await create([file("cover", jpeg)]);
      const { etag } = (await get(cover.url)).headers;
      await demand(200, send("PATCH", `docs/${id}`, [file("cover", png)]));
      const answer = await get(cover.url, { "if-none-match": etag! });
      expect(answer.status).to.equal(200);
      expect(answer.headers.etag).not.to.equal(etag);
    });
  });

  describe("width", () => {
    const width = async (url: string, wanted: number | string) => {
      const answer = await get(`${url}?width=${wanted}`);
      return { ...answer, width: answer.headers["x-image-width"] };
    };
    const ready = (url: string) => eventually(async () => (await width(url, 256)).width === "256" && (await width(url, 64)).width === "64");

    it("exact, else the next larger, else the original; never a smaller one; the ETag tells variants apart", async () => {
      const { cover } = await create([file("cover", jpeg)]);
      await ready(cover.url);
      for (const [wanted, got] of [[64, "64"], [1, "64"], [65, "256"], [256, "256"], [257, "original"], [640, "original"], [99999, "original"]] as const) {
        const answer = await width(cover.url, wanted);
        expect([answer.status, answer.width], String(wanted)).to.deep.equal([200, got]);
        const { width: real } = await sharp(answer.bytes).metadata();
        expect(String(real)).to.equal(got === "original" ? "640" : got);
      }
      const etags = await Promise.all([64, 256, 1000].map(async (wanted) => (await width(cover.url, wanted)).headers.etag));
      expect(new Set(etags).size).to.equal(3);
      expect((await get(`${cover.url}?width=64`, { "if-none-match": etags[0]! })).status).to.equal(304);
      expect((await get(`${cover.url}?width=64`, { "if-none-match": etags[2]! })).status).to.equal(200);
      expect((await get(cover.url)).headers["x-image-width"]).to.equal("original");
    });

    it("not a positive number: 400", async () => {
      const { cover, papers } = await create([file("cover", jpeg), file("papers", "text")]);
      for (const wanted of ["0", "-1", "abc", "", "1.5", "1e3", "%2B5", "64px", "0x10"]) {
        const answer = await width(cover.url, wanted);
        expect([answer.status, Object.keys(answer.body)], wanted).to.deep.equal([400, ["error"]]);
        expect((await width(papers[0].url, wanted)).status, `${wanted} of a text`).to.equal(400);
      }
    });

    it("a non-image and an image that is not scaled up give the original", async () => {
      const tiny = await sharp({ create: { width: 32, height: 32, channels: 3, background: "red" } }).png().toBuffer();
      const { cover, papers } = await create([file("cover", tiny), file("papers", jpeg)]);
      expect((await width(papers[0].url, 64)).width).to.equal("original");
      const small = await width(cover.url, 64);
      expect(small.status).to.equal(200);
      expect((await sharp(small.bytes).metadata()).width).to.be.at.most(64);
      const words = await create([file("cover", "no picture at all")]);
      expect((await width(words.cover.url, 64)).width).to.equal("original");
      const broken = await create([file("cover", jpeg.subarray(0, 200))]);
      const answer = await width(broken.cover.url, 64);
      expect([answer.status, answer.width]).to.deep.equal([200, "original"]);
    });

    it("a change of the widths affects only later uploads", async () => {
      const { cover } = await create([file("cover", jpeg)]);
      await ready(cover.url);
      const definition = (await demand(200, tenant.meta("GET", "/collections/docs"))).body;
      const fields = (widths: number[]) => definition.fields.map((field: { name: string }) => (field.name === "cover" ? { ...field, widths } : field));
      await demand(200, tenant.meta("PATCH", "/collections/docs", { fields: fields([128]) }));
      expect((await width(cover.url, 64)).width).to.equal("64");
      expect((await width(cover.url, 100)).width).to.equal("256");
      await demand(200, tenant.meta("PATCH", "/collections/docs", { fields: fields([64, 256]) }));
    });
  });

  describe("deletion", () => {
    it("single: 204 and null; multiple: only the one; unknown: 404; required: 400; checked as update", async () => {
      const made = await create([file("cover", jpeg), file("papers", "one"), file("papers", "two")]);
      const remove = (path: string, token = ann.token) => backend.call("DELETE", path, { token });
      expect((await remove(made.cover.url, bob.token)).status).to.equal(404);
      const gone = await remove(made.cover.url);
      expect([gone.status, gone.text]).to.deep.equal([204, ""]);
      expect((await remove(made.cover.url)).status).to.equal(404);
      await demand(204, remove(made.papers[0].url));
      const now = (await get(`/api/collections/docs/${made.id}`)).body;
      expect(now.cover).to.equal(null);
      expect(now.papers.map(({ id }: { id: string }) => id)).to.deep.equal([made.papers[1].id]);
      expect(now.updatedAt > made.updatedAt).to.equal(true);
      expect((await remove(`/api/collections/docs/${made.id}/files/papers/nothing`)).status).to.equal(404);

      const { id, file: needed } = (await demand(201, send("POST", "needs", [file("file", "x")]))).body;
      expect((await remove(needed.url)).status).to.equal(400);
      expect((await get(`/api/collections/needs/${id}`)).body.file).to.deep.equal(needed);
      expect((await send("POST", "needs", [])).body.map((entry: { field: string }) => entry.field)).to.deep.equal(["file"]);
    });

    it("a deleted record's files are gone", async () => {
      const made = await create([file("cover", jpeg)]);
      await demand(204, backend.call("DELETE", `/api/collections/docs/${made.id}`, { token: ann.token }));
      expect((await get(made.cover.url)).status).to.equal(404);
    });
  });

  describe("hooks and tokens", () => {
    it("file operations fire no event hooks, and beforeRequest only when file routes are guarded", async () => {
      const made = await create([file("cover", jpeg)]);
      const hooks = [await tenant.hook({ event: "beforeRequest", url: `${receiver.url}/any` })];
      for (const event of ["beforeView", "beforeUpdate", "afterUpdate", "beforeDelete", "afterDelete"]) hooks.push(await tenant.hook({ collection: "docs", event, url: `${receiver.url}/${event}` }));
      await demand(200, get(made.cover.url));
      await demand(204, backend.call("DELETE", made.cover.url, { token: ann.token }));
      expect(receiver.deliveries).to.deep.equal([]);
      await demand(200, send("PATCH", `docs/${made.id}`, [file("cover", jpeg)]));
      const before = receiver.deliveries.length;
      await tenant.settings({ guardFileRoutes: true });
      await demand(200, get(made.cover.url));
      expect(receiver.deliveries.slice(before).map(({ path }) => path).filter((path) => path !== "/afterUpdate")).to.deep.equal(["/any"]);
      receiver.answer("/any", { body: { continue: false, error: { status: 403, message: "No" } } });
      expect((await get(made.cover.url)).status).to.equal(403);
      expect((await backend.call("DELETE", made.cover.url, { token: ann.token })).status).to.equal(403);
      await tenant.settings({ guardFileRoutes: false });
      await demand(200, get(made.cover.url));
      for (const { id } of hooks) await demand(204, tenant.meta("DELETE", `/hooks/${id}`));
    });

    it("a file token views with its caller's rights, for viewing only", async () => {
      const { id, cover } = await create([file("cover", jpeg)]);
      const answer = await demand(200, backend.call("POST", "/api/files/token", { token: ann.token }));
      expect(answer.body).to.have.all.keys("token", "expiresIn");
      expect(answer.body.expiresIn).to.equal(120);
      const { token } = answer.body;
      await demand(200, backend.call("GET", `${cover.url}?token=${token}`));
      await demand(200, backend.call("GET", `${cover.url}?width=64&token=${token}`));
      const bobs = (await demand(200, backend.call("POST", "/api/files/token", { token: bob.token }))).body.token;
      expect((await backend.call("GET", `${cover.url}?token=${bobs}`)).status).to.equal(404);
      expect((await backend.call("GET", `${cover.url}?token=junk`)).status).to.equal(401);
      expect((await backend.call("DELETE", `${cover.url}?token=${token}`, { tenant: "acme" })).status).to.equal(401);
      expect((await backend.call("GET", `/api/collections/docs/${id}?token=${token}`, { tenant: "acme" })).status).to.equal(401);
      expect((await backend.call("GET", `/api/collections/docs/${id}`, { token })).status).to.equal(401);
      expect((await backend.call("GET", "/api/auth/me", { token })).status).to.equal(401);
      expect((await backend.call("POST", "/api/files/token")).status).to.equal(401);
    });
  });
});
