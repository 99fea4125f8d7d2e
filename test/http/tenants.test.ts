// Contract 2 and 7: what a tenant is, and its management by the superadmin.
import { readdir } from "node:fs/promises";
import { expect } from "chai";
import { demand, startService, type TestService } from "../support/service.js";
import { databaseNames } from "./scan.js";

const at = "/api/meta/tenants";
const unknown = "01890000-0000-7000-8000-000000000000";

describe("tenants", () => {
  let on: TestService;
  before(async () => {
    on = await startService();
  });
  after(() => on.close());

  it("a tenant is id, slug, name, createdAt and updatedAt; POST answers 201", async () => {
    const { body } = await demand(201, on.meta("POST", at, { slug: "acme", name: "Acme & Söhne" }));
    expect(body).to.have.all.keys("id", "slug", "name", "createdAt", "updatedAt");
    expect(body).to.include({ slug: "acme", name: "Acme & Söhne" });
    expect(body.id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(body.createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect((await demand(200, on.meta("GET", `${at}/${body.id}`))).body).to.deep.equal(body);
  });

  it("name is optional", async () => {
    const { body } = await demand(201, on.meta("POST", at, { slug: "nameless" }));
    expect(body.name).to.be.a("string");
    for (const name of ["a\u0000b", "a\nb", "\ud800", "", " ", 5, null]) {
      const refused = await on.meta("POST", at, { slug: "refused", name });
      expect([refused.status, refused.body[0]?.field], JSON.stringify(name)).to.deep.equal([400, "name"]);
    }
  });

  it("the list is { items }", async () => {
    const { body } = await demand(200, on.meta("GET", at));
    expect(body.items.map((tenant: { slug: string }) => tenant.slug)).to.include.members(["acme", "nameless"]);
    expect(body.items[0]).to.have.all.keys("id", "slug", "name", "createdAt", "updatedAt");
  });

  for (const slug of ["a", "0", "a-b", "x".repeat(63), "a--b"]) {
    it(`takes the slug ${slug.slice(0, 10)}`, async () => {
      await demand(201, on.meta("POST", at, { slug }));
    });
  }

  for (const slug of ["", "-a", "a-", "A", "a_b", "a.b", "a b", "ä", "x".repeat(64), "a\n", 5, null, ["a"], undefined]) {
    it(`refuses the slug ${JSON.stringify(slug)?.slice(0, 20) ?? "that is missing"}`, async () => {
      const answer = await on.meta("POST", at, { slug });
      expect(answer.status).to.equal(400);
      expect(answer.body[0].field).to.equal("slug");
    });
  }

  it("a slug is unique: 400 with the array naming the field, on create and on change", async () => {
    const taken = await on.meta("POST", at, { slug: "acme" });
    expect([taken.status, taken.body[0].field]).to.deep.equal([400, "slug"]);
    const other = await on.createTenant("other");
    const renamed = await on.meta("PATCH", `${at}/${other.id}`, { slug: "acme" });
    expect([renamed.status, renamed.body[0].field]).to.deep.equal([400, "slug"]);
    expect((await on.meta("GET", `${at}/${other.id}`)).body.slug).to.equal("other");
  });

  it("of twenty parallel creations of one slug exactly one succeeds", async () => {
    await on.superadminToken();
    const answers = await Promise.all(Array.from({ length: 20 }, () => on.meta("POST", at, { slug: "race" })));
    expect(answers.filter((answer) => answer.status === 201)).to.have.length(1);
    for (const answer of answers.filter((one) => one.status !== 201)) expect([answer.status, answer.body[0].field]).to.deep.equal([400, "slug"]);
    expect((await on.meta("GET", at)).body.items.filter((tenant: { slug: string }) => tenant.slug === "race")).to.have.length(1);
  });

  it("unknown members are refused, and nothing is written", async () => {
    const answer = await on.meta("POST", at, { slug: "extra", nope: 1 });
    expect([answer.status, answer.body[0].field]).to.deep.equal([400, "nope"]);
    expect((await on.meta("GET", at)).body.items.some((tenant: { slug: string }) => tenant.slug === "extra")).to.equal(false);
  });

  it("PATCH changes name and slug; data and tokens stay, the old slug is unknown", async () => {
    const tenant = await on.createTenant("before");
    await on.createCollection(tenant, { name: "notes", fields: [{ name: "title", type: "TEXT" }], listRule: "true", createRule: "true" });
    const user = await on.signUp(tenant, "alice");
    await demand(201, on.request("POST", "/api/collections/notes", { token: user.token, body: { title: "kept" } }));
    const { body } = await demand(200, on.meta("PATCH", `${at}/${tenant.id}`, { slug: "after", name: "After" }));
    expect(body).to.include({ id: tenant.id, slug: "after", name: "After" });
    const list = await demand(200, on.request("GET", "/api/collections/notes", { tenant: "after" }));
    expect(list.body.items.map((item: { title: string }) => item.title)).to.deep.equal(["kept"]);
    await demand(200, on.request("GET", "/api/auth/me", { token: user.token }));
    const gone = await on.request("GET", "/api/collections/notes", { tenant: "before" });
    expect([gone.status, gone.body]).to.deep.equal([404, { error: "Unknown tenant" }]);
  });

  it("a freed slug can be taken again", async () => {
    await on.createTenant("before");
    expect((await on.request("GET", "/api/collections/notes", { tenant: "before" })).status).to.equal(404);
  });

  it("an unknown tenant is 404 for every method and below it", async () => {
    for (const [method, path] of [["GET", ""], ["PATCH", ""], ["DELETE", ""], ["GET", "/settings"], ["GET", "/collections"], ["GET", "/api-keys"], ["GET", "/hooks"]] as const) {
      for (const id of [unknown, "nope", "acme"]) {
        expect((await on.meta(method, `${at}/${id}${path}`, method === "PATCH" ? {} : undefined)).status, `${method} ${id}${path}`).to.equal(404);
      }
    }
  });

  it("DELETE answers 204 and removes everything of the tenant, files too", async () => {
    const tenant = await on.createTenant("doomed");
    await on.createCollection(tenant, { name: "docs", fields: [{ name: "file", type: "FILE" }], listRule: "true", createRule: "true" });
    const user = await on.signUp(tenant, "alice");
    const { body: key } = await demand(201, on.meta("POST", `${at}/${tenant.id}/api-keys`, { name: "machine", userId: user.id }));
    const boundary = "x-boundary";
    await demand(201, on.request("POST", "/api/collections/docs", {
      tenant: "doomed",
      headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
      body: `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="secret.txt"\r\n\r\nof the doomed\r\n--${boundary}--\r\n`,
    }));
    const compact = tenant.id.replaceAll("-", "");
    const named = async () => [...(await readdir(on.folder, { recursive: true })), ...(await databaseNames(on.folder))].filter((name) => name.replaceAll("-", "").includes(compact));
    expect(await named()).not.to.deep.equal([]);
    await demand(204, on.meta("DELETE", `${at}/${tenant.id}`));
    expect((await on.meta("GET", `${at}/${tenant.id}`)).status).to.equal(404);
    expect((await on.meta("DELETE", `${at}/${tenant.id}`)).status).to.equal(404);
    expect((await on.request("GET", "/api/collections/docs", { tenant: "doomed" })).body).to.deep.equal({ error: "Unknown tenant" });
    expect((await on.request("GET", "/api/auth/me", { token: user.token })).status).to.equal(401);
    expect((await on.request("POST", "/api/auth/refresh", { body: { refreshToken: user.refreshToken } })).status).to.equal(401);
    expect((await on.request("GET", "/api/auth/me", { token: key.key })).status).to.equal(401);
    expect(await named()).to.deep.equal([]);
    const again = await on.createTenant("doomed");
    expect(again.id).not.to.equal(tenant.id);
    expect((await on.request("GET", "/api/collections/docs", { tenant: "doomed" })).body).to.deep.equal({ error: "Not found" });
  });

  it("a change that comes while the tenant is being removed is done or 404, at whichever moment", async function () {
    this.timeout(60_000);
    const { tenants } = on.service;
    for (let moment = 0; moment < 20; moment += 1) {
      const { id } = await tenants.create({ slug: `going-${moment}` });
      const removed = tenants.delete(id);
      for (let turn = 0; turn < moment; turn += 1) await Promise.resolve();
      const outcome = await tenants.update(id, { name: "changed" }).then(() => 200, (error: { status?: number }) => error.status);
      expect(outcome, `moment ${moment}`).to.be.oneOf([200, 404]);
      await removed;
    }
  });

  it("tenant users and API keys never reach it: 401 or 403, and nothing changes", async () => {
    const tenant = await on.createTenant("guarded");
    const user = await on.signUp(tenant, "alice", { role: "admin" });
    const { body: key } = await demand(201, on.meta("POST", `${at}/${tenant.id}/api-keys`, { name: "machine", userId: user.id, bypassRules: true, bypassHooks: true }));
    for (const token of [undefined, user.token, key.key as string]) {
      for (const [method, path, body] of [["GET", at], ["POST", at, { slug: "mine" }], ["DELETE", `${at}/${tenant.id}`], ["PATCH", `${at}/${tenant.id}`, { name: "x" }], ["GET", `${at}/${tenant.id}/settings`], ["GET", `${at}/${unknown}`], ["GET", "/api/meta/stats"]] as const) {
        const answer = await on.request(method, path, { token, body });
        expect(answer.status, `${method} ${path}`).to.be.oneOf([401, 403]);
        expect(answer.body).to.have.all.keys("error");
      }
    }
    expect((await on.meta("GET", `${at}/${tenant.id}`)).body.slug).to.equal("guarded");
  });
});
