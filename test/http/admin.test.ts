import { expect } from "chai";
import { Secret, TOTP } from "otpauth";
import { startService, testPassword, type Answer, type TestService } from "../support/service.js";

const newPassword = "another long password";
const credentials = { username: "root", password: testPassword };
const ownSite = { "sec-fetch-site": "same-origin" };
const secret = (digit: string): string => digit.repeat(64);
const secrets = { application: secret("1"), token: secret("2"), sessionCookie: secret("3"), authenticationCookie: secret("4"), flashCookie: secret("5") };

/** name=value of each cookie that the answer sets. */
function cookies(answer: Answer): string {
  return (answer.headers["set-cookie"] ?? []).map((line) => line.split(";")[0]!).filter((pair) => !pair.endsWith("=")).join("; ");
}

describe("admin API", () => {
  let tested: TestService;
  afterEach(() => tested.close());

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> => tested.request("POST", path, { body, headers });
  async function signIn(): Promise<string> {
    const answer = await post("/api/admin/login", credentials);
    expect([answer.status, answer.body]).to.deep.equal([200, { twoFactorRequired: false }]);
    return cookies(answer);
  }
  const codeOf = (totp: string): string => new TOTP({ secret: Secret.fromBase32(totp) }).generate({ timestamp: tested.clock.now() });
  async function enrol(): Promise<{ secret: string; recoveryCodes: string[] }> {
    const token = await tested.superadminToken();
    const { body } = await tested.request("POST", "/api/admin/2fa", { token, body: { password: testPassword } });
    expect(body).to.have.all.keys("secret", "uri", "recoveryCodes");
    const { status } = await tested.request("POST", "/api/admin/2fa/confirm", { token, body: { code: codeOf(body.secret) } });
    expect(status).to.equal(204);
    tested.clock.advance(60_000);
    return body;
  }

  it("sets the superadmin up with a token that is logged at start, and works once", async () => {
    tested = await startService();
    const line = tested.logged.map(({ message }) => message).find((message) => message.startsWith("setup token: "));
    const token = line!.slice("setup token: ".length);
    const answer = await post("/api/admin/setup", { token, ...credentials });
    expect([answer.status, answer.body]).to.deep.equal([201, { username: "root", twoFactorEnabled: false }]);
    for (const wrong of [token, "x", undefined]) {
      const again = await post("/api/admin/setup", { token: wrong, ...credentials });
      expect([again.status, again.body]).to.deep.equal([400, { error: "Invalid or expired token" }]);
    }
    expect((await post("/api/admin/setup", { token, username: "root", password: "short" })).body).to.deep.equal([{ field: "password", message: "must have at least 16 characters" }]);
  });

  it("gives a bearer token, with which everything is managed by script", async () => {
    tested = await startService();
    await tested.superadminToken();
    const answer = await post("/api/admin/token", credentials);
    expect(answer.status).to.equal(200);
    expect(answer.headers["cache-control"]).to.equal("no-store");
    expect(answer.body).to.have.all.keys("accessToken", "tokenType", "expiresIn");
    expect(answer.body).to.include({ tokenType: "Bearer", expiresIn: 900 });
    const me = await tested.request("GET", "/api/admin/me", { token: answer.body.accessToken });
    expect(me.body).to.include({ username: "root", twoFactorEnabled: false });
    expect((await tested.request("POST", "/api/meta/tenants", { token: answer.body.accessToken, body: { slug: "acme" } })).status).to.equal(201);
  });

  it("refuses a wrong user name or password with one 401", async () => {
    tested = await startService();
    await tested.superadminToken();
    const answers = [];
    for (const path of ["/api/admin/login", "/api/admin/token"]) {
      for (const body of [{ username: "root", password: "wrong" }, { username: "nobody", password: testPassword }, {}, { username: ["root"], password: testPassword }]) answers.push(await post(path, body));
    }
    for (const { status, body, headers } of answers) {
      expect([status, body, headers["www-authenticate"], headers["set-cookie"]]).to.deep.equal([401, { error: "Invalid credentials" }, "Bearer", undefined]);
    }
  });

  it("without a second factor, login sets the session cookie and no other", async () => {
    tested = await startService();
    await tested.superadminToken();
    const answer = await post("/api/admin/login", credentials);
    expect(answer.headers["set-cookie"]!.map((line) => line.split("=")[0])).to.deep.equal(["records_session"]);
  });

  it("signs a browser in by cookie, and out on the server too", async () => {
    tested = await startService();
    await tested.superadminToken();
    const cookie = await signIn();
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie } })).body.username).to.equal("root");
    expect((await tested.request("GET", "/api/meta/tenants", { headers: { cookie } })).status).to.equal(200);
    const out = await post("/api/admin/logout", undefined, { cookie, ...ownSite });
    expect(out.status).to.equal(204);
    expect(out.headers["set-cookie"]).to.have.length(2);
    for (const line of out.headers["set-cookie"]!) expect(line).to.match(/^records_\w+=; .*Max-Age=0/);
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie } })).status).to.equal(401);
  });

  it("T235: refuses a request that changes state by cookie and is not from its own site", async () => {
    tested = await startService();
    await tested.superadminToken();
    const cookie = await signIn();
    const origin = new URL(tested.url).origin;
    const create = (headers: Record<string, string>, slug: string): Promise<Answer> => post("/api/meta/tenants", { slug }, { cookie, ...headers });
    for (const headers of [{}, { origin: "https://evil.test" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site", origin }, { "sec-fetch-site": "none" }]) {
      expect((await create(headers as Record<string, string>, "evil")).status, JSON.stringify(headers)).to.equal(403);
    }
    for (const path of ["/api/admin/logout", "/api/admin/password", "/api/admin/2fa"]) expect((await post(path, { password: testPassword }, { cookie })).status).to.equal(403);
    expect((await create({ origin }, "by-origin")).status).to.equal(201);
    expect((await create(ownSite, "by-fetch-site")).status).to.equal(201);
    expect((await tested.meta("GET", "/api/meta/tenants")).body.items.map(({ slug }: { slug: string }) => slug)).to.deep.equal(["by-origin", "by-fetch-site"]);
  });

  it("T235: sets Secure, HttpOnly, SameSite=Strict cookies in production, under the mount path", async () => {
    tested = await startService({ mode: "prod", secrets });
    await tested.superadminToken();
    const answer = await post("/api/admin/login", credentials);
    const path = new URL(tested.url).pathname;
    const [line] = answer.headers["set-cookie"]!;
    expect(line).to.match(/^__(Host|Secure)-records_session=[A-Za-z0-9_-]+; /).and.include("; HttpOnly; SameSite=Strict; Secure").and.include(`; Path=${path}; `);
    expect(line!.startsWith("__Host-")).to.equal(path === "/");
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie: cookies(answer) } })).status).to.equal(200);
  });

  it("ends the superadmin's realtime streams where a session ends", async () => {
    tested = await startService();
    const tenant = await tested.createTenant();
    await tested.createCollection(tenant, { name: "books", fields: [{ name: "title", type: "TEXT" }] });
    const cookie = await signIn();
    const stream = await fetch(`${tested.url}/api/realtime`);
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("clientId")) text += (await reader.read()).value ?? "";
    const clientId = /"clientId":"([^"]+)"/.exec(text)![1];
    const answer = await tested.request("POST", "/api/realtime/subscribe", { tenant: tenant.slug, body: { clientId, subscriptions: ["books"] }, headers: { cookie, ...ownSite } });
    expect(answer.status).to.equal(200);
    await post("/api/admin/logout", undefined, { cookie, ...ownSite });
    while (!(await reader.read()).done);
  });

  it("takes no tampered or foreign cookie", async () => {
    tested = await startService();
    await tested.superadminToken();
    const cookie = await signIn();
    const [name, value] = cookie.split("=") as [string, string];
    for (const other of [`${value.slice(0, -3)}AAA`, value.slice(1), "", "x", `${value}.${value}`, encodeURIComponent("{}")]) {
      expect((await tested.request("GET", "/api/admin/me", { headers: { cookie: `${name}=${other}` } })).status).to.equal(401);
    }
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie: `records_attempt=${value}` } })).status).to.equal(401);
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie: `a=b; ${name}=x; ${cookie}` } })).status).to.equal(200);
  });

  it("asks a browser for the code, under a cookie of five minutes", async () => {
    tested = await startService();
    const { secret: totp } = await enrol();
    const first = await post("/api/admin/login", credentials);
    expect(first.body).to.deep.equal({ twoFactorRequired: true });
    expect(first.headers["set-cookie"]).to.have.length(1);
    expect(first.headers["set-cookie"]![0]).to.match(/^records_attempt=/).and.include("Max-Age=300");
    const cookie = cookies(first);
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie } })).status).to.equal(401);
    expect((await post("/api/admin/login/2fa", { code: codeOf(totp) })).status).to.equal(401);
    expect((await post("/api/admin/login/2fa", { code: codeOf(totp) }, { cookie })).status).to.equal(403);
    expect((await post("/api/admin/login/2fa", { code: "000000" }, { cookie, ...ownSite })).body).to.deep.equal({ error: "Invalid credentials" });
    const second = await post("/api/admin/login/2fa", { code: codeOf(totp) }, { cookie, ...ownSite });
    expect(second.headers["set-cookie"]!.map((line) => line.split("=")[0])).to.deep.equal(["records_session", "records_attempt"]);
    expect(second.status).to.equal(200);
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie: cookies(second) } })).body).to.include({ twoFactorEnabled: true, recoveryCodesLeft: 10 });
    expect((await post("/api/admin/login/2fa", { code: codeOf(totp) }, { cookie, ...ownSite })).status).to.equal(401);
  });

  it("asks a script for the code, and takes a recovery code in its place once", async () => {
    tested = await startService();
    const { secret: totp, recoveryCodes } = await enrol();
    const attempt = async (): Promise<string> => {
      const { body } = await post("/api/admin/token", credentials);
      expect(body).to.have.all.keys("twoFactorRequired", "twoFactorToken");
      return body.twoFactorToken;
    };
    const twoFactorToken = await attempt();
    expect((await tested.request("GET", "/api/admin/me", { token: twoFactorToken })).status).to.equal(401);
    const answer = await post("/api/admin/token/2fa", { twoFactorToken, code: codeOf(totp) });
    expect((await tested.request("GET", "/api/admin/me", { token: answer.body.accessToken })).status).to.equal(200);
    expect((await post("/api/admin/token/2fa", { twoFactorToken: await attempt(), code: codeOf(totp) })).status).to.equal(401);
    expect((await post("/api/admin/token/2fa", { twoFactorToken: await attempt(), code: recoveryCodes[0] })).status).to.equal(200);
    expect((await post("/api/admin/token/2fa", { twoFactorToken: await attempt(), code: recoveryCodes[0] })).status).to.equal(401);
    for (const body of [{}, { twoFactorToken: 1, code: 1 }, { twoFactorToken: "x".repeat(1000), code: "000000" }]) expect((await post("/api/admin/token/2fa", body)).status).to.equal(401);
    const token = answer.body.accessToken;
    expect((await tested.request("DELETE", "/api/admin/2fa", { token, body: { password: "wrong" } })).status).to.equal(400);
    expect((await tested.request("DELETE", "/api/admin/2fa", { token, body: { password: testPassword } })).status).to.equal(204);
    expect((await post("/api/admin/token", credentials)).body).to.have.property("accessToken");
  });

  it("changes the password, keeps this browser signed in, and ends every other session and token", async () => {
    tested = await startService();
    const token = await tested.superadminToken();
    const [mine, others] = [await signIn(), await signIn()];
    const wrong = await post("/api/admin/password", { password: "wrong", newPassword }, { cookie: mine, ...ownSite });
    expect([wrong.status, wrong.body[0].field]).to.deep.equal([400, "password"]);
    const answer = await post("/api/admin/password", { password: testPassword, newPassword }, { cookie: mine, ...ownSite });
    expect(answer.status).to.equal(204);
    expect((await tested.request("GET", "/api/admin/me", { headers: { cookie: cookies(answer) } })).status).to.equal(200);
    for (const cookie of [mine, others]) expect((await tested.request("GET", "/api/admin/me", { headers: { cookie } })).status).to.equal(401);
    expect((await tested.request("GET", "/api/admin/me", { token })).status).to.equal(401);
    expect((await post("/api/admin/token", credentials)).status).to.equal(401);
    expect((await post("/api/admin/token", { username: "root", password: newPassword })).status).to.equal(200);
  });

  it("ends every token where a script signs out", async () => {
    tested = await startService();
    const token = await tested.superadminToken();
    expect((await tested.request("POST", "/api/admin/logout", { token })).status).to.equal(204);
    expect((await tested.request("GET", "/api/admin/me", { token })).status).to.equal(401);
  });

  it("T231: is closed to guests, users and API keys", async () => {
    tested = await startService();
    const tenant = await tested.createTenant();
    const alice = await tested.signUp(tenant, "alice");
    const keys = [];
    for (const flags of [{}, { bypassRules: true }, { bypassRules: true, bypassHooks: true }]) {
      keys.push((await tested.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "k", userId: alice.id, ...flags })).body.key as string);
    }
    const routes: [string, string][] = [
      ["GET", "/api/admin/me"], ["POST", "/api/admin/logout"], ["POST", "/api/admin/password"], ["POST", "/api/admin/2fa"], ["POST", "/api/admin/2fa/confirm"], ["DELETE", "/api/admin/2fa"],
      ["GET", "/api/admin/unknown"], ["GET", "/api/meta/request-log"], ["GET", `/api/meta/tenants/${tenant.id}/request-log`], ["GET", `/api/meta/tenants/${tenant.id}/hook-log`],
      ["GET", "/api/meta/tenants"], ["DELETE", `/api/meta/tenants/${tenant.id}`], ["PATCH", `/api/meta/tenants/${tenant.id}/settings`],
    ];
    for (const [method, path] of routes) {
      for (const token of [undefined, alice.token, ...keys, "garbage", "a.b.c"]) {
        const { status } = await tested.request(method, path, { token, ...(method === "GET" ? {} : { body: { password: testPassword, newPassword } }) });
        expect(status, `${method} ${path} ${token?.slice(0, 8)}`).to.be.oneOf([401, 403, 404]);
      }
    }
    expect((await tested.meta("GET", `/api/meta/tenants/${tenant.id}`)).status).to.equal(200);
  });

  it("T234: the superadmin's token is nobody on the tenant's auth routes", async () => {
    tested = await startService();
    const tenant = await tested.createTenant();
    const token = await tested.superadminToken();
    for (const [method, path] of [["POST", "/api/auth/issue-token"], ["GET", "/api/auth/me"], ["POST", "/api/auth/logout"]] as const) {
      const { status, body } = await tested.request(method, path, { token, tenant: tenant.slug, ...(method === "POST" ? { body: { userId: "x" } } : {}) });
      expect([status, body], path).to.deep.equal([401, { error: "Unauthorized" }]);
    }
    for (const path of ["/api/auth/login", "/api/auth/register", "/api/auth/refresh", "/api/auth/password/forgot", "/api/auth/password/reset", "/api/auth/verify/request", "/api/auth/verify/confirm"]) {
      expect((await tested.request("POST", path, { token, tenant: tenant.slug, body: {} })).status, path).to.be.below(500);
    }
    expect((await tested.request("GET", "/api/admin/me", { token })).status).to.equal(200);
  });

  it("answers bad bodies of every route with a status of the contract, and goes on", async () => {
    tested = await startService();
    const token = await tested.superadminToken();
    for (const path of ["setup", "login", "login/2fa", "token", "token/2fa", "password", "2fa", "2fa/confirm"]) {
      for (const [body, type, expected] of [["{", "application/json", 400], ["[]", "application/json", 400], ["x=1", "application/x-www-form-urlencoded", 415], [Buffer.alloc(4 * 1024 * 1024 + 1, 32), "application/json", 413]] as const) {
        const { status } = await tested.request("POST", `/api/admin/${path}`, { token, body, headers: { "content-type": type } });
        expect(status, `${path} ${type}`).to.equal(expected);
      }
      const { status } = await tested.request("POST", `/api/admin/${path}`, { token, body: "{\"__proto__\":{\"password\":\"x\"},\"constructor\":{}}", headers: { "content-type": "application/json" } });
      expect(status, path).to.be.within(400, 499);
    }
    expect((await tested.request("GET", "/api/admin/login")).status).to.equal(405);
    expect((await tested.request("GET", "/api/admin/me", { token })).status).to.equal(200);
  });
});
