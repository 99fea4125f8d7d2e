// Acceptance: API keys, what they may do, where they come from, and how they end.
import { expect } from "chai";
import { openStream } from "../support/event-stream.js";
import { demand } from "../support/service.js";
import { eventually, openReceiver, startBackend, type Account, type Backend, type Receiver, type Tenant } from "./backend.js";

describe("acceptance: API keys", () => {
  let backend: Backend;
  let receiver: Receiver;
  let tenant: Tenant;
  let other: Tenant;
  let bot: Account;
  before(async () => {
    receiver = await openReceiver();
    backend = await startBackend();
    tenant = await backend.tenant("acme");
    other = await backend.tenant("other");
    bot = await tenant.account("bot");
    await tenant.settings({ webhookAllowlist: [receiver.host] });
    const fields = [{ name: "title", type: "TEXT" }, { name: "owner", type: "RELATION", collection: "users" }];
    const own = "owner = @auth.id";
    await tenant.collection({ name: "notes", fields, listRule: own, viewRule: own, createRule: own, updateRule: own, deleteRule: own });
    await tenant.collection({ name: "closed", fields });
    await tenant.collection({ name: "open", fields, listRule: "true", viewRule: "true" });
  });
  after(async () => {
    await backend.stop();
    await receiver.close();
  });
  const keys = () => tenant.meta("GET", "/api-keys");
  const entry = async (id: string) => (await keys()).body.items.find((item: { id: string }) => item.id === id);
  const list = (token: string | undefined, collection = "notes", more: object = {}) => backend.call("GET", `/api/collections/${collection}`, { token, ...more });
  const me = (token: string, more: object = {}) => backend.call("GET", "/api/auth/me", { token, ...more });
  const entryKeys = ["id", "name", "prefix", "userId", "expiresAt", "bypassRules", "bypassHooks", "allowedCidrs", "lastUsedAt", "status", "createdAt", "revokedAt"];

  describe("making one", () => {
    it("201 with the list entry plus the key, shown this once", async () => {
      const made = await tenant.key({ name: "importer", userId: bot.id });
      expect(made).to.have.all.keys([...entryKeys, "key"]);
      expect(made.key).to.match(/^pk_[A-Za-z0-9_-]{43}$/);
      expect(made.prefix).to.equal(made.key.slice(0, 11));
      expect(made).to.deep.include({ name: "importer", userId: bot.id, expiresAt: null, bypassRules: false, bypassHooks: false, allowedCidrs: [], lastUsedAt: null, status: "active", revokedAt: null });
      const listed = await keys();
      expect(listed.body).to.have.all.keys("items");
      expect(await entry(made.id)).to.have.all.keys(entryKeys);
      expect(listed.text).not.to.contain(made.key);
    });

    it("400 for a missing name or user, an unknown user, a foreign user, a past or broken expiry, a bad flag, an unknown member", async () => {
      const foreign = await other.account("foreign");
      const good = { name: "k", userId: bot.id };
      for (const body of [{}, { name: "k" }, { userId: bot.id }, { ...good, name: "" }, { ...good, userId: "nobody" }, { ...good, userId: foreign.id }, { ...good, expiresAt: "soon" }, { ...good, bypassRules: "yes" },
        { ...good, bypassHooks: 1 }, { ...good, allowedCidrs: "10.0.0.0/8" }, { ...good, allowedCidrs: ["example.org"] }, { ...good, key: "pk_mine" }, { ...good, nonsense: 1 }]) {
        const before = (await keys()).body.items.length;
        expect((await tenant.meta("POST", "/api-keys", body)).status, JSON.stringify(body)).to.equal(400);
        expect((await keys()).body.items.length).to.equal(before);
      }
    });
  });

  describe("what it may do", () => {
    it("authenticates as its user with exactly that user's permissions, me and issue-token included", async () => {
      const { key } = await tenant.key({ name: "plain", userId: bot.id });
      expect((await me(key)).body).to.include({ id: bot.id, username: "bot" });
      const made = await demand(201, backend.call("POST", "/api/collections/notes", { token: key, body: { title: "by key", owner: bot.id } }));
      expect((await list(bot.token)).body.items.map((item: { id: string }) => item.id)).to.include(made.body.id);
      expect((await list(key, "closed")).status).to.equal(403);
      expect((await backend.call("POST", "/api/auth/issue-token", { token: key, body: { userId: bot.id } })).status).to.equal(403);
      expect((await list(key, "notes", { headers: { "x-tenant": "other" } })).status, "another tenant named").to.equal(403);
    });

    it("there is no login or refresh for keys, and no superadmin's rights", async () => {
      for (const bypassRules of [false, true]) {
        const { key } = await tenant.key({ name: "mighty", userId: bot.id, bypassRules });
        expect((await backend.call("POST", "/api/auth/refresh", { body: { refreshToken: key } })).status).to.equal(401);
        for (const [method, path] of [["GET", "/api/meta/tenants"], ["GET", "/api/meta/stats"], ["GET", `/api/meta/tenants/${tenant.id}/api-keys`], ["GET", "/api/admin/me"], ["POST", `/api/meta/tenants/${tenant.id}/users`]] as const) {
          expect([401, 403], `${method} ${path}`).to.include((await backend.call(method, path, { token: key })).status);
        }
      }
    });

    it("bypassRules skips the rules, not the unknown collection, the tenant, or the protections of users", async () => {
      const { key } = await tenant.key({ name: "bypass", userId: bot.id, bypassRules: true });
      await demand(200, list(key, "closed"));
      const made = await demand(201, backend.call("POST", "/api/collections/closed", { token: key, body: { title: "x" } }));
      await demand(200, backend.call("PATCH", `/api/collections/closed/${made.body.id}`, { token: key, body: { title: "y" } }));
      await demand(204, backend.call("DELETE", `/api/collections/closed/${made.body.id}`, { token: key }));
      expect((await list(key, "nothing")).status).to.equal(404);
      expect((await list(key, "closed", { headers: { "x-tenant": "other" } })).status).to.equal(403);
      const user = await demand(201, backend.call("POST", "/api/collections/users", { token: key, body: { username: "made", password: "sixteen letters or more", role: "admin", emailVerified: true } }));
      expect(user.body).to.include({ role: "user", emailVerified: false });
      expect(user.text).not.to.match(/passwordHash|passwordSalt/);
      await demand(200, backend.call("PATCH", `/api/collections/users/${user.body.id}`, { token: key, body: { password: "another sixteen letters", role: "admin" } }));
      expect((await tenant.login("made", "another sixteen letters")).status).to.equal(200);
      expect((await backend.call("GET", `/api/collections/users/${user.body.id}`, { token: key })).body.role).to.equal("user");
    });

    it("bypassHooks runs no hook; bypassRules alone runs them; both are marked in the request log", async () => {
      await tenant.hook({ event: "beforeRequest", url: `${receiver.url}/any` });
      await tenant.hook({ collection: "closed", event: "beforeList", url: `${receiver.url}/list` });
      const rules = await tenant.key({ name: "rules", userId: bot.id, bypassRules: true });
      const both = await tenant.key({ name: "both", userId: bot.id, bypassRules: true, bypassHooks: true });
      const hooks = await tenant.key({ name: "hooks", userId: bot.id, bypassHooks: true });
      await demand(200, list(both.key, "closed"));
      await demand(200, me(both.key));
      expect((await list(hooks.key, "closed")).status).to.equal(403);
      expect(receiver.deliveries).to.deep.equal([]);
      await demand(200, list(rules.key, "closed"));
      expect(receiver.deliveries.map(({ path }) => path)).to.deep.equal(["/any", "/list"]);
      for (const hook of (await tenant.meta("GET", "/hooks")).body.items) await demand(204, tenant.meta("DELETE", `/hooks/${hook.id}`));
      for (const [made, flags] of [[rules, [true, false]], [both, [true, true]]] as const) {
        const found = await eventually(async () => {
          const { items } = (await tenant.meta("GET", `/request-log?keyId=${made.id}`)).body;
          return items.find((item: { path: string }) => item.path.startsWith("/api/collections/closed"));
        });
        expect([found.rulesBypassed, found.hooksBypassed]).to.deep.equal(flags);
        expect(found.caller).to.deep.include({ type: "apiKey", keyName: made.name });
      }
    });
  });

  describe("source binding", () => {
    const bind = (id: string, body: unknown) => tenant.meta("PATCH", `/api-keys/${id}`, body);

    it("PATCH answers 204, masks host bits, makes bare addresses /32 and /128, and an empty list lifts it", async () => {
      const { id } = await tenant.key({ name: "bound", userId: bot.id, allowedCidrs: ["10.1.2.3/8"] });
      expect((await entry(id)).allowedCidrs).to.deep.equal(["10.0.0.0/8"]);
      const answer = await bind(id, { allowedCidrs: ["192.168.7.9/24", "203.0.113.5", "2001:DB8::1", "2001:db8:1:2:3::/48", "0.0.0.0/0"] });
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      expect((await entry(id)).allowedCidrs).to.deep.equal(["192.168.7.0/24", "203.0.113.5/32", "2001:db8::1/128", "2001:db8:1::/48", "0.0.0.0/0"]);
      await demand(204, bind(id, { allowedCidrs: [] }));
      expect((await entry(id)).allowedCidrs).to.deep.equal([]);
    });

    it("any other field gives 400 and nothing is written", async () => {
      const { id } = await tenant.key({ name: "fixed", userId: bot.id, allowedCidrs: ["10.0.0.0/8"] });
      const before = await entry(id);
      for (const body of [{ bypassRules: true }, { bypassHooks: true }, { name: "x" }, { userId: bot.id }, { expiresAt: null }, { allowedCidrs: [], name: "fixed" }, { allowedCidrs: ["10.0.0.0/33"] }, { allowedCidrs: ["10.0.0.0/8", "localhost"] },
        { allowedCidrs: ["10.0.0.*"] }, { allowedCidrs: ["10.0.0"] }, { allowedCidrs: ["::/129"] }, { allowedCidrs: ["DE"] }, { allowedCidrs: [""] }, { allowedCidrs: [7] }, { allowedCidrs: null }, { allowedCidrs: "10.0.0.0/8" }, {}, []]) {
        expect((await bind(id, body)).status, JSON.stringify(body)).to.equal(400);
        expect(await entry(id)).to.deep.equal(before);
      }
      expect((await bind("nothing", { allowedCidrs: [] })).status).to.equal(404);
    });

    it("only the peer of the connection counts, never a header", async () => {
      const { id, key } = await tenant.key({ name: "local", userId: bot.id, allowedCidrs: ["127.0.0.2/32"] });
      await demand(200, me(key, { localAddress: "127.0.0.2" }));
      for (const header of ["x-forwarded-for", "x-real-ip", "forwarded"]) {
        const value = header === "forwarded" ? "for=127.0.0.2" : "127.0.0.2";
        expect((await me(key, { headers: { [header]: value } })).status).to.equal(401);
        await demand(200, me(key, { localAddress: "127.0.0.2", headers: { [header]: header === "forwarded" ? "for=10.0.0.1" : "10.0.0.1" } }));
      }
      await demand(204, bind(id, { allowedCidrs: [] }));
      await demand(200, me(key));
    });
  });

  describe("refused", () => {
    it("invalid, expired, revoked and source-rejected look the same; the log says which", async () => {
      const revoked = await tenant.key({ name: "revoked", userId: bot.id });
      await demand(204, tenant.meta("POST", `/api-keys/${revoked.id}/revoke`));
      const source = await tenant.key({ name: "source", userId: bot.id, allowedCidrs: ["10.0.0.0/8"] });
      const expiresAt = new Date(Date.now() + 400).toISOString();
      const expired = await tenant.key({ name: "expired", userId: bot.id, expiresAt });
      expect(expired.expiresAt).to.equal(expiresAt);
      await eventually(async () => (await me(expired.key)).status === 401);
      const unknown = `pk_${"A".repeat(43)}`;
      const shape = ({ status, text, headers }: Awaited<ReturnType<typeof me>>) => {
        const { "x-request-id": _id, date: _date, ...rest } = headers;
        return { status, text, headers: rest };
      };
      for (const path of ["/api/auth/me", "/api/collections/open", "/api/collections/nothing"]) {
        const wanted = shape(await backend.call("GET", path, { token: unknown }));
        expect(wanted.status).to.equal(401);
        expect(wanted.headers["www-authenticate"]).to.equal("Bearer");
        for (const key of [revoked.key, source.key, expired.key, "pk_short", "junk"]) expect(shape(await backend.call("GET", path, { token: key })), path).to.deep.equal(wanted);
      }
      for (const [made, rejection] of [[revoked, "revoked"], [source, "source"], [expired, "expired"]] as const) {
        const found = await eventually(async () => (await tenant.meta("GET", `/request-log?keyId=${made.id}`)).body.items.find((item: { rejection: string | null }) => item.rejection !== null));
        expect(found.rejection).to.equal(rejection);
        expect(found.status).to.equal(401);
      }
    });

    it("the scheme's name is case-insensitive; another scheme or junk is 401, never a guest", async () => {
      const { key } = await tenant.key({ name: "scheme", userId: bot.id });
      await demand(200, backend.call("GET", "/api/collections/open", { headers: { authorization: `bearer ${key}` } }));
      for (const authorization of [`Basic ${Buffer.from("bot:x").toString("base64")}`, "Bearer", "Bearer  ", key]) {
        expect((await backend.call("GET", "/api/collections/open", { tenant: "acme", headers: { authorization } })).status, authorization).to.equal(401);
      }
      await demand(200, backend.call("GET", "/api/collections/open", { tenant: "acme" }));
    });
  });

  describe("states", () => {
    it("revoke: stays in the list as revoked, once and for all; delete: gone", async () => {
      const { id, key } = await tenant.key({ name: "ending", userId: bot.id });
      await demand(200, me(key));
      await demand(204, tenant.meta("POST", `/api-keys/${id}/revoke`));
      const first = await entry(id);
      expect(first.status).to.equal("revoked");
      expect(first.revokedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect((await me(key)).status).to.equal(401);
      expect([204, 400, 404, 409]).to.include((await tenant.meta("POST", `/api-keys/${id}/revoke`)).status);
      expect((await entry(id)).revokedAt).to.equal(first.revokedAt);
      await demand(204, tenant.meta("DELETE", `/api-keys/${id}`));
      expect(await entry(id)).to.equal(undefined);
      expect((await tenant.meta("DELETE", `/api-keys/${id}`)).status).to.equal(404);
      const active = await tenant.key({ name: "active", userId: bot.id });
      await demand(204, tenant.meta("DELETE", `/api-keys/${active.id}`));
      expect((await me(active.key)).status).to.equal(401);
    });

    it("the bound user deleted: revoked, the entry stays", async () => {
      const gone = await tenant.account("gone");
      const { id, key } = await tenant.key({ name: "orphan", userId: gone.id });
      const strong = await tenant.key({ name: "strong", userId: bot.id, bypassRules: true });
      await demand(204, backend.call("DELETE", `/api/collections/users/${gone.id}`, { token: strong.key }));
      expect((await me(key)).status).to.equal(401);
      expect((await entry(id)).status).to.equal("revoked");
      expect((await tenant.login("gone")).status).to.equal(401);
    });

    it("the tenant deleted: removed", async () => {
      const short = await backend.tenant("short");
      const user = await short.account("user");
      const { key } = await short.key({ name: "k", userId: user.id });
      await demand(200, me(key));
      await demand(204, backend.meta("DELETE", `/api/meta/tenants/${short.id}`));
      expect((await me(key)).status).to.equal(401);
      expect((await me(user.token)).status).to.equal(401);
    });

    it("last used is set by use", async () => {
      const { id, key } = await tenant.key({ name: "used", userId: bot.id });
      await me(key);
      const { lastUsedAt } = await eventually(async () => {
        const found = await entry(id);
        return found.lastUsedAt !== null && found;
      });
      await me(key);
      await me(key);
      expect((await entry(id)).lastUsedAt, "at most once a minute").to.equal(lastUsedAt);
    });

    for (const [name, end] of [
      ["revoked", (id: string) => tenant.meta("POST", `/api-keys/${id}/revoke`)],
      ["deleted", (id: string) => tenant.meta("DELETE", `/api-keys/${id}`)],
      ["bound to other ranges", (id: string) => tenant.meta("PATCH", `/api-keys/${id}`, { allowedCidrs: ["10.0.0.0/8"] })],
    ] as const) {
      it(`${name}: its streams close`, async () => {
        const { id, key } = await tenant.key({ name, userId: bot.id });
        const stream = await openStream(backend.url);
        expect((await stream.subscribe(`Bearer ${key}`, ["open"])).status).to.equal(200);
        await demand(204, end(id));
        await stream.ended;
      });
    }

    it("expired: its streams close at expiresAt", async () => {
      const { key } = await tenant.key({ name: "brief", userId: bot.id, expiresAt: new Date(Date.now() + 1500).toISOString() });
      const stream = await openStream(backend.url);
      expect((await stream.subscribe(`Bearer ${key}`, ["open"])).status).to.equal(200);
      await stream.ended;
    });

    it("a user's logout by key revokes the tokens, the key stays", async () => {
      const una = await tenant.account("una");
      const { key } = await tenant.key({ name: "una", userId: una.id });
      await demand(204, backend.call("POST", "/api/auth/logout", { token: key }));
      expect((await me(una.token)).status).to.equal(401);
      await demand(200, me(key));
    });
  });
});
