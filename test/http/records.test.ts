import { expect } from "chai";
import { startService, type TestService, type TestTenant, type TestUser } from "../support/service.js";

describe("records over HTTP", () => {
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
      name: "notes",
      fields: [{ name: "title", type: "TEXT", required: true }, { name: "n", type: "NUMBER" }, { name: "owner", type: "TEXT" }, { name: "meta", type: "JSON" }],
      listRule: "owner = @auth.id", viewRule: "owner = @auth.id", createRule: "owner = @auth.id",
      updateRule: "owner = @auth.id && !@changed.owner", deleteRule: "owner = @auth.id",
    });
  });
  after(() => on.close());

  it("creates, views, lists, updates and deletes", async () => {
    const made = await on.request("POST", "/api/collections/notes", { token: alice.token, body: { title: "one", n: 1, owner: alice.id } });
    expect(made.status, made.text).to.equal(201);
    expect(made.body).to.include({ title: "one", n: 1, owner: alice.id, meta: null });
    const seen = await on.request("GET", `/api/collections/notes/${made.body.id}`, { token: alice.token });
    expect(seen.body).to.deep.equal(made.body);
    expect((await on.request("GET", `/api/collections/notes/${made.body.id}`, { token: bob.token })).status).to.equal(404);
    expect((await on.request("GET", `/api/collections/notes/${made.body.id}`, { tenant: "acme" })).status).to.equal(401);
    const list = await on.request("GET", "/api/collections/notes?sort=n:desc&count=true", { token: alice.token });
    expect(list.body).to.deep.include({ offset: 0, limit: 25, hasMore: false, nextCursor: null, total: 1 });
    const changed = await on.request("PATCH", `/api/collections/notes/${made.body.id}`, { token: alice.token, body: { n: 2 } });
    expect(changed.status, changed.text).to.equal(200);
    expect(changed.body.n).to.equal(2);
    expect((await on.request("PATCH", `/api/collections/notes/${made.body.id}`, { token: alice.token, body: { owner: bob.id } })).status).to.equal(403);
    expect((await on.request("DELETE", `/api/collections/notes/${made.body.id}`, { token: alice.token })).status).to.equal(204);
    expect((await on.request("GET", `/api/collections/notes/${made.body.id}`, { token: alice.token })).status).to.equal(404);
  });
});
