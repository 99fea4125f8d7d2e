import { expect } from "chai";
import { startService, type Answer, type TestService, type TestTenant, type TestUser } from "../support/service.js";

const invalid = { error: "Invalid or expired token" };

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe("e-mail verification", () => {
  let tested: TestService;
  let tenant: TestTenant;
  let alice: TestUser;
  beforeEach(async () => {
    tested = await startService();
    tenant = await tested.createTenant("acme");
    await settings({ emailVerification: { enabled: true, linkUrl: "https://app.test/#/verify/{token}" } });
    alice = await tested.signUp(tenant, "alice", { email: "alice@example.test" });
  });
  afterEach(() => tested.close());

  const settings = (body: object): Promise<Answer> => tested.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, body);
  const request = (email: unknown, slug = "acme"): Promise<Answer> => tested.request("POST", "/api/auth/verify/request", { body: { tenant: slug, email } });
  const confirm = (token: unknown): Promise<Answer> => tested.request("POST", "/api/auth/verify/confirm", { body: { token } });
  const isVerified = async (): Promise<unknown> => (await tested.request("GET", "/api/auth/me", { token: alice.token })).body.emailVerified;
  async function token(email = "alice@example.test"): Promise<string> {
    const before = tested.mails.length;
    await request(email);
    await until(() => tested.mails.length > before);
    return /#\/verify\/(\S+)/.exec(tested.mails.at(-1)!.text)![1]!;
  }

  it("T098: answers 200 alike for verified, unverified, unknown and off", async () => {
    const answers = [await request("alice@example.test"), await request("nobody@example.test"), await request("alice@example.test", "nowhere"), await request({})];
    await until(() => tested.mails.length === 1);
    await tested.meta("PATCH", `/api/meta/tenants/${tenant.id}/users/${alice.id}`, { emailVerified: true });
    answers.push(await request("alice@example.test"));
    await settings({ emailVerification: { enabled: false } });
    answers.push(await request("alice@example.test"));
    for (const { status, body } of answers) expect([status, body]).to.deep.equal([200, {}]);
  });

  it("sets emailVerified to true with the token of the mail, once, and leaves the sign-in alone", async () => {
    expect(await isVerified()).to.equal(false);
    const mailed = await token();
    const done = await confirm(mailed);
    expect([done.status, done.text]).to.deep.equal([204, ""]);
    expect(await isVerified()).to.equal(true);
    const again = await confirm(mailed);
    expect([again.status, again.body]).to.deep.equal([400, invalid]);
  });

  it("answers every token that is not good with one error", async () => {
    const answers = [await confirm(undefined), await confirm(""), await confirm(7), await confirm("x".repeat(86))];
    const older = await token();
    const newer = await token();
    answers.push(await confirm(older));
    expect((await settings({ emailVerification: { enabled: false } })).status).to.equal(200);
    answers.push(await confirm(newer));
    expect((await settings({ emailVerification: { enabled: true } })).status).to.equal(200);
    tested.clock.advance(30 * 60_000);
    answers.push(await confirm(newer));
    for (const { status, body } of answers) expect([status, body]).to.deep.equal([400, invalid]);
  });

  it("takes the verification back with the address, and the pending token too", async () => {
    await confirm(await token());
    await tested.meta("PATCH", `/api/meta/tenants/${tenant.id}/users/${alice.id}`, { email: "new@example.test" });
    const user = (await tested.meta("GET", `/api/meta/tenants/${tenant.id}/users/${alice.id}`)).body;
    expect(user).to.include({ email: "new@example.test", emailVerified: false });
    const mailed = await token("new@example.test");
    await tested.meta("PATCH", `/api/meta/tenants/${tenant.id}/users/${alice.id}`, { email: "third@example.test" });
    expect((await confirm(mailed)).status).to.equal(400);
  });

  it("keeps a reset token and a verification token apart", async () => {
    await settings({ passwordReset: { enabled: true, linkUrl: "https://app.test/reset?token={token}" } });
    await tested.request("POST", "/api/auth/password/forgot", { body: { tenant: "acme", email: "alice@example.test" } });
    await until(() => tested.mails.length === 1);
    const reset = /token=(\S+)/.exec(tested.mails[0]!.text)![1];
    const verification = await token();
    expect((await confirm(reset)).status).to.equal(400);
    expect((await tested.request("POST", "/api/auth/password/reset", { body: { token: verification, password: "another long password" } })).status).to.equal(400);
    expect((await confirm(verification)).status).to.equal(204);
  });

  it("opens the login that requires it", async () => {
    await settings({ emailVerification: { requireForLogin: true } });
    const refused = await tested.login(tenant, "alice");
    expect([refused.status, refused.body]).to.deep.equal([403, { error: "Email not verified" }]);
    await confirm(await token());
    expect((await tested.login(tenant, "alice")).status).to.equal(200);
  });
});
