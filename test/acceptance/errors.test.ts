// Acceptance: the interface's table of errors, row by row, and the contract's statuses beside it.
import { expect } from "chai";
import { createConnection } from "node:net";
import { Agent, request as httpRequest } from "node:http";
import { demand, send, type Answer, type RequestOptions } from "../support/service.js";
import { password, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";
import { openScene, openToAll, type Scene } from "./scene.js";

describe("acceptance: errors", () => {
  let scene: Scene;
  let backend: Backend;
  let receiver: Receiver;
  let tenant: Tenant;
  let ann: Account;
  let bob: Account;
  before(async () => {
    ({ backend, receiver, tenant, ann } = scene = await openScene({ email: "ann@example.org" }));
    bob = await tenant.account("bob");
    const fields = [{ name: "title", type: "TEXT", required: true, maxLength: 10 }, { name: "count", type: "NUMBER", unique: true }, { name: "meta", type: "JSON" }, { name: "file", type: "FILE" }, { name: "owner", type: "RELATION", collection: "users" }];
    await tenant.collection({ name: "tasks", fields, ...openToAll });
    await tenant.collection({ name: "plain", fields: [{ name: "title", type: "TEXT" }], ...openToAll });
    await tenant.collection({ name: "closed", fields });
    const own = "owner = @auth.id";
    await tenant.collection({ name: "own", fields, listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: own });
    await tenant.collection({ name: "readable", fields, listRule: "true", viewRule: "true", createRule: "true", updateRule: own, deleteRule: own });
  });
  after(() => scene.end());
  const api = (method: string, path: string, body?: unknown, more: RequestOptions = { token: ann.token }) => backend.call(method, `/api/collections/${path}`, { body, ...more });
  const guest = { tenant: "acme" };
  const told = (answer: Answer, status: number, name = "") => {
    expect(answer.status, `${name} ${answer.text}`).to.equal(status);
    expect(answer.headers["content-type"], name).to.match(/^application\/json/);
    expect(answer.headers["x-request-id"], name).to.match(/^[A-Za-z0-9._-]{1,128}$/);
    expect(Object.keys(answer.body), name).to.deep.equal(["error"]);
    expect(answer.body.error).to.be.a("string").and.not.equal("");
    if (status === 401) expect(answer.headers["www-authenticate"], name).to.equal("Bearer");
  };
  const entries = (answer: Answer, fields: readonly string[]) => {
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.body).to.be.an("array");
    for (const entry of answer.body) {
      expect(entry).to.have.all.keys("field", "message");
      expect(entry.message).to.be.a("string").and.not.equal("");
    }
    expect(answer.body.map((entry: { field: string }) => entry.field).sort()).to.deep.equal([...fields].sort());
  };

  it("invalid sort: 400", async () => {
    for (const sort of ["nothing:asc", "title:up", "title", "title:ASC", ":asc", "title:", "title:asc:x", "meta:asc", "file:asc", "title:asc,count:desc", "-title", "", "password:asc", "__proto__:asc"]) {
      told(await api("GET", `tasks?sort=${encodeURIComponent(sort)}`), 400, sort);
    }
    for (const sort of ["id:asc", "createdAt:desc", "updatedAt:asc", "title:desc", "count:asc"]) await demand(200, api("GET", `tasks?sort=${sort}`));
  });

  it("invalid filter, offset, limit and unknown query parameters on list: 400", async () => {
    for (const query of ["filter=title", "filter=title:ne:x", "filter=nothing:eq:x", "filter=meta:eq:x", "filter=file:eq:x", "filter=count:eq:many", "filter=createdAt:eq:soon", "filter=", "offset=x", "offset=1.5", "limit=x", "limit=", "nonsense=1", "limit=1&limit=2", "where=(", "where=nothing%3D1", "expand=nothing", "expand=title", "fields=nothing", "cursor=junk", "count=maybe"]) {
      told(await api("GET", `tasks?${query}`), 400, query);
    }
  });

  it("record validation failure: 400 with the array", async () => {
    entries(await api("POST", "tasks", {}), ["title"]);
    entries(await api("POST", "tasks", { title: "far too long", count: "x", nonsense: 1 }), ["title", "count", "nonsense"]);
    entries(await api("POST", "tasks", { title: 7 }), ["title"]);
    entries(await api("POST", "tasks", { title: "t", owner: "0198c0de-0000-7000-8000-000000000000" }), ["owner"]);
    const { id } = (await demand(201, api("POST", "tasks", { title: "one", count: 1 }))).body;
    entries(await api("POST", "tasks", { title: "two", count: 1 }), ["count"]);
    entries(await api("PATCH", `tasks/${id}`, { title: null }), ["title"]);
    entries(await api("PATCH", `tasks/${id}`, { title: "" }), ["title"]);
    entries(await api("PATCH", `tasks/${id}`, { nonsense: 1 }), ["nonsense"]);
  });

  it("a denied rule: 401 without a credential, 403 at No access, 404 for what is hidden, 403 for what may only be viewed", async () => {
    const { id } = (await demand(201, api("POST", "own", { title: "t", owner: ann.id }))).body;
    const readable = (await demand(201, api("POST", "readable", { title: "t", owner: ann.id }))).body.id;
    const verbs: [string, string, unknown?][] = [["GET", ""], ["POST", "", { title: "t" }], ["GET", "/x"], ["PATCH", "/x", { title: "u" }], ["DELETE", "/x"]];
    for (const [method, path, body] of verbs) {
      told(await api(method, `closed${path}`, body), 403, `closed ${method}`);
      told(await api(method, `closed${path}`, body, guest), 401, `closed guest ${method}`);
      told(await api(method, `own${path}`, body, guest), 401, `own guest ${method}`);
    }
    for (const [method, body] of [["GET", undefined], ["PATCH", { title: "u" }], ["DELETE", undefined]] as const) {
      told(await api(method, `own/${id}`, body, { token: bob.token }), 404, method);
      told(await api(method, `own/${id}`, body, guest), 401, method);
      told(await api(method, "own/nothing", body), 404, method);
    }
    told(await api("POST", "own", { title: "t", owner: ann.id }, { token: bob.token }), 403);
    told(await api("PATCH", `readable/${readable}`, { title: "u" }, { token: bob.token }), 403);
    told(await api("DELETE", `readable/${readable}`, undefined, { token: bob.token }), 403);
  });

  it("unknown collection 404, for a rule-bypassing key too; unknown tenant 404", async () => {
    const { key } = await tenant.key({ name: "bypass", userId: ann.id, bypassRules: true });
    for (const more of [{ token: ann.token }, { token: key }, guest]) {
      for (const [method, path, body] of [["GET", ""], ["POST", "", {}], ["GET", "/x"], ["PATCH", "/x", {}], ["DELETE", "/x"], ["GET", "/x/files/f"]] as const) told(await api(method, `nothing${path}`, body, more), 404, `${method} ${path}`);
    }
    for (const name of ["__proto__", "constructor", "Tasks", "collections", "settings", "c_users"]) told(await api("GET", name), 404, name);
    for (const more of [{}, { tenant: "nowhere" }]) expect((await api("GET", "tasks", undefined, more)).body).to.deep.equal({ error: "Unknown tenant" });
    told(await api("GET", "tasks", undefined, { token: ann.token, tenant: "other" }), 403);
  });

  it("hook rejection and hook failure", async () => {
    const hook = await tenant.hook({ collection: "plain", event: "beforeCreate", url: `${receiver.url}/reject` });
    const post = async (body: unknown, status = 200) => {
      receiver.answer("/reject", { status, body });
      return await api("POST", "plain", { title: "t" });
    };
    const object = await post({ continue: false, error: { status: 422, message: "No", code: 7 } });
    expect([object.status, object.body]).to.deep.equal([422, { status: 422, message: "No", code: 7 }]);
    const text = await post({ continue: false, error: "No" });
    expect([text.status, text.body]).to.deep.equal([400, { error: "No" }]);
    told(await post({ continue: false }), 400);
    told(await post(undefined, 500), 502);
    receiver.answer("/reject", { cut: true });
    told(await api("POST", "plain", { title: "t" }), 502);
    await demand(204, tenant.meta("DELETE", `/hooks/${hook.id}`));
  });

  it("a hook with a forbidden forwarded header name: 400", async () => {
    for (const name of ["Authorization", "Cookie", "Set-Cookie", "Proxy-Authorization"]) {
      expect((await tenant.meta("POST", "/hooks", { collection: "plain", event: "beforeList", url: receiver.url, forwardHeaders: name.toLowerCase() })).status).to.equal(400);
    }
  });

  it("credential changes: 403 for anybody else, 400 for a missing or wrong oldPassword", async () => {
    const { updateRule, viewRule } = (await tenant.meta("GET", "/collections/users")).body;
    await demand(200, tenant.meta("PATCH", "/collections/users", { updateRule: "true", viewRule: "true" }));
    try {
      for (const body of [{ password: "a new long password" }, { email: "new@example.org" }]) {
        told(await api("PATCH", `users/${ann.id}`, { ...body, oldPassword: password }, { token: bob.token }), 403);
        expect((await api("PATCH", `users/${ann.id}`, body, guest)).status).to.be.oneOf([401, 403]);
        for (const oldPassword of [undefined, "", "a wrong old password", null, 7]) {
          const answer = await api("PATCH", `users/${ann.id}`, { ...body, ...(oldPassword === undefined ? {} : { oldPassword }) });
          expect(answer.status, `${JSON.stringify(body)} ${oldPassword}: ${answer.text}`).to.equal(400);
        }
      }
      await demand(200, api("PATCH", `users/${ann.id}`, { email: "ann@example.org", password: "" }, { token: bob.token }));
      await demand(200, tenant.login("ann"));
    } finally {
      await demand(200, tenant.meta("PATCH", "/collections/users", { updateRule, viewRule }));
    }
  });

  it("no hashing slot free: 429 with Retry-After, the same for known and unknown accounts", async () => {
    const attempt = (username: string) => send(`${backend.url}/api/auth/login`, "POST", { body: { tenant: "acme", username, password } });
    const answers = await Promise.all(Array.from({ length: 80 }, async (_, index) => ({ known: index % 2 === 0, answer: await attempt(index % 2 === 0 ? "ann" : "nobody") })));
    const full = answers.filter(({ answer }) => answer.status === 429);
    expect(full.some(({ known }) => known) && full.some(({ known }) => !known), "both kinds are turned away").to.equal(true);
    for (const { answer } of full) {
      told(answer, 429);
      expect([answer.body, answer.headers["retry-after"]]).to.deep.equal([{ error: "Too many requests" }, "1"]);
    }
    for (const { known, answer } of answers) expect([known ? 200 : 401, 429]).to.include(answer.status);
    await demand(200, tenant.login("ann"));
  });

  it("malformed JSON 400, a wrong content type 415, a body that is no object 400", async () => {
    const post = (body: string, type: string, path = "/api/collections/plain") => backend.call("POST", path, { token: ann.token, body, headers: type === "" ? {} : { "content-type": type } });
    for (const body of ["{", "", "{'a':1}", "\u0000", "[", '{"title":"x"']) told(await post(body, "application/json"), 400, body);
    for (const body of ["[]", "null", "7", '"x"', "true"]) expect((await post(body, "application/json")).status, body).to.equal(400);
    for (const type of ["text/plain", "application/xml", "", "application/jsonx", "application/x-www-form-urlencoded"]) told(await post('{"title":"x"}', type), 415, type);
    await demand(201, post('{"title":"x"}', "application/json; charset=utf-8"));
    await demand(201, post('{"title":"x"}', "APPLICATION/JSON"));
    told(await post("x", "text/plain", "/api/auth/login"), 415);
    told(await post("{", "application/json", "/api/auth/login"), 400);
    told(await post("{".repeat(100_000), "application/json"), 400);
    expect((await post(`{"title":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, "application/json")).status).to.equal(400);
  });

  it("a body over 4 MiB is 413 and the connection survives", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    const ask = (method: string, path: string, body?: Buffer) => new Promise<{ status: number; text: string }>((resolve, reject) => {
      const req = httpRequest(`${backend.url}${path}`, { method, agent, headers: { authorization: `Bearer ${ann.token}`, ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }) } }, (res) => {
        ports.add(req.socket?.localPort);
        let text = "";
        res.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk)).on("end", () => resolve({ status: res.statusCode ?? 0, text }));
      });
      req.on("error", reject).end(body);
    });
    const big = Buffer.from(JSON.stringify({ title: "x".repeat(4 * 1024 * 1024) }));
    const answer = await ask("POST", "/api/collections/plain", big);
    expect(answer.status).to.equal(413);
    expect(Object.keys(JSON.parse(answer.text))).to.deep.equal(["error"]);
    expect((await ask("GET", "/api/auth/me")).status).to.equal(200);
    expect(ports.size, "one connection").to.equal(1);
    agent.destroy();
  });

  it("unknown path under the own prefixes 404 as JSON, a known one with another method 405 with Allow", async () => {
    for (const path of ["/api/", "/api/nothing", "/api/auth", "/api/auth/nothing", "/api/collections", "/api/collections/tasks/x/y", "/health/x", "/admin/nothing-here", "/authenticate/x"]) told(await backend.call("GET", path, { token: ann.token }), 404, path);
    for (const [method, path, allow] of [["PUT", "/api/collections/tasks", /GET.*POST|POST.*GET/], ["POST", "/api/collections/tasks/x", /PATCH/], ["GET", "/api/auth/login", /POST/], ["POST", "/health", /GET/], ["DELETE", "/api/realtime", /GET/], ["PATCH", "/api/batch", /POST/]] as const) {
      const answer = await backend.call(method, path, { token: ann.token });
      told(answer, 405, `${method} ${path}`);
      expect(answer.headers.allow, path).to.match(allow);
    }
  });

  it("X-Request-Id: the incoming one where it is well-formed, else a UUID", async () => {
    expect((await backend.call("GET", "/health", { headers: { "x-request-id": "my.id_1-A" } })).headers["x-request-id"]).to.equal("my.id_1-A");
    for (const given of ["", "with space", "a".repeat(129), "ü"]) {
      expect((await backend.call("GET", "/health", { headers: { "x-request-id": Buffer.from(given).toString("latin1") } })).headers["x-request-id"], given).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-/);
    }
  });

  it("a credential that is present but invalid is 401 everywhere but on the routes that do not look at it", async () => {
    const junk = { token: "junk", tenant: "acme" };
    for (const [method, path] of [["GET", "/api/collections/plain"], ["GET", "/api/collections/nothing"], ["GET", "/api/auth/me"], ["POST", "/api/auth/logout"], ["POST", "/api/batch"], ["POST", "/api/files/token"], ["GET", "/api/meta/tenants"], ["GET", "/api/admin/me"]] as const) {
      told(await backend.call(method, path, { ...junk, ...(method === "POST" ? { body: {} } : {}) }), 401, path);
    }
    await demand(200, backend.call("GET", "/health", junk));
    await demand(200, backend.call("POST", "/api/auth/login", { ...junk, body: { tenant: "acme", username: "ann", password } }));
    await demand(200, backend.call("POST", "/api/auth/password/forgot", { ...junk, body: { tenant: "acme", email: "x@example.org" } }));
    told(await backend.call("POST", "/api/auth/password/reset", { ...junk, body: { token: "x", password } }), 400);
    told(await backend.call("POST", "/api/auth/register", { ...junk, body: { tenant: "acme" } }), 403);
  });

  it("what is no HTTP is refused, and the server goes on", async () => {
    const { hostname, port } = new URL(backend.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = createConnection(Number(port), hostname, () => socket.end("NONSENSE\r\n\r\n"));
      let text = "";
      socket.on("data", (chunk) => void (text += chunk)).on("close", () => resolve(text)).on("error", reject);
    });
    expect(answer).to.match(/^HTTP\/1\.1 400/);
    await demand(200, backend.call("GET", "/health"));
  });

  it("If-Match: 412 where the record has changed", async () => {
    const made = await demand(201, api("POST", "plain", { title: "t" }));
    const { etag } = (await api("GET", `plain/${made.body.id}`)).headers;
    expect(etag).to.be.a("string");
    const patched = await demand(200, api("PATCH", `plain/${made.body.id}`, { title: "u" }, { token: ann.token, headers: { "if-match": etag! } }));
    expect(patched.headers.etag).not.to.equal(etag);
    told(await api("PATCH", `plain/${made.body.id}`, { title: "v" }, { token: ann.token, headers: { "if-match": etag! } }), 412);
    told(await api("DELETE", `plain/${made.body.id}`, undefined, { token: ann.token, headers: { "if-match": etag! } }), 412);
    await demand(204, api("DELETE", `plain/${made.body.id}`, undefined, { token: ann.token, headers: { "if-match": patched.headers.etag! } }));
  });
});
