// What a file operation sets off, and what it does not: events, hooks, the request log; and the same in code.
import { expect } from "chai";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import sharp from "sharp";
import { NotFound, PreconditionFailed, ValidationFailed } from "../../lib/core/errors.js";
import { hookEvents } from "../../lib/hooks/definition.js";
import { readMultipart } from "../../lib/http/multipart.js";
import { openStream } from "../support/event-stream.js";
import { boundary, file, form, text } from "../support/multipart.js";
import { closeServer, demand, send, startService, type TestService, type TestTenant, type TestUser } from "../support/service.js";

describe("what file operations set off", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  const fired: string[] = [];

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    alice = await on.signUp(tenant, "alice");
    await on.createCollection(tenant, {
      name: "docs", fields: [{ name: "title", type: "TEXT" }, { name: "cover", type: "FILE", widths: [50] }, { name: "att", type: "FILE", multiple: true }],
      listRule: "true", viewRule: "@auth.id != null", createRule: "true", updateRule: "@auth.id != null", deleteRule: "true",
    });
    await on.createCollection(tenant, { name: "none", fields: [{ name: "cover", type: "FILE" }] });
    for (const event of hookEvents) on.service.on(event, {}, () => { fired.push(event); return undefined; });
  });
  after(() => on.close());

  const made = async () => (await demand(201, on.request("POST", "/api/collections/docs", { token: alice.token, ...form(file("cover", "c"), file("att", "1"), file("att", "2")) }))).body;
  const url = (id: string, rest: string): string => `/api/collections/docs/${id}/files/${rest}`;

  it("a file change is a realtime update, with the links of GET by id", async () => {
    const record = await made();
    const stream = await openStream(on.url);
    try {
      expect((await stream.subscribe(`Bearer ${alice.token}`, [`docs/${record.id}`])).status).to.equal(200);
      await demand(204, on.request("DELETE", url(record.id, "cover"), { token: alice.token }));
      const { event, data } = await stream.next();
      expect([event, data.action]).to.deep.equal(["docs", "update"]);
      expect(data.record).to.deep.equal((await on.request("GET", `/api/collections/docs/${record.id}`, { token: alice.token })).body);
    } finally {
      stream.close();
    }
  });

  it("uploads, downloads and deletions of files fire no hook; with the option on, beforeRequest alone", async () => {
    const record = await made();
    const all = async () => {
      fired.length = 0;
      await demand(200, on.request("GET", url(record.id, "cover"), { token: alice.token }));
      await demand(204, on.request("DELETE", url(record.id, `att/${record.att.pop().id}`), { token: alice.token }));
      return [...fired];
    };
    expect(await all()).to.deep.equal([]);
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, { guardFileRoutes: true }));
    expect(await all()).to.deep.equal(["beforeRequest", "beforeRequest"]);
    const stop = on.service.on("beforeRequest", { tenant: "acme" }, () => ({ continue: false, error: { status: 418, message: "guarded" } }), -1);
    const refused = await on.request("GET", url(record.id, "cover"), { token: alice.token });
    expect([refused.status, refused.body.message]).to.deep.equal([418, "guarded"]);
    stop();
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, { guardFileRoutes: false }));
  });

  it("If-Match guards the removal of a file: the record's entity tag or the file's, else 412 and nothing goes", async () => {
    const record = await made();
    const get = (path: string) => on.request("GET", path, { token: alice.token });
    const remove = (rest: string, tag: string) => on.request("DELETE", url(record.id, rest), { token: alice.token, headers: { "if-match": tag } });
    const ofRecord = String((await get(`/api/collections/docs/${record.id}`)).headers["etag"]);
    const ofFile = String((await get(url(record.id, "cover"))).headers["etag"]);
    await demand(200, on.request("PATCH", `/api/collections/docs/${record.id}`, { token: alice.token, ...form(file("cover", "another")) }));
    for (const stale of [ofRecord, ofFile, `W/${ofRecord}`, '"x", "y"']) expect((await remove("cover", stale)).status, stale).to.equal(412);
    const newer = String((await get(url(record.id, "cover"))).headers["etag"]);
    await demand(204, remove("cover", `"x", ${newer}`));
    const now = String((await get(`/api/collections/docs/${record.id}`)).headers["etag"]);
    await demand(204, remove(`att/${record.att[0].id}`, now));
    expect((await remove(`att/${record.att[1].id}`, now)).status).to.equal(412);
    await demand(204, remove(`att/${record.att[1].id}`, "*"));
    const inCode = on.service.tenant("acme").as({ userId: alice.id }).files;
    const again = await made();
    expect(await inCode.delete("docs", again.id, "cover", { ifMatch: ofFile }).catch((error: unknown) => error)).to.be.instanceOf(PreconditionFailed);
    await inCode.delete("docs", again.id, "cover", { ifMatch: `"${again.cover.id}-original"` });
  });

  it("a rule-bypassing key reaches files of any collection, and no unknown one", async () => {
    const { body: key } = await demand(201, on.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "k", userId: alice.id, bypassRules: true }));
    const { body } = await demand(201, on.request("POST", "/api/collections/none", { token: key.key, ...form(file("cover", "x")) }));
    expect((await on.request("GET", `/api/collections/none/${body.id}/files/cover`, { token: key.key })).text).to.equal("x");
    expect((await on.request("GET", `/api/collections/none/${body.id}/files/cover`, { token: alice.token })).status).to.equal(403);
    expect((await on.request("GET", `/api/collections/none/${body.id}/files/cover`, { tenant: "acme" })).status).to.equal(401);
    expect((await on.request("DELETE", `/api/collections/none/${body.id}/files/cover`, { token: alice.token })).status).to.equal(403);
    expect((await on.request("GET", `/api/collections/nope/${body.id}/files/cover`, { token: key.key })).status).to.equal(404);
    expect((await on.request("DELETE", `/api/collections/none/${body.id}/files/cover`, { token: key.key })).status).to.equal(204);
  });

  it("another tenant's credential and hint reach nothing", async () => {
    const other = await on.createTenant("other");
    const bea = await on.signUp(other, "bea");
    const record = await made();
    expect((await on.request("GET", url(record.id, "cover"), { token: bea.token })).status).to.equal(404);
    expect((await on.request("GET", url(record.id, "cover"), { token: bea.token, tenant: "acme" })).status).to.equal(403);
    const { body } = await demand(200, on.request("POST", "/api/files/token", { token: bea.token }));
    expect((await on.request("GET", `${url(record.id, "cover")}?token=${body.token}`)).status).to.equal(404);
  });

  it("users may have files too", async () => {
    const users = (await demand(200, on.meta("GET", `/api/meta/tenants/${tenant.id}/collections/users`))).body;
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/users`, { fields: [...users.fields, { name: "avatar", type: "FILE" }] }));
    const { body } = await demand(200, on.request("PATCH", `/api/collections/users/${alice.id}`, { token: alice.token, ...form(file("avatar", "face", "face.txt")) }));
    expect(body.avatar.url).to.match(new RegExp(`/api/collections/users/${alice.id}/files/avatar$`));
    expect((await on.request("GET", `/api/collections/users/${alice.id}/files/avatar`, { token: alice.token })).text).to.equal("face");
    expect((await on.request("DELETE", `/api/collections/users/${alice.id}/files/avatar`, { token: alice.token })).status).to.equal(204);
    expect((await on.request("GET", "/api/auth/me", { token: alice.token })).body.avatar).to.equal(null);
  });

  it("405 names the methods, and OPTIONS or PUT reach nothing", async () => {
    const record = await made();
    for (const method of ["PUT", "POST", "PATCH"]) {
      const answer = await on.request(method, url(record.id, "cover"), { token: alice.token });
      expect([answer.status, answer.headers["allow"]]).to.deep.equal([405, "GET, HEAD, DELETE"]);
    }
  });

  it("in code: streams in and out, under the rules of the caller named", async () => {
    const data = on.service.tenant("acme").as({ userId: alice.id });
    const record = await data.collection("docs").create({ title: "in code" });
    const image = await sharp({ create: { width: 200, height: 100, channels: 3, background: "red" } }).png().toBuffer();
    const updated = await data.files.upload("docs", record.id, "cover", { name: "red.png", stream: Readable.from([image]) });
    expect(updated["cover"]).to.include({ name: "red.png", type: "image/png", width: 200 });
    await data.files.upload("docs", record.id, "att", { name: "a", stream: Readable.from(["text"]) });
    const second = await data.files.upload("docs", record.id, "att", { name: "b", stream: Readable.from(["more"]) });
    const { stream, headers } = await data.files.read("docs", record.id, "cover");
    expect((await buffer(stream)).equals(image)).to.equal(true);
    expect(headers["X-Image-Width"]).to.equal("original");
    const [first] = second["att"] as { id: string }[];
    expect((await buffer((await data.files.read("docs", record.id, "att", { fileId: first!.id })).stream)).toString()).to.equal("text");
    await data.files.delete("docs", record.id, "att", { fileId: first!.id });
    const failure = await data.files.read("docs", record.id, "att", { fileId: first!.id }).then(() => undefined, (error: unknown) => error);
    expect(failure).to.be.instanceOf(NotFound);
    const denied = await on.service.tenant("acme").as("guest").files.read("docs", record.id, "cover").then(() => undefined, (error: unknown) => (error as { status: number }).status);
    expect(denied).to.equal(401);
    const wrong = await data.files.upload("docs", record.id, "title", { name: "x", stream: Readable.from(["x"]) }).then(() => undefined, (error: unknown) => error);
    expect(wrong).to.be.instanceOf(ValidationFailed);
  });
});

describe("an upload that stalls", () => {
  it("is ended with 408, and leaves no file", async () => {
    const dropped: number[] = [];
    let received = 0;
    const server = createServer((req, res) => {
      void readMultipart(req, {
        fields: [{ type: "FILE", name: "f", required: false, unique: false, default: null, multiple: true, maxFiles: 5, maxSize: 1_000_000, mimeTypes: [], widths: [] }],
        async receive(field, { name, stream }) {
          const content = await buffer(stream);
          received += 1;
          return { field: field.name, reference: { id: String(received), name, size: content.length, type: "text/plain" }, key: "k" };
        },
        drop: async (files) => void dropped.push(files.length),
        stallTime: 50,
      }).then(() => res.end("ok"), (error: { status: number }) => res.writeHead(error.status).end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const whole = form(text("title", "x"), file("f", "first"), file("f", "second"));
    const { connect } = await import("node:net");
    const socket = connect(port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${whole.body.length}\r\n\r\n`);
    socket.write(whole.body.subarray(0, whole.body.length - 60));
    const answer = await new Promise<string>((resolve) => socket.once("data", (chunk: Buffer) => resolve(chunk.toString())));
    expect(answer).to.match(/^HTTP\/1\.1 408 /);
    expect(dropped).to.deep.equal([1]);
    socket.destroy();
    expect((await send(`http://127.0.0.1:${port}/`, "POST", whole)).text).to.equal("ok");
    await closeServer(server);
  });
});
