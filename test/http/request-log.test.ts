import { expect } from "chai";
import { startService, testPassword, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

interface Entry {
  readonly id: string;
  readonly requestId: string;
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly hookMs: number;
  readonly caller: { readonly type: string; readonly id: string | null; readonly keyName: string | null };
  readonly rulesBypassed: boolean;
  readonly hooksBypassed: boolean;
  readonly rejection: string | null;
}

describe("request log", () => {
  let tested: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  beforeEach(async () => {
    tested = await startService();
    tenant = await tested.createTenant("acme");
    await tested.createCollection(tenant, { name: "books", fields: [{ name: "title", type: "TEXT" }], listRule: "true", viewRule: "true", createRule: "true" });
    alice = await tested.signUp(tenant, "alice");
  });
  afterEach(() => tested.close());

  const log = (query = ""): Promise<Answer> => tested.meta("GET", `/api/meta/tenants/${tenant.id}/request-log${query}`);
  async function entry(of: Answer): Promise<Entry> {
    const { body } = await log(`?requestId=${String(of.headers["x-request-id"])}`);
    expect(body.items).to.have.length(1);
    return body.items[0] as Entry;
  }
  async function key(more: object = {}): Promise<{ id: string; key: string }> {
    return (await tested.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "importer", userId: alice.id, ...more })).body;
  }
  const list = (token?: string, more: object = {}): Promise<Answer> => tested.request("GET", "/api/collections/books", { token, tenant: "acme", ...more });

  it("tells who did what, how it ended and how long it took", async () => {
    const answer = await list(alice.token, { headers: { "x-request-id": "my-own.id_1" } });
    const found = await entry(answer);
    expect(found).to.have.all.keys("id", "requestId", "time", "method", "path", "status", "durationMs", "hookMs", "caller", "rulesBypassed", "hooksBypassed", "rejection");
    expect(found).to.deep.include({
      requestId: "my-own.id_1", method: "GET", path: "/api/collections/books", status: 200, hookMs: 0,
      caller: { type: "user", id: alice.id, keyName: null }, rulesBypassed: false, hooksBypassed: false, rejection: null,
    });
    expect(found.time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(found.durationMs).to.be.above(0);
    expect((await entry(await list())).caller).to.deep.equal({ type: "guest", id: null, keyName: null });
    const denied = await tested.request("DELETE", "/api/collections/books/none", { tenant: "acme" });
    expect(await entry(denied)).to.include({ method: "DELETE", path: "/api/collections/books/none", status: denied.status });
  });

  it("T251: names the key, what it bypasses, and why one was refused", async () => {
    const plain = await key();
    const strong = await key({ name: "strong", bypassRules: true, bypassHooks: true });
    const bound = await key({ name: "bound", allowedCidrs: ["10.0.0.0/8"] });
    const expiring = await key({ name: "expiring", expiresAt: new Date(tested.clock.now() + 60_000).toISOString() });
    expect(await entry(await list(plain.key))).to.deep.include({ caller: { type: "apiKey", id: plain.id, keyName: "importer" }, rulesBypassed: false, hooksBypassed: false });
    expect(await entry(await list(strong.key))).to.deep.include({ caller: { type: "apiKey", id: strong.id, keyName: "strong" }, rulesBypassed: true, hooksBypassed: true });
    expect(await entry(await list(bound.key))).to.deep.include({ caller: { type: "apiKey", id: bound.id, keyName: "bound" }, status: 401, rejection: "source" });
    await tested.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys/${plain.id}/revoke`);
    expect(await entry(await list(plain.key))).to.deep.include({ caller: { type: "apiKey", id: plain.id, keyName: "importer" }, status: 401, rejection: "revoked" });
    tested.clock.advance(60_000);
    expect(await entry(await list(expiring.key))).to.deep.include({ caller: { type: "apiKey", id: expiring.id, keyName: "expiring" }, status: 401, rejection: "expired" });
    expect((await log(`?keyId=${plain.id}`)).body.items.map(({ rejection }: Entry) => rejection)).to.deep.equal(["revoked", null]);
    expect((await log("?status=401")).body.items).to.have.length(3);
  });

  it("keeps with a tenant what its own credentials asked, though they were refused or tried another tenant", async () => {
    await tested.createTenant("other");
    const plain = await key();
    const elsewhere = [await list(plain.key, { tenant: "other" }), await list(alice.token, { tenant: "nowhere" })];
    for (const answer of elsewhere) expect(answer.status).to.equal(403);
    expect(await entry(elsewhere[0]!)).to.deep.include({ status: 403, caller: { type: "apiKey", id: plain.id, keyName: "importer" }, rejection: null });
    expect(await entry(elsewhere[1]!)).to.deep.include({ status: 403, caller: { type: "user", id: alice.id, keyName: null }, rejection: null });
    const { body } = await tested.login(tenant, "alice");
    await tested.request("POST", "/api/auth/logout", { token: alice.token });
    expect(await entry(await list(alice.token))).to.deep.include({ status: 401, caller: { type: "guest", id: null, keyName: null }, rejection: "revoked" });
    tested.clock.advance(901_000);
    const late = await list(body.accessToken);
    // Back, since the superadmin's own token has expired too.
    tested.clock.advance(-901_000);
    expect(await entry(late)).to.include({ status: 401, rejection: "expired" });
  });

  it("a token that outlives its tenant is told by the instance", async () => {
    const brief = await tested.createTenant("brief");
    const bea = await tested.signUp(brief, "bea");
    await tested.meta("DELETE", `/api/meta/tenants/${brief.id}`);
    tested.clock.advance(901_000);
    const answer = await list(bea.token);
    tested.clock.advance(-901_000);
    expect(answer.status).to.equal(401);
    const { body } = await tested.meta("GET", `/api/meta/request-log?requestId=${String(answer.headers["x-request-id"])}`);
    expect(body.items).to.have.length(1);
    expect(tested.logged.filter(({ level }) => level !== "info" && level !== "debug")).to.deep.equal([]);
  });

  it("keeps what has no tenant for the instance", async () => {
    const unknown = await list(`pk_${"x".repeat(43)}`);
    expect(unknown.status).to.equal(401);
    const nowhere = await tested.request("GET", "/api/collections/books", { tenant: "nowhere" });
    const { body } = await tested.meta("GET", "/api/meta/request-log?limit=100");
    const of = (answer: Answer): Entry => (body.items as Entry[]).find(({ requestId }) => requestId === answer.headers["x-request-id"])!;
    expect(of(unknown)).to.deep.include({ status: 401, rejection: "unknown", caller: { type: "guest", id: null, keyName: null } });
    expect(of(nowhere)).to.include({ status: 404, rejection: null });
    expect((await log(`?requestId=${String(unknown.headers["x-request-id"])}`)).body.items).to.deep.equal([]);
  });

  it("T251: escapes what a name or path would smuggle in, and knows no secret, body or query value", async () => {
    const odd = await key({ name: "im\"porter\u001b[31m" }).catch(() => undefined);
    const answers = [
      await list(odd?.key), await tested.request("GET", "/api/collections/a%0d%0ab%1b%5b31m?tenant=acme&filter=title:eq:query-secret"),
      await tested.request("POST", "/api/auth/login", { body: { tenant: "acme", username: "alice", password: testPassword } }),
      await tested.request("POST", "/api/auth/login", { body: { tenant: "acme", username: "alice", password: "wrong-secret-password" } }),
      await tested.request("POST", "/api/collections/books", { token: alice.token, body: { title: "body-secret" } }),
    ];
    for (const { status } of answers) expect(status).to.be.below(500);
    const { text } = await log("?limit=100");
    expect(text).to.not.match(/[\u0000-\u001f]/);
    for (const secret of [testPassword, "wrong-secret-password", "body-secret", "query-secret", alice.token, alice.refreshToken, odd?.key ?? "pk_"]) {
      expect(text).to.not.include(secret);
      expect(JSON.stringify(tested.logged)).to.not.include(secret);
    }
  });

  it("gives the newest first, in pages", async () => {
    for (let number = 0; number < 30; number += 1) await list(undefined, { headers: { "x-request-id": `page-${number}` } });
    const first = (await log("?limit=10")).body;
    const second = (await log(`?limit=10&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...second.items].map(({ requestId }: Entry) => requestId).filter((id) => id.startsWith("page-")).slice(0, 19)).to.deep.equal(Array.from({ length: 19 }, (_, index) => `page-${29 - index}`));
    expect((await log()).body.items).to.have.length(25);
    expect((await log("?limit=1000")).body.items.length).to.be.within(30, 100);
  });

  it("answers a query that cannot be with 400", async () => {
    for (const query of ["?limit=ten", "?status=ok", "?cursor=x", "?limit=1&limit=2", "?limit=1.5"]) expect((await log(query)).status, query).to.equal(400);
    expect((await tested.meta("GET", "/api/meta/tenants/none/request-log")).status).to.equal(404);
    expect((await tested.meta("GET", `/api/meta/tenants/${tenant.id}/hook-log`)).body).to.deep.equal({ items: [], nextCursor: null });
  });

  it("keeps its entries over a restart", async () => {
    const answer = await list();
    const { folder } = tested;
    const second = await startService({ folder });
    try {
      await tested.service.close();
      const { token } = await second.service.createSetupToken();
      await second.request("POST", "/api/admin/setup", { body: { token, username: "root", password: testPassword } });
      const { body } = await second.request("POST", "/api/admin/token", { body: { username: "root", password: testPassword } });
      const found = await second.request("GET", `/api/meta/tenants/${tenant.id}/request-log?requestId=${String(answer.headers["x-request-id"])}`, { token: body.accessToken });
      expect(found.body.items).to.have.length(1);
    } finally {
      await second.close();
    }
  });
});
