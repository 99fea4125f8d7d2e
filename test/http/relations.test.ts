// Contract 3 and 11: RELATION fields between records.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

describe("relations", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  const rules = { listRule: "true", viewRule: "true", createRule: "true", updateRule: "true", deleteRule: "true" };
  const send = (method: string, path: string, body?: unknown): Promise<Answer> => on.request(method, `/api/collections/${path}`, { tenant: tenant.slug, body });
  const add = async (collection: string, body: object = {}): Promise<string> => (await demand(201, send("POST", collection, body))).body.id;
  const relation = (name: string, collection: string, onDelete: string, more: object = {}) => ({ name, type: "RELATION", collection, onDelete, ...more });

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    alice = await on.signUp(tenant, "alice");
    await on.createCollection(tenant, { name: "parents", fields: [{ name: "title", type: "TEXT" }], ...rules });
    await on.createCollection(tenant, { name: "restricting", fields: [relation("of", "parents", "restrict")], ...rules });
    await on.createCollection(tenant, { name: "emptied", fields: [relation("of", "parents", "setNull"), { name: "title", type: "TEXT" }], ...rules });
    await on.createCollection(tenant, { name: "cascading", fields: [relation("of", "parents", "cascade")], ...rules });
    await on.createCollection(tenant, { name: "leaves", fields: [relation("of", "cascading", "cascade"), { name: "file", type: "FILE" }], ...rules });
    await on.createCollection(tenant, { name: "guards", fields: [relation("of", "leaves", "restrict")], ...rules });
    await on.createCollection(tenant, { name: "nodes", fields: [relation("parent", "nodes", "cascade")], ...rules });
    await on.createCollection(tenant, { name: "strict", fields: [relation("of", "parents", "setNull", { required: true })], ...rules });
  });
  after(() => on.close());

  it("restrict: 409 with an error, and the record stays until nothing points to it", async () => {
    const parent = await add("parents");
    const child = await add("restricting", { of: parent });
    const answer = await send("DELETE", `parents/${parent}`);
    expect(answer.status).to.equal(409);
    expect(answer.body).to.have.all.keys("error");
    expect(answer.body.error).to.be.a("string").that.contains("restricting");
    await demand(200, send("GET", `parents/${parent}`));
    await demand(200, send("PATCH", `restricting/${child}`, { of: null }));
    await demand(204, send("DELETE", `parents/${parent}`));
  });

  it("setNull: empties the field, sets updatedAt and the ETag", async () => {
    const parent = await add("parents");
    const id = await add("emptied", { of: parent, title: "kept" });
    const before = await send("GET", `emptied/${id}`);
    on.clock.advance(10);
    await demand(204, send("DELETE", `parents/${parent}`));
    const { body, headers } = await send("GET", `emptied/${id}`);
    expect(body).to.include({ of: null, title: "kept" });
    expect(body.updatedAt > before.body.updatedAt).to.equal(true);
    expect(headers.etag).not.to.equal(before.headers.etag);
  });

  it("setNull on a required field cannot empty it: it restricts", async () => {
    const parent = await add("parents");
    await add("strict", { of: parent });
    expect((await send("DELETE", `parents/${parent}`)).status).to.equal(409);
  });

  it("cascade: removes what points to it, and what points to that", async () => {
    const parent = await add("parents");
    const middles = [await add("cascading", { of: parent }), await add("cascading", { of: parent })];
    const leaf = await add("leaves", { of: middles[0] });
    const other = await add("cascading", { of: await add("parents") });
    await demand(204, send("DELETE", `parents/${parent}`));
    for (const path of [`cascading/${middles[0]}`, `cascading/${middles[1]}`, `leaves/${leaf}`]) expect((await send("GET", path)).status).to.equal(404);
    await demand(200, send("GET", `cascading/${other}`));
  });

  it("a restriction deep in a cascade stops the whole: nothing is removed", async () => {
    const parent = await add("parents");
    const middle = await add("cascading", { of: parent });
    const leaf = await add("leaves", { of: middle });
    const emptied = await add("emptied", { of: parent });
    await add("guards", { of: leaf });
    expect((await send("DELETE", `parents/${parent}`)).status).to.equal(409);
    for (const path of [`parents/${parent}`, `cascading/${middle}`, `leaves/${leaf}`]) await demand(200, send("GET", path));
    expect((await send("GET", `emptied/${emptied}`)).body.of).to.equal(parent);
  });

  it("what goes along restricts nothing, whichever relation is followed first", async () => {
    for (const [name, order] of [["former", ["up", "twin"]], ["latter", ["twin", "up"]]] as const) {
      const fields = { up: relation("up", name, "cascade"), twin: relation("twin", name, "restrict") };
      await on.createCollection(tenant, { name, fields: order.map((field) => fields[field]), ...rules });
      for (const [first, second] of [["a", "b"], ["b", "a"]] as const) {
        const root = await add(name);
        const ids = { a: await add(name, { up: root }), b: await add(name, { up: root }) };
        await demand(200, send("PATCH", `${name}/${ids[first]}`, { twin: ids[second] }));
        await demand(204, send("DELETE", `${name}/${root}`));
        for (const id of Object.values(ids)) expect((await send("GET", `${name}/${id}`)).status).to.equal(404);
      }
      const root = await add(name);
      const child = await add(name, { up: root });
      await add(name, { twin: child });
      expect((await send("DELETE", `${name}/${root}`)).status).to.equal(409);
      await demand(200, send("GET", `${name}/${child}`));
    }
  });

  it("a circle of cascades, and a record that points to itself, end", async () => {
    const first = await add("nodes");
    const second = await add("nodes", { parent: first });
    await demand(200, send("PATCH", `nodes/${first}`, { parent: second }));
    await demand(204, send("DELETE", `nodes/${first}`));
    expect((await send("GET", `nodes/${second}`)).status).to.equal(404);
    const own = await add("nodes");
    await demand(200, send("PATCH", `nodes/${own}`, { parent: own }));
    await demand(204, send("DELETE", `nodes/${own}`));
  });

  it("a long chain of cascades is removed whole", async () => {
    const ids = [await add("nodes")];
    for (let index = 0; index < 150; index += 1) ids.push(await add("nodes", { parent: ids.at(-1)! }));
    await demand(204, send("DELETE", `nodes/${ids[0]}`));
    expect((await send("GET", "nodes?count=true")).body.total).to.equal(0);
  });

  it("a reference beside the removal of its target never dangles, 30 rounds", async () => {
    for (let round = 0; round < 30; round += 1) {
      const parent = await add("parents");
      const [made, removed] = await Promise.all([send("POST", "restricting", { of: parent }), send("DELETE", `parents/${parent}`)]);
      const isThere = (await send("GET", `parents/${parent}`)).status === 200;
      if (made.status === 201) expect([removed.status, isThere]).to.deep.equal([409, true]);
      else expect([made.status, made.body[0].field, removed.status, isThere]).to.deep.equal([400, "of", 204, false]);
    }
  });

  it("a record of another tenant does not exist for a relation", async () => {
    const other = await on.createTenant("other");
    await on.createCollection(other, { name: "parents", fields: [], ...rules });
    const { body } = await on.request("POST", "/api/collections/parents", { tenant: "other", body: {} });
    expect((await send("POST", "restricting", { of: body.id })).body[0].field).to.equal("of");
  });

  it("a relation may point to users; expand shows of a user what a view shows", async () => {
    await on.createCollection(tenant, { name: "posts", fields: [relation("author", "users", "cascade")], ...rules });
    const { body } = await demand(201, on.request("POST", "/api/collections/posts", { token: alice.token, body: { author: alice.id } }));
    const own = await on.request("GET", "/api/collections/posts?expand=author", { token: alice.token });
    expect(own.body.items[0].expand.author).to.deep.equal((await on.request("GET", `/api/collections/users/${alice.id}`, { token: alice.token })).body);
    expect(JSON.stringify(own.body)).not.to.match(/password|generation/i);
    const guest = await send("GET", "posts?expand=author");
    expect(guest.body.items[0].author).to.equal(alice.id);
    expect(guest.body.items[0].expand ?? {}).to.deep.equal({});
    await demand(204, on.meta("DELETE", `/api/collections/users/${alice.id}?tenant=acme`));
    expect((await send("GET", `posts/${body.id}`)).status).to.equal(404);
  });

  it("what a cascade does needs no rule of the collections it reaches, and is a change of each", async () => {
    await on.createCollection(tenant, { name: "silent", fields: [relation("of", "parents", "cascade")], createRule: "true" });
    const parent = await add("parents");
    const told: unknown[] = [];
    const end = on.service.on("afterDelete", { tenant: "acme", collection: "silent" }, (envelope) => void told.push(envelope.context.recordId));
    const { body } = await demand(201, send("POST", "silent", { of: parent }));
    await demand(204, send("DELETE", `parents/${parent}`));
    while (told.length === 0) await new Promise((resolve) => setImmediate(resolve));
    end();
    expect(told).to.deep.equal([body.id]);
  });
});
