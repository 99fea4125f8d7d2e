import { expect } from "chai";
import { sha256 } from "../../../lib/core/ids.js";
import type { Row } from "../../../lib/storage/storage.js";
import { always } from "../../../lib/storage/filter.js";
import type { TenantContext } from "../../../lib/tenants/context.js";
import { failure, openWorld, type World } from "../auth/world.js";

describe("API keys", () => {
  let world: World;
  let alice: Row;
  let context: TenantContext;
  beforeEach(async () => {
    world = await openWorld();
    await world.createTenant();
    alice = await world.signUp("alice");
    context = await world.context();
  });
  afterEach(() => world.close());

  const authenticate = (key: string, peer: string | undefined = "127.0.0.1") => world.authenticator.authenticate(`Bearer ${key}`, peer);
  const create = (extra: Record<string, unknown> = {}) => world.apiKeys.create(context, { name: "machine", userId: alice.id, ...extra } as never);

  it("105 the key is told once; stored is only its SHA-256", async () => {
    const { key, ...entry } = await create();
    expect(key).to.match(/^pk_[A-Za-z0-9_-]{43}$/);
    expect(entry).to.deep.equal({
      id: entry.id, name: "machine", prefix: key.slice(0, 11), userId: alice.id, expiresAt: null, bypassRules: false, bypassHooks: false,
      allowedCidrs: [], lastUsedAt: null, status: "active", createdAt: entry.createdAt, revokedAt: null,
    });
    expect(await world.apiKeys.list(context)).to.deep.equal([entry]);
    expect(await world.apiKeys.get(context, entry.id)).to.deep.equal(entry);
    const rows = [...(await context.store.table("api_keys").list({ filter: always, limit: 10 })), ...(await world.storage.system.table("api_key_index").list({ filter: always, limit: 10 }))];
    const stored = JSON.stringify(rows.map(({ text, hidden }) => [text, hidden]));
    expect(stored).to.contain(sha256(key)).and.not.contain(key).and.not.contain(key.slice(11));
  });

  it("a key stands for its user, with its flags", async () => {
    const { key, id } = await create({ bypassHooks: true, expiresAt: "2026-03-01T00:00:00+01:00" });
    const identity = await authenticate(key);
    expect(identity?.context?.tenant.slug).to.equal("acme");
    expect(identity?.caller).to.deep.equal({
      type: "apiKey", user: alice.record, keyId: id, keyName: "machine", bypassRules: false, bypassHooks: true, expiresAt: Date.parse("2026-02-28T23:00:00.000Z"),
    });
  });

  it("creation tells everything wrong at once and writes nothing", async () => {
    const error = await failure(create({ name: " ", userId: "x", expiresAt: "tomorrow", bypassRules: "yes", bypassHooks: 1, allowedCidrs: ["10/8", 5], wild: true }));
    expect((error.body as { field: string }[]).map(({ field }) => field)).to.have.members(["name", "userId", "expiresAt", "bypassRules", "bypassHooks", "allowedCidrs[0]", "allowedCidrs[1]", "wild"]);
    for (const wrong of [{ name: 5 }, { name: "x".repeat(201) }, { allowedCidrs: "10.0.0.0/8" }, { allowedCidrs: Array(257).fill("10.0.0.1") }, { expiresAt: 5 }]) expect(await failure(create(wrong))).to.include({ status: 400 });
    expect(await world.apiKeys.list(context)).to.deep.equal([]);
    expect(await world.storage.system.table("api_key_index").count(always)).to.equal(0);
  });

  it("is bound to a user of this tenant", async () => {
    await world.createTenant("other");
    const bea = await world.signUp("bea", {}, "other");
    for (const userId of [bea.id, "00000000-0000-7000-8000-000000000000"]) {
      expect(await failure(create({ userId }))).to.deep.include({ status: 400, body: [{ field: "userId", message: "names no user of this tenant" }] });
    }
    expect(await world.storage.system.table("api_key_index").count(always)).to.equal(0);
  });

  it("unknown, expired, revoked, deleted and source-rejected keys look the same; the reason is told apart", async () => {
    const expiring = await create({ expiresAt: new Date(world.clock.time + 1000).toISOString() });
    const revoked = await create({ name: "revoked" });
    const bound = await create({ allowedCidrs: ["127.0.0.2"] });
    const deleted = await create();
    await authenticate(expiring.key);
    await authenticate(revoked.key);
    await authenticate(deleted.key);
    world.clock.time += 1000;
    await world.apiKeys.revoke(context, revoked.id);
    await world.apiKeys.revoke(context, revoked.id);
    await world.apiKeys.remove(context, deleted.id);
    for (const [key, reason, name] of [
      [`pk_${"A".repeat(43)}`, "unknown", undefined], [expiring.key, "expired", "machine"], [revoked.key, "revoked", "revoked"], [bound.key, "source", "machine"], [deleted.key, "unknown", undefined],
      [`${revoked.key}x`, "unknown", undefined], [`pk_${"ü".repeat(43)}`, "unknown", undefined],
    ] as const) {
      const error = await failure(authenticate(key));
      expect(error, reason).to.deep.include({ status: 401, body: { error: "Unauthorized" }, headers: { "WWW-Authenticate": "Bearer" }, rejection: reason });
      expect((error as { key?: { name: string } | null }).key?.name).to.equal(name);
    }
    expect((await world.apiKeys.list(context)).map(({ status }) => status)).to.deep.equal(["active", "revoked", "active"]);
    expect(await failure(world.apiKeys.remove(context, deleted.id))).to.include({ status: 404 });
    expect(await world.storage.system.table("api_key_index").find(sha256(deleted.key))).to.equal(undefined);
  });

  it("116 a key with ranges is taken from a peer inside only; an unknown peer is outside", async () => {
    const { key } = await create({ allowedCidrs: ["127.0.0.1/32", "fd00::/8"] });
    for (const peer of ["127.0.0.1", "::ffff:127.0.0.1", "fd12::1"]) expect((await authenticate(key, peer))?.caller.type).to.equal("apiKey");
    for (const peer of ["127.0.0.2", "::1", undefined]) {
      expect(await failure(world.keyAuthenticator.authenticate(key, peer))).to.include({ status: 401, rejection: "source" });
    }
  });

  it("118 to 121 PATCH takes allowedCidrs and nothing else, and writes nothing where it is wrong", async () => {
    const { id, key } = await create();
    const update = (input: unknown) => world.apiKeys.update(context, id, input as never);
    expect((await update({ allowedCidrs: ["10.1.2.3/8", "10.0.0.1", "fd00::1"] })).allowedCidrs).to.deep.equal(["10.0.0.0/8", "10.0.0.1/32", "fd00::1/128"]);
    for (const wrong of [
      {}, { name: "x" }, { userId: alice.id }, { expiresAt: null }, { bypassRules: true }, { bypassHooks: null }, { allowedCidrs: [], name: "x" }, { allowedCidrs: [], bypassRules: null },
      { allowedCidrs: null }, { allowedCidrs: "10.0.0.0/8" }, { allowedCidrs: ["10/8"] }, { allowedCidrs: ["10.0.0.0/8", "nonsense"] }, { allowedCidrs: [["10.0.0.0/8"]] },
    ]) expect(await failure(update(wrong)), JSON.stringify(wrong)).to.include({ status: 400 });
    expect((await world.apiKeys.get(context, id)).allowedCidrs).to.have.length(3);
    expect(await failure(authenticate(key))).to.include({ rejection: "source" });
    await update({ allowedCidrs: [] });
    await authenticate(key);
    expect(await failure(world.apiKeys.update(context, "nobody", { allowedCidrs: [] }))).to.include({ status: 404 });
  });

  it("last use is noted at most once a minute and is no logged change", async () => {
    const { key, id } = await create();
    const { changes } = context.store;
    const head = await changes.head();
    const used = async (): Promise<string | null> => {
      await authenticate(key);
      await world.keyAuthenticator.idle();
      return (await world.apiKeys.get(context, id)).lastUsedAt;
    };
    const first = new Date(world.clock.time).toISOString();
    expect(await used()).to.equal(first);
    world.clock.time += 59_999;
    expect(await used()).to.equal(first);
    world.clock.time += 1;
    expect(await used()).to.equal(new Date(world.clock.time).toISOString());
    expect(await changes.head()).to.equal(head);
    await world.apiKeys.revoke(context, id);
    expect((await changes.since(head, 10))?.map(({ collection, action, recordId }) => [collection, action, recordId])).to.deep.equal([["$api_keys", "update", id]]);
  });

  it("the bound user inactive or gone, the tenant gone: 401", async () => {
    const { key } = await create();
    await authenticate(key);
    await world.patch(alice.id, { setHidden: { active: false } });
    expect(await failure(authenticate(key))).to.include({ status: 401, rejection: "revoked" });
    await world.patch(alice.id, { setHidden: { active: true } });
    await authenticate(key);
    await world.tenants.remove(context.tenant.id);
    expect(await failure(authenticate(key))).to.include({ status: 401, rejection: "unknown" });
    expect(await world.storage.system.table("api_key_index").count(always)).to.equal(0);
  });
});
