// security.md 3.4 over HTTP.
import { expect } from "chai";
import { demand, startService, testPassword, type TestService, type TestTenant, type TestUser } from "../support/service.js";
import { same } from "./same.js";

describe("issue-token over HTTP", () => {
  let service: TestService;
  let acme: TestTenant;
  let alice: TestUser;
  let ivan: TestUser;
  let bea: TestUser;

  before(async () => {
    service = await startService();
    acme = await service.createTenant("acme");
    const other = await service.createTenant("other");
    alice = await service.signUp(acme, "alice");
    ivan = await service.signUp(acme, "ivan");
    bea = await service.signUp(other, "bea");
  });
  after(() => service.close());

  const issuers = (tokenIssuers: string[]) => demand(200, service.meta("PATCH", `/api/meta/tenants/${acme.id}/settings`, { tokenIssuers }));
  const issue = (body: unknown, token: string | undefined) => service.request("POST", "/api/auth/issue-token", { body, token });

  it("060 guest, garbage and superadmin: one 401, with and without a body", async () => {
    const guest = await issue({ userId: alice.id }, undefined);
    expect([guest.status, guest.body, guest.headers["www-authenticate"]]).to.deep.equal([401, { error: "Unauthorized" }, "Bearer"]);
    for (const token of ["garbage", "pk_garbage", await service.superadminToken()]) {
      same(guest, await issue({ userId: alice.id }, token));
      same(guest, await issue({ userId: alice.id, tenant: "acme" }, token));
      same(guest, await service.request("POST", "/api/auth/issue-token", { token }));
    }
  });

  it("061 not an issuer, or nobody is: 403", async () => {
    for (const list of [[], [ivan.id]]) {
      await issuers(list);
      const answer = await issue({ userId: alice.id }, alice.token);
      expect([answer.status, answer.body]).to.deep.equal([403, { error: "Forbidden" }]);
    }
  });

  it("062 a userId that is missing, blank or no text: 400", async () => {
    await issuers([ivan.id]);
    for (const body of [{}, { userId: "" }, { userId: "   " }, { userId: null }, { userId: 5 }, { userId: {} }, { userId: [alice.id] }]) {
      const answer = await issue(body, ivan.token);
      expect([answer.status, answer.body[0].field], JSON.stringify(body)).to.deep.equal([400, "userId"]);
    }
  });

  it("063 unknown, inactive, of another tenant: the same 404", async () => {
    const locked = await service.signUp(acme, "locked");
    await demand(200, service.meta("PATCH", `/api/meta/tenants/${acme.id}/users/${locked.id}`, { active: false }));
    const unknown = await issue({ userId: "nobody" }, ivan.token);
    expect([unknown.status, unknown.body]).to.deep.equal([404, { error: "User not found" }]);
    for (const userId of [locked.id, bea.id, "\u0001", "x".repeat(100_000)]) same(unknown, await issue({ userId }, ivan.token));
  });

  it("064 and 066 an issuer gets tokens of another user and of himself; afterLogin fires once with the target's id", async () => {
    const fired: unknown[] = [];
    const off = [
      service.service.on("afterLogin", { tenant: "acme" }, (envelope) => void fired.push(envelope.context.recordId)),
      service.service.on("beforeLogin", { tenant: "acme" }, () => void fired.push("beforeLogin")),
    ];
    for (const target of [alice, ivan]) {
      fired.length = 0;
      const { body } = await demand(200, issue({ userId: target.id }, ivan.token));
      expect(body).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
      expect((await service.request("GET", "/api/auth/me", { token: body.accessToken })).body.id).to.equal(target.id);
      await demand(200, service.request("POST", "/api/auth/refresh", { body: { refreshToken: body.refreshToken } }));
      expect(fired).to.deep.equal([target.id]);
    }
    off.forEach((end) => end());
  });

  it("065 an issuer's key works, from its own addresses only", async () => {
    const url = `/api/meta/tenants/${acme.id}/api-keys`;
    const { body: key } = await demand(201, service.meta("POST", url, { name: "issuer", userId: ivan.id, allowedCidrs: ["127.0.0.1"] }));
    await demand(200, issue({ userId: alice.id }, key.key));
    const refused = await service.request("POST", "/api/auth/issue-token", { token: key.key, body: { userId: alice.id }, localAddress: "127.0.0.2" });
    same(refused, await issue({ userId: alice.id }, `pk_${"A".repeat(43)}`));
  });

  it("070 a beforeLogin hook names the user; nothing of the hook is in the answer", async () => {
    const off = service.service.on("beforeLogin", { tenant: "acme" }, () => ({ continue: false, issueTokenFor: { userId: alice.id } }));
    const { body } = await demand(200, service.request("POST", "/api/auth/login", { body: { tenant: "acme", username: "who", password: "whatever it may be" } }));
    expect(body).to.have.all.keys("accessToken", "refreshToken", "tokenType", "expiresIn");
    expect((await service.request("GET", "/api/auth/me", { token: body.accessToken })).body.id).to.equal(alice.id);
    off();
    const foreign = service.service.on("beforeLogin", { tenant: "acme" }, () => ({ continue: false, issueTokenFor: { userId: bea.id } }));
    await demand(401, service.request("POST", "/api/auth/login", { body: { tenant: "acme", username: "who", password: testPassword } }));
    foreign();
  });
});
