// security.md 141 and contract 11: which status a denied rule gives, for every preset, verb and caller.
import { expect } from "chai";
import { startService, type TestService, type TestTenant, type TestUser } from "../support/service.js";

type Verb = "list" | "view" | "create" | "update" | "delete" | "viewUnknown";
const verbs: readonly Verb[] = ["list", "view", "create", "update", "delete", "viewUnknown"];
const presets = {
  none: null,
  pub: "true",
  signed: "@auth.id != null",
  own: "owner = @auth.id",
  peers: "team = @auth.team",
} as const;

/** By preset and caller: the statuses of list, view, create, update, delete, view of an unknown id. The record is alice's, of team red. */
const expected: Record<keyof typeof presets, Record<string, readonly number[]>> = {
  none: { guest: [401, 401, 401, 401, 401, 401], alice: [403, 403, 403, 403, 403, 403], carol: [403, 403, 403, 403, 403, 403], root: [200, 200, 201, 200, 204, 404], bypass: [200, 200, 201, 200, 204, 404] },
  pub: { guest: [200, 200, 201, 200, 204, 404], alice: [200, 200, 201, 200, 204, 404], carol: [200, 200, 201, 200, 204, 404], root: [200, 200, 201, 200, 204, 404], bypass: [200, 200, 201, 200, 204, 404] },
  signed: { guest: [401, 401, 401, 401, 401, 401], alice: [200, 200, 201, 200, 204, 404], carol: [200, 200, 201, 200, 204, 404], root: [200, 200, 201, 200, 204, 404], bypass: [200, 200, 201, 200, 204, 404] },
  own: { guest: [401, 401, 401, 401, 401, 401], alice: [200, 200, 201, 200, 204, 404], carol: [200, 404, 403, 404, 404, 404], root: [200, 200, 201, 200, 204, 404], bypass: [200, 200, 201, 200, 204, 404] },
  peers: { guest: [401, 401, 401, 401, 401, 401], alice: [200, 200, 201, 200, 204, 404], carol: [200, 404, 403, 404, 404, 404], root: [200, 200, 201, 200, 204, 404], bypass: [200, 200, 201, 200, 204, 404] },
};

