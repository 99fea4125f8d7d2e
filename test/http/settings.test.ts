// Contract 7: a tenant's settings.
import { expect } from "chai";
import { demand, startService, type TestService, type TestTenant } from "../support/service.js";

const defaults = {
  selfRegistration: false,
  passwordReset: { enabled: false, linkUrl: "" },
  emailVerification: { enabled: false, linkUrl: "", requireForLogin: false },
  tokenIssuers: [], webhookAllowlist: [], guardFileRoutes: false,
};

describe("settings of a tenant", () => {
  let on: TestService;
  let tenant: TestTenant;
  const at = () => `/api/meta/tenants/${tenant.id}/settings`;
  const read = async () => (await demand(200, on.meta("GET", at()))).body;

  before(async () => {
    on = await startService();
  });
  beforeEach(async () => {
    tenant = await on.createTenant();
  });
  after(() => on.close());

  it("everything is off and empty by default", async () => {
    expect(await read()).to.deep.equal(defaults);
  });

  it("PATCH answers the whole, merges nested objects and replaces lists", async () => {
    await demand(200, on.meta("PATCH", at(), { passwordReset: { linkUrl: "https://app.example.org/reset?t={token}" }, webhookAllowlist: ["127.0.0.1:9000", "[::1]:8080"] }));
    const { body } = await demand(200, on.meta("PATCH", at(), { passwordReset: { enabled: true }, webhookAllowlist: ["hooks.example.org:443"], selfRegistration: true }));
    expect(body.passwordReset).to.deep.equal({ enabled: true, linkUrl: "https://app.example.org/reset?t={token}" });
    expect(body.webhookAllowlist).to.deep.equal(["hooks.example.org:443"]);
    expect(body.selfRegistration).to.equal(true);
    expect(body.emailVerification.enabled).to.equal(false);
    expect(await read()).to.deep.equal(body);
  });

  it("an empty change changes nothing", async () => {
    const before = await read();
    expect((await demand(200, on.meta("PATCH", at(), {}))).body).to.deep.equal(before);
  });

  it("a link URL may be taken away again", async () => {
    await demand(200, on.meta("PATCH", at(), { passwordReset: { enabled: true, linkUrl: "https://app.example.org/reset" } }));
    for (const linkUrl of [null, ""]) {
      const { body } = await demand(200, on.meta("PATCH", at(), { passwordReset: { linkUrl } }));
      expect(body.passwordReset).to.deep.equal({ enabled: true, linkUrl: "" });
    }
  });

  const bad: readonly (readonly [string, object])[] = [
    ["selfRegistration", { selfRegistration: "yes" }],
    ["guardFileRoutes", { guardFileRoutes: null }],
    ["passwordReset", { passwordReset: "on" }],
    ["passwordReset.enabled", { passwordReset: { enabled: 1 } }],
    ["passwordReset.linkUrl", { passwordReset: { linkUrl: "no url" } }],
    ["passwordReset.linkUrl", { passwordReset: { linkUrl: "javascript:alert(1)" } }],
    ["emailVerification.linkUrl", { emailVerification: { linkUrl: 5 } }],
    ["emailVerification.nope", { emailVerification: { nope: true } }],
    ["tokenIssuers", { tokenIssuers: "all" }],
    ["tokenIssuers", { tokenIssuers: [5] }],
    ["webhookAllowlist", { webhookAllowlist: ["127.0.0.1"] }],
    ["webhookAllowlist", { webhookAllowlist: ["127.0.0.1:0"] }],
    ["webhookAllowlist", { webhookAllowlist: ["127.0.0.1:65536"] }],
    ["webhookAllowlist", { webhookAllowlist: ["http://127.0.0.1:80"] }],
    ["webhookAllowlist", { webhookAllowlist: ["*:80"] }],
    ["webhookAllowlist", { webhookAllowlist: ["::1:8080"] }],
    ["webhookAllowlist", { webhookAllowlist: ["10.0.0.0/8:80"] }],
    ["webhookAllowlist", { webhookAllowlist: [null] }],
    ["nope", { nope: true }],
  ];
  for (const [field, change] of bad) {
    it(`refuses ${JSON.stringify(change)}, beside a good one too, and writes nothing`, async () => {
      const before = await read();
      const answer = await on.meta("PATCH", at(), { ...(field === "selfRegistration" ? {} : { selfRegistration: true }), ...change });
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.body[0].field, answer.text).to.match(new RegExp(`^${field.replace(".", "\\.")}`));
      expect(answer.body[0].message).to.be.a("string").that.is.not.empty;
      expect(await read()).to.deep.equal(before);
    });
  }

  it("settings are of one tenant only", async () => {
    await demand(200, on.meta("PATCH", at(), { selfRegistration: true }));
    const first = tenant;
    tenant = await on.createTenant();
    expect((await read()).selfRegistration).to.equal(false);
    const register = (slug: string) => on.request("POST", "/api/auth/register", { body: { tenant: slug, username: "anna", password: "correct horse battery" } });
    expect((await register(first.slug)).status).to.equal(201);
    const refused = await register(tenant.slug);
    expect([refused.status, refused.body]).to.deep.equal([403, { error: "Registration is disabled" }]);
  });

  it("require for login has no effect without verification", async () => {
    await on.meta("PATCH", at(), { emailVerification: { requireForLogin: true } });
    await on.signUp(tenant, "anna", { email: "anna@example.org" });
    expect((await on.login(tenant, "anna")).status).to.equal(200);
    await demand(200, on.meta("PATCH", at(), { emailVerification: { enabled: true, requireForLogin: true } }));
    const answer = await on.login(tenant, "anna");
    expect([answer.status, answer.body]).to.deep.equal([403, { error: "Email not verified" }]);
  });
});
