// Contract 5 and 11: POST /api/batch, all or nothing, each request under its own rule and hooks.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

interface Entry {
  readonly method: string;
  readonly collection: string;
  readonly id?: string;
  readonly body?: unknown;
}

describe("batch", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  let bob: TestUser;
  const owned = "owner = @auth.id";
  const batch = (requests: unknown, token: string | undefined = alice.token): Promise<Answer> => on.request("POST", "/api/batch", { token, tenant: tenant.slug, body: { requests } });
  const get = (path: string) => on.request("GET", `/api/collections/${path}`, { token: alice.token });
  const total = async (collection: string): Promise<number> => (await demand(200, on.meta("GET", `/api/collections/${collection}?count=true&tenant=acme`))).body.total;
  const post = (title: string, more: object = {}): Entry => ({ method: "POST", collection: "notes", body: { title, owner: alice.id, ...more } });

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    alice = await on.signUp(tenant, "alice");
    bob = await on.signUp(tenant, "bob");
    const fields = [{ name: "title", type: "TEXT", required: true, maxLength: 20 }, { name: "owner", type: "TEXT" }, { name: "code", type: "TEXT", unique: true }];
    await on.createCollection(tenant, { name: "notes", fields, listRule: owned, viewRule: owned, createRule: owned, updateRule: owned, deleteRule: owned });
    await on.createCollection(tenant, { name: "closed", fields: [] });
    await on.createCollection(tenant, { name: "nodes", fields: [{ name: "title", type: "TEXT" }, { name: "of", type: "RELATION", collection: "nodes", onDelete: "cascade" }], listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" });
    await on.createCollection(tenant, { name: "parents", fields: [], listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" });
    await on.createCollection(tenant, { name: "children", fields: [{ name: "of", type: "RELATION", collection: "parents" }], listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" });
  });
  after(() => on.close());

  it("answers 200 with a result for each request, in order, with the status and body of its own", async () => {
    const { body: made } = await demand(200, batch([post("one"), post("two")]));
    expect(made).to.have.all.keys("results");
    expect(made.results.map((result: { status: number }) => result.status)).to.deep.equal([201, 201]);
    const [one, two] = made.results.map((result: { body: { id: string } }) => result.body);
    expect((await get(`notes/${one.id}`)).body).to.deep.equal(one);
    const { body: mixed } = await demand(200, batch([
      { method: "PATCH", collection: "notes", id: one.id, body: { title: "changed" } }, { method: "DELETE", collection: "notes", id: two.id }, post("three"),
    ]));
    expect(mixed.results.map((result: { status: number }) => result.status)).to.deep.equal([200, 204, 201]);
    expect(mixed.results[0].body).to.deep.equal((await get(`notes/${one.id}`)).body);
    expect(mixed.results[0].body.title).to.equal("changed");
    expect(mixed.results[1].body).to.equal(null);
    expect((await get(`notes/${two.id}`)).status).to.equal(404);
  });

  it("takes 100 requests, and not 101", async () => {
    const before = await total("notes");
    expect((await demand(200, batch(Array.from({ length: 100 }, (_, index) => post(`n${index}`))))).body.results).to.have.length(100);
    expect((await batch(Array.from({ length: 101 }, (_, index) => post(`n${index}`)))).status).to.equal(400);
    expect(await total("notes")).to.equal(before + 100);
  });

  it("an empty batch is 200 and no results", async () => {
    expect((await demand(200, batch([]))).body).to.deep.equal({ results: [] });
  });

  describe("a failure undoes the whole, with the failing one's status and index", () => {
    const cases: readonly (readonly [string, () => Entry, number, ((error: never) => void)?])[] = [
      ["validation", () => ({ method: "POST", collection: "notes", body: { owner: alice.id, nope: 1 } }), 400, (error: { field: string }[]) => expect(error.map(({ field }) => field)).to.have.members(["title", "nope"])],
      ["a unique violation", () => post("x", { code: "taken" }), 400, (error: { field: string }[]) => expect(error[0]!.field).to.equal("code")],
      ["a denied create", () => post("x", { owner: "another" }), 403],
      ["a collection with No access", () => ({ method: "POST", collection: "closed", body: {} }), 403],
      ["an unknown collection", () => ({ method: "POST", collection: "nosuch", body: {} }), 404],
      ["an unknown record", () => ({ method: "PATCH", collection: "notes", id: "01890000-0000-7000-8000-000000000000", body: {} }), 404],
      ["a reference to nothing", () => ({ method: "POST", collection: "children", body: { of: "nosuch" } }), 400],
    ];
    before(async () => {
      await demand(200, batch([post("holder", { code: "taken" })]));
    });
    for (const [title, entry, status, check] of cases) {
      it(title, async () => {
        const before = await total("notes");
        const answer = await batch([post("first"), post("second"), entry(), post("last")]);
        expect(answer.status, answer.text).to.equal(status);
        expect(answer.body).to.have.all.keys("error", "index");
        expect(answer.body.index).to.equal(2);
        if (check === undefined) expect(status === 400 ? answer.body.error[0].field : answer.body.error).to.be.a("string").that.is.not.empty;
        else check(answer.body.error as never);
        expect(await total("notes")).to.equal(before);
      });
    }

    it("a record of somebody else", async () => {
      const { body } = await demand(201, on.request("POST", "/api/collections/notes", { token: bob.token, body: { title: "bob's", owner: bob.id } }));
      for (const method of ["PATCH", "DELETE"]) {
        const answer = await batch([post("first"), { method, collection: "notes", id: body.id, ...(method === "PATCH" ? { body: { title: "mine" } } : {}) }]);
        expect([answer.status, answer.body.index]).to.deep.equal([404, 1]);
      }
      expect((await on.request("GET", `/api/collections/notes/${body.id}`, { token: bob.token })).body.title).to.equal("bob's");
    });

    it("the same unique value twice in one batch", async () => {
      const answer = await batch([post("x", { code: "twice" }), post("y", { code: "twice" })]);
      expect([answer.status, answer.body.index, answer.body.error[0].field]).to.deep.equal([400, 1, "code"]);
      expect((await get("notes?filter=code:eq:twice")).body.items).to.deep.equal([]);
    });

    it("a refusing hook, with its own error", async () => {
      const end = on.service.on("beforeCreate", { tenant: "acme", collection: "notes" }, (envelope) => ((envelope.data.body as { title?: string }).title === "bad" ? { continue: false, error: { status: 418, message: "no tea" } } : undefined));
      const before = await total("notes");
      const answer = await batch([post("good"), post("bad")]);
      end();
      expect([answer.status, answer.body.index]).to.deep.equal([418, 1]);
      expect(answer.body.error).to.equal("no tea");
      expect(await total("notes")).to.equal(before);
    });
  });

  it("each request fires its own hooks, after-hooks only where all was written", async () => {
    const before: string[] = [];
    const after: string[] = [];
    const ends = [
      on.service.on("beforeCreate", { collection: "notes" }, (envelope) => void before.push((envelope.data.body as { title: string }).title)),
      on.service.on("afterCreate", { collection: "notes" }, (envelope) => void after.push(String(envelope.data.record!["title"]))),
    ];
    await batch([post("no"), { method: "POST", collection: "closed", body: {} }]);
    await demand(200, batch([post("h1"), post("h2")]));
    while (after.length < 2) await new Promise((resolve) => setImmediate(resolve));
    ends.forEach((end) => end());
    expect(before).to.include.members(["h1", "h2"]);
    expect(after).to.have.members(["h1", "h2"]);
  });

  it("later requests see what earlier ones of the batch did", async () => {
    const { body: parent } = await on.request("POST", "/api/collections/parents", { token: alice.token, body: {} });
    const { body: child } = await on.request("POST", "/api/collections/children", { token: alice.token, body: { of: parent.id } });
    const refused = await batch([{ method: "DELETE", collection: "parents", id: parent.id }]);
    expect([refused.status, refused.body.index]).to.deep.equal([409, 0]);
    const { body } = await demand(200, batch([{ method: "DELETE", collection: "children", id: child.id }, { method: "DELETE", collection: "parents", id: parent.id }]));
    expect(body.results.map((result: { status: number }) => result.status)).to.deep.equal([204, 204]);
  });

  it("two changes of one record both stand, and the answers say so", async () => {
    const { body: made } = await demand(200, batch([post("x")]));
    const id: string = made.results[0].body.id;
    await demand(200, batch([{ method: "PATCH", collection: "notes", id, body: { title: "new" } }, { method: "PATCH", collection: "notes", id, body: { code: "both" } }]));
    expect((await get(`notes/${id}`)).body).to.include({ title: "new", code: "both" });
    const twice = await batch([{ method: "DELETE", collection: "notes", id }, { method: "DELETE", collection: "notes", id }]);
    expect([twice.status, twice.body.index]).to.deep.equal([404, 1]);
    const after = await batch([{ method: "DELETE", collection: "notes", id }, { method: "PATCH", collection: "notes", id, body: { title: "late" } }]);
    expect([after.status, after.body.index]).to.deep.equal([404, 1]);
    await demand(200, get(`notes/${id}`));
  });

  it("two changes of one record stand with after-hooks too, and cascades are seen", async () => {
    await on.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, { webhookAllowlist: ["127.0.0.1:9"] });
    for (const event of ["afterUpdate", "afterDelete"]) await demand(201, on.meta("POST", `/api/meta/tenants/${tenant.id}/hooks`, { event, collection: "nodes", url: "http://127.0.0.1:9/" }));
    const make = async (body: object): Promise<string> => (await demand(201, on.request("POST", "/api/collections/nodes", { token: alice.token, body }))).body.id;
    const id = await make({});
    const child = await make({ of: id });
    const { body } = await demand(200, batch(["a", "b", "c"].map((title) => ({ method: "PATCH", collection: "nodes", id, body: { title } }))));
    expect(body.results.map((result: { body: { title: string } }) => result.body.title)).to.deep.equal(["a", "b", "c"]);
    const late = await batch([{ method: "DELETE", collection: "nodes", id }, { method: "PATCH", collection: "nodes", id: child, body: { title: "late" } }]);
    expect([late.status, late.body.index]).to.deep.equal([404, 1]);
    await demand(200, batch([{ method: "PATCH", collection: "nodes", id: child, body: { of: null } }, { method: "DELETE", collection: "nodes", id }]));
    expect((await get(`nodes/${child}`)).body.of).to.equal(null);
    const pointing = await batch([{ method: "DELETE", collection: "nodes", id: child }, { method: "POST", collection: "nodes", body: { of: child } }]);
    expect([pointing.status, pointing.body.index, pointing.body.error[0].field]).to.deep.equal([400, 1, "of"]);
  });

  it("a unique value that an earlier request frees can be taken by a later one", async () => {
    const { body: made } = await demand(200, batch([post("x", { code: "moving" })]));
    const { body } = await demand(200, batch([{ method: "PATCH", collection: "notes", id: made.results[0].body.id, body: { code: null } }, post("y", { code: "moving" })]));
    expect(body.results[1].body.code).to.equal("moving");
  });

  it("guests act under the rules too; an invalid credential is 401", async () => {
    expect((await demand(200, on.request("POST", "/api/batch", { tenant: "acme", body: { requests: [{ method: "POST", collection: "parents", body: {} }] } }))).body.results[0].status).to.equal(201);
    const denied = await on.request("POST", "/api/batch", { tenant: "acme", body: { requests: [post("x")] } });
    expect([denied.status, denied.body.index, denied.headers["www-authenticate"]]).to.deep.equal([401, 0, "Bearer"]);
    expect((await batch([post("x")], "garbage")).status).to.equal(401);
    expect((await on.request("POST", "/api/batch", { body: { requests: [] } })).status).to.equal(404);
  });

  it("users stay protected: role pinned, credentials by proof only", async () => {
    for (const body of [{ password: "another long password" }, { email: "new@example.org" }]) {
      const answer = await batch([{ method: "PATCH", collection: "users", id: alice.id, body }]);
      expect(answer.status, answer.text).to.equal(400);
    }
    const { body } = await demand(200, batch([{ method: "PATCH", collection: "users", id: alice.id, body: { role: "admin" } }]));
    expect(body.results[0].body.role).to.equal("user");
    expect(JSON.stringify(body)).not.to.match(/passwordHash|generation/);
    await demand(200, on.request("GET", "/api/auth/me", { token: alice.token }));
  });

  describe("malformed", () => {
    const bad: readonly (readonly [string, unknown])[] = [
      ["no requests", {}], ["requests that are no list", { requests: {} }], ["an entry that is no object", { requests: [5] }], ["null", { requests: [null] }], ["an unknown method", { requests: [{ method: "GET", collection: "notes" }] }],
      ["a method in lower case", { requests: [{ method: "post", collection: "notes", body: {} }] }], ["no method", { requests: [{ collection: "notes", body: {} }] }], ["no collection", { requests: [{ method: "POST", body: {} }] }],
      ["no id", { requests: [{ method: "PATCH", collection: "notes", body: {} }] }], ["an id that is no text", { requests: [{ method: "DELETE", collection: "notes", id: 5 }] }], ["a body that is no object", { requests: [{ method: "POST", collection: "notes", body: [] }] }],
      ["no body", { requests: [{ method: "POST", collection: "notes" }] }], ["an unknown member", { requests: [{ method: "POST", collection: "notes", body: {}, headers: {} }] }],
    ];
    for (const [title, body] of bad) {
      it(`${title}: 400`, async () => {
        const answer = await on.request("POST", "/api/batch", { token: alice.token, body });
        expect(answer.status, answer.text).to.equal(400);
      });
    }
  });
});
