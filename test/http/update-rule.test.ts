// contract 1, 4 and 11: an update's rule, as far as it looks at the change: decided after hooks and validation, on what would be stored.
import { expect } from "chai";
import { demand, startService, type Answer, type TestService, type TestTenant } from "../support/service.js";

describe("update rules that look at the change", () => {
  let on: TestService;
  let tenant: TestTenant;
  let token: string;
  const at = "/api/collections/drafts";

  before(async () => {
    on = await startService();
    tenant = await on.createTenant("acme");
    await on.createCollection(tenant, {
      name: "drafts", listRule: "true", viewRule: "secret != true", createRule: "true", updateRule: "true",
      fields: [{ name: "due", type: "DATE" }, { name: "n", type: "NUMBER" }, { name: "editor", type: "TEXT" }, { name: "secret", type: "BOOLEAN" }, { name: "meta", type: "JSON" }],
    });
    token = (await on.signUp(tenant, "ann")).token;
  });
  after(() => on.close());

  /** PATCH of a new record under this rule, as ann. */
  async function patched(updateRule: string, stored: object, change: object): Promise<Answer> {
    await demand(200, on.meta("PATCH", `/api/meta/tenants/${tenant.id}/collections/drafts`, { updateRule }));
    const { body } = await demand(201, on.request("POST", at, { tenant: tenant.slug, body: stored }));
    return await on.request("PATCH", `${at}/${body.id}`, { token, body: change });
  }

  it("@changed.x is true where the update changes that field: another spelling of the same value is none", async () => {
    for (const [name, stored, change, status] of [
      ["due", { due: "2026-01-01" }, { due: "2026-01-01T02:00:00+02:00" }, 200],
      ["due", { due: "2026-01-01" }, { due: "2026-01-01T02:00:00Z" }, 403],
      ["meta", { meta: { a: 1, b: 2 } }, { meta: { b: 2, a: 1 } }, 200],
      ["n", { n: 0 }, { n: -0 }, 200],
      ["n", { n: 1 }, { n: 2 }, 403],
    ] as const) expect((await patched(`!@changed.${name}`, stored, change)).status, JSON.stringify(change)).to.equal(status);
  });

  it("validation comes before the whole rule", async () => {
    const answer = await patched("@body.n = 5", {}, { n: "5" });
    expect(answer.status).to.equal(400);
    expect(answer.body).to.deep.equal([{ field: "n", message: "must be a number" }]);
    expect((await patched("@body.n = 5", {}, { n: 4 })).status).to.equal(403);
  });

  it("a before-hook may set what the rule wants", async () => {
    const off = on.service.on("beforeUpdate", { tenant: tenant.slug, collection: "drafts" }, ({ data, context }) => ({ data: { body: { ...(data.body as object), editor: context.auth.id } } }));
    try {
      const answer = await patched("@body.editor = @auth.id", {}, { n: 1 });
      expect(answer.status).to.equal(200);
      expect(answer.body.editor).to.be.a("string");
    } finally {
      off();
    }
    expect((await patched("@body.editor = @auth.id", {}, { n: 1 })).status).to.equal(403);
  });

  it("what is decided without the body reaches no hook", async () => {
    let asked = 0;
    const off = on.service.on("beforeUpdate", { tenant: tenant.slug, collection: "drafts" }, () => void (asked += 1));
    try {
      expect((await patched("n = 1 && @body.n = 2", { n: 3 }, { n: 2 })).status).to.equal(403);
      expect(asked).to.equal(0);
      expect((await patched("n = 1 && @body.n = 2", { n: 1 }, { n: 3 })).status).to.equal(403);
      expect(asked).to.equal(1);
    } finally {
      off();
    }
  });

  it("of a record that the caller may not view, neither hooks nor validation tell anything", async () => {
    let asked = 0;
    const off = on.service.on("beforeUpdate", { tenant: tenant.slug, collection: "drafts" }, () => void (asked += 1));
    try {
      for (const change of [{ n: 4 }, { n: "x" }, { bogus: 1 }]) {
        const hidden = await patched("@body.n = 5", { secret: true }, change);
        expect(hidden.status, JSON.stringify(change)).to.equal(404);
      }
      expect(asked).to.equal(0);
      expect((await patched("@body.n = 5", { secret: true }, { n: 5 })).status).to.equal(200);
    } finally {
      off();
    }
  });
});