describe("status of every preset, verb and caller", () => {
  let on: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  const tokens = new Map<string, string | undefined>();

  before(async () => {
    on = await startService();
    tenant = await on.createTenant();
    const users = (await on.meta("GET", `/api/meta/tenants/${tenant.id}/collections/users`)).body;
    await on.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/users`, { fields: [...users.fields, { name: "team", type: "TEXT" }] });
    alice = await on.signUp(tenant, "alice", { team: "red" });
    const carol = await on.signUp(tenant, "carol", { team: "blue" });
    const { body: key } = await on.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "machine", userId: carol.id, bypassRules: true });
    tokens.set("guest", undefined).set("alice", alice.token).set("carol", carol.token).set("root", await on.superadminToken()).set("bypass", key.key);
    for (const [name, rule] of Object.entries(presets)) {
      await on.createCollection(tenant, {
        name, fields: [{ name: "title", type: "TEXT" }, { name: "owner", type: "TEXT" }, { name: "team", type: "TEXT" }],
        listRule: rule, viewRule: rule, createRule: rule, updateRule: rule, deleteRule: rule,
      });
    }
  });
  after(() => on.close());

  for (const [preset, callers] of Object.entries(expected)) {
    for (const [caller, statuses] of Object.entries(callers)) {
      it(`${preset} for ${caller}`, async () => {
        const at = `/api/collections/${preset}`;
        const record = { title: "x", owner: alice.id, team: "red" };
        const made = await on.meta("POST", `${at}?tenant=${tenant.slug}`, record);
        const as = { token: tokens.get(caller), tenant: tenant.slug };
        const got: number[] = [];
        for (const verb of verbs) {
          const path = verb === "list" || verb === "create" ? at : `${at}/${verb === "viewUnknown" ? "01890000-0000-7000-8000-000000000000" : made.body.id}`;
          const requests: Record<Verb, readonly [string, object?]> = { list: ["GET"], view: ["GET"], viewUnknown: ["GET"], create: ["POST", record], update: ["PATCH", { title: "y" }], delete: ["DELETE"] };
          const [method, body] = requests[verb];
          got.push((await on.request(method, path, { ...as, body })).status);
        }
        expect(got).to.deep.equal(statuses);
      });
    }
  }

  it("an unknown collection is 404 always, for guests and bypassing keys too", async () => {
    for (const token of tokens.values()) {
      for (const [method, path] of [["GET", "/api/collections/nosuch"], ["GET", "/api/collections/nosuch/x"], ["DELETE", "/api/collections/nosuch/x"]] as const) {
        const answer = await on.request(method, path, { token, tenant: tenant.slug });
        expect([answer.status, answer.text]).to.deep.equal([404, '{"error":"Not found"}']);
      }
    }
  });

  it("view of a hidden record is answered as of one that does not exist", async () => {
    const { body } = await on.meta("POST", `/api/collections/own?tenant=${tenant.slug}`, { owner: alice.id });
    const hidden = await on.request("GET", `/api/collections/own/${body.id}`, { token: tokens.get("carol") });
    const missing = await on.request("GET", "/api/collections/own/01890000-0000-7000-8000-000000000000", { token: tokens.get("carol") });
    expect([hidden.status, hidden.text]).to.deep.equal([missing.status, missing.text]);
  });

  it("a record that may be seen but not changed: 403, for a guest 401", async () => {
    await on.createCollection(tenant, { name: "posts", fields: [{ name: "owner", type: "TEXT" }, { name: "open", type: "BOOLEAN" }], viewRule: "true", listRule: "true", updateRule: "owner = @auth.id || open", deleteRule: "owner = @auth.id || open" });
    const { body } = await on.meta("POST", `/api/collections/posts?tenant=${tenant.slug}`, { owner: alice.id, open: false });
    for (const method of ["PATCH", "DELETE"]) {
      const change = method === "PATCH" ? { body: { open: true } } : {};
      expect((await on.request(method, `/api/collections/posts/${body.id}`, { token: tokens.get("carol"), ...change })).status).to.equal(403);
      expect((await on.request(method, `/api/collections/posts/${body.id}`, { tenant: tenant.slug, ...change })).status).to.equal(401);
    }
  });

  it("142 the preset Own records forbids giving a record away; without the @changed part it is allowed", async () => {
    for (const [name, updateRule, status] of [["kept", "owner = @auth.id && !@changed.owner", 403], ["given", "owner = @auth.id", 200]] as const) {
      await on.createCollection(tenant, { name, fields: [{ name: "owner", type: "TEXT" }, { name: "title", type: "TEXT" }], viewRule: "owner = @auth.id", createRule: "owner = @auth.id", updateRule });
      expect((await on.request("POST", `/api/collections/${name}`, { token: alice.token, body: { owner: "someone" } })).status).to.equal(403);
      const { body } = await on.request("POST", `/api/collections/${name}`, { token: alice.token, body: { owner: alice.id } });
      expect((await on.request("PATCH", `/api/collections/${name}/${body.id}`, { token: alice.token, body: { title: "x", owner: alice.id } })).status).to.equal(200);
      expect((await on.request("PATCH", `/api/collections/${name}/${body.id}`, { token: alice.token, body: { owner: "other" } })).status).to.equal(status);
    }
  });

  it("a rule that is no rule is refused with position and reason, and nothing is written", async () => {
    const at = `/api/meta/tenants/${tenant.id}/collections`;
    for (const viewRule of ["nope = 1", "title =", "title = 1", "(", "password = 'x'", 5]) {
      const answer = await on.meta("POST", at, { name: "broken", fields: [{ name: "title", type: "TEXT" }], viewRule });
      expect(answer.status, String(viewRule)).to.equal(400);
      expect(answer.body[0].field).to.equal("viewRule");
      if (typeof viewRule === "string") expect(answer.body[0].message).to.match(/position \d+/);
    }
    expect((await on.meta("GET", `${at}/broken`)).status).to.equal(404);
  });
});
