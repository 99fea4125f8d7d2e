// Acceptance: the superadmin's setup, sign-in, second factor, cookies and reach.
import { expect } from "chai";
import { Secret, TOTP } from "otpauth";
import { demand, send, type Answer } from "../support/service.js";
import { connect, listening, password, setUp, setupToken, startProcess, superadmin, type Backend, type Tenant } from "./backend.js";

describe("acceptance: superadmin", () => {
  let backend: Backend;
  let url: string;
  let token: string;
  let tenant: Tenant;
  let running: Awaited<ReturnType<typeof startProcess>>;
  before(async () => {
    running = await startProcess();
    url = await running.said(listening);
    token = await running.said(setupToken);
  });
  after(async () => {
    await running.end();
    await running.remove();
  });
  const admin = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => send(`${url}/api/admin${path}`, method, { body, headers });
  /** The cookies set, as a browser would send them again. */
  const jar = (answer: Answer) => (answer.headers["set-cookie"] ?? []).map((line) => line.split(";")[0]!).filter((pair) => pair.split("=")[1] !== "").join("; ");
  const own = (cookie: string) => ({ cookie, origin: url });
  const wrongToken = { status: 400, body: { error: "Invalid or expired token" } };
  const brief = ({ status, body }: Answer) => ({ status, body });

  it("before the setup nobody signs in; /health answers", async () => {
    expect((await admin("POST", "/login", superadmin)).status).to.equal(401);
    expect((await admin("POST", "/token", superadmin)).status).to.equal(401);
    expect(brief(await send(`${url}/health`, "GET"))).to.deep.equal({ status: 200, body: { db: true, status: "ok" } });
  });

  it("setup: a bad token is the generic confirm error, a short password leaves the token unused, once", async () => {
    expect(brief(await admin("POST", "/setup", { token: "junk", ...superadmin }))).to.deep.equal(wrongToken);
    const short = await admin("POST", "/setup", { token, username: "root", password: "fifteen letters" });
    expect(short.status).to.equal(400);
    expect(short.body.map((entry: { field: string }) => entry.field)).to.deep.equal(["password"]);
    await setUp(url, token);
    expect(brief(await admin("POST", "/setup", { token, ...superadmin }))).to.deep.equal(wrongToken);
    backend = await connect(running, url);
    tenant = await backend.tenant("acme");
  });

  it("login: 200 without second factor and a session cookie, HttpOnly and SameSite=Strict", async () => {
    const answer = await admin("POST", "/login", superadmin);
    expect(brief(answer)).to.deep.equal({ status: 200, body: { twoFactorRequired: false } });
    const [line] = answer.headers["set-cookie"]!;
    expect(line).to.match(/HttpOnly/i).and.match(/SameSite=Strict/i).and.match(/Path=\/(;|$)/i);
    expect(line).not.to.contain("root");
    const me = await demand(200, admin("GET", "/me", undefined, { cookie: jar(answer) }));
    expect(me.body.username).to.equal("root");
    expect(me.text).not.to.match(/argon2|hash|secret/i);
  });

  it("wrong in any way: the same 401", async () => {
    for (const body of [{ username: "root", password: "wrong password, long" }, { username: "nobody", password }, { username: "root" }, {}, { username: 1, password: 2 }]) {
      for (const path of ["/login", "/token"]) {
        const answer = await admin("POST", path, body);
        expect([400, 401], `${path} ${JSON.stringify(body)}`).to.include(answer.status);
        if ("password" in body && typeof body.password === "string") expect(brief(answer)).to.deep.equal({ status: 401, body: { error: "Invalid credentials" } });
        expect(answer.headers["set-cookie"]).to.equal(undefined);
      }
    }
  });

  it("token: a bearer for the meta API and the data plane, without rules, on the tenant named", async () => {
    const answer = await demand(200, admin("POST", "/token", superadmin));
    expect(answer.body).to.have.all.keys("accessToken", "tokenType", "expiresIn");
    expect(answer.body.tokenType).to.equal("Bearer");
    await tenant.collection({ name: "closed", fields: [{ name: "title", type: "TEXT" }] });
    const data = (options: object) => send(`${url}/api/collections/closed`, "GET", { token: answer.body.accessToken, ...options });
    await demand(200, data({ tenant: "acme" }));
    expect(brief(await data({}))).to.deep.equal({ status: 404, body: { error: "Unknown tenant" } });
    expect((await data({ tenant: "nowhere" })).status).to.equal(404);
    await demand(201, send(`${url}/api/collections/closed`, "POST", { token: answer.body.accessToken, tenant: "acme", body: { title: "x" } }));
  });

  it("a cookie that changes state needs an Origin of its own site", async () => {
    const cookie = jar(await admin("POST", "/login", superadmin));
    const make = (slug: string, headers: Record<string, string>) => send(`${url}/api/meta/tenants`, "POST", { body: { slug }, headers: { cookie, ...headers } });
    expect((await make("a1", {})).status).to.equal(403);
    expect((await make("a1", { origin: "https://evil.example.org" })).status).to.equal(403);
    expect((await make("a1", { origin: "null" })).status).to.equal(403);
    expect((await make("a1", { "sec-fetch-site": "cross-site" })).status).to.equal(403);
    await demand(201, make("a1", { origin: url }));
    await demand(201, make("a2", { "sec-fetch-site": "same-origin" }));
    await demand(200, send(`${url}/api/meta/tenants`, "GET", { headers: { cookie } }));
    expect((await send(`${url}/api/collections/closed`, "POST", { tenant: "acme", body: { title: "x" }, headers: { cookie, origin: "https://evil.example.org" } })).status).to.equal(403);
  });

  it("a forged or foreign cookie is nobody", async () => {
    const cookie = jar(await admin("POST", "/login", superadmin));
    const [name, value] = cookie.split("=") as [string, string];
    for (const forged of [`${name}=`, `${name}=x`, `${name}=${value.slice(0, -2)}xx`, `${name}=${Buffer.from('{"role":"superadmin"}').toString("base64url")}`]) {
      expect((await admin("GET", "/me", undefined, { cookie: forged })).status, forged).to.equal(401);
    }
  });

  it("logout ends the session", async () => {
    const cookie = jar(await admin("POST", "/login", superadmin));
    await demand(204, admin("POST", "/logout", undefined, own(cookie)));
    expect((await admin("GET", "/me", undefined, { cookie })).status).to.equal(401);
  });

  it("tenant users and guests never reach /api/admin and /api/meta", async () => {
    const ann = await tenant.account("ann", { role: "admin" });
    for (const path of ["/api/admin/me", "/api/meta/tenants", "/api/meta/stats", "/api/meta/request-log", `/api/meta/tenants/${tenant.id}`, `/api/meta/tenants/${tenant.id}/backup`]) {
      expect([401, 403], path).to.include((await send(`${url}${path}`, "GET", { token: ann.token })).status);
      const guest = await send(`${url}${path}`, "GET");
      expect([guest.status, guest.headers["www-authenticate"]], path).to.deep.equal([401, "Bearer"]);
    }
  });

  it("rejected by issue-token and me", async () => {
    expect(brief(await send(`${url}/api/auth/issue-token`, "POST", { token: backend.adminToken, tenant: "acme", body: { userId: "x" } }))).to.deep.equal({ status: 401, body: { error: "Unauthorized" } });
    expect((await send(`${url}/api/auth/me`, "GET", { token: backend.adminToken, tenant: "acme" })).status).to.equal(401);
  });

  it("password: needs the present one, and ends other sessions", async () => {
    const old = jar(await admin("POST", "/login", superadmin));
    const cookie = jar(await admin("POST", "/login", superadmin));
    const change = (body: object) => admin("POST", "/password", body, own(cookie));
    expect((await change({ password: "wrong password, long", newPassword: "another password, long" })).status).to.be.oneOf([400, 401, 403]);
    expect((await change({ password, newPassword: "short" })).status).to.equal(400);
    expect((await change({ password, newPassword: "another password, long" })).status).to.be.oneOf([200, 204]);
    expect((await admin("GET", "/me", undefined, { cookie: old })).status).to.equal(401);
    expect((await admin("POST", "/login", superadmin)).status).to.equal(401);
    const again = jar(await demand(200, admin("POST", "/login", { username: "root", password: "another password, long" })));
    expect((await admin("POST", "/password", { password: "another password, long", newPassword: password }, own(again))).status).to.be.oneOf([200, 204]);
    await demand(200, admin("POST", "/login", superadmin));
  });

  describe("two-factor", () => {
    let cookie: string;
    let codes: string[];
    let totp: TOTP;
    const used = new Set<string>();
    /** A code that was not used yet: one of the windows around now. */
    const fresh = () => {
      for (const offset of [0, 1, -1]) {
        const code = totp.generate({ timestamp: Date.now() + offset * 30_000 });
        if (!used.has(code)) {
          used.add(code);
          return code;
        }
      }
      throw new Error("no code is left in this window");
    };

    it("on: password, then secret, uri and recovery codes, confirmed by a code", async () => {
      cookie = jar(await admin("POST", "/login", superadmin));
      expect((await admin("POST", "/2fa", { password: "wrong password, long" }, own(cookie))).status).to.be.oneOf([400, 401, 403]);
      const { body } = await demand(200, admin("POST", "/2fa", { password }, own(cookie)));
      expect(body).to.have.all.keys("secret", "uri", "recoveryCodes");
      expect(body.uri).to.match(/^otpauth:\/\/totp\//);
      codes = body.recoveryCodes;
      totp = new TOTP({ secret: Secret.fromBase32(body.secret) });
      expect((await demand(200, admin("POST", "/login", superadmin))).body, "not yet confirmed").to.deep.equal({ twoFactorRequired: false });
      cookie = jar(await admin("POST", "/login", superadmin));
      expect((await admin("POST", "/2fa/confirm", { code: "000000" }, own(cookie))).status).to.be.oneOf([400, 401]);
      expect((await admin("POST", "/2fa/confirm", { code: fresh() }, own(cookie))).status).to.be.oneOf([200, 204]);
    });

    it("login gives true and an authentication cookie that alone opens nothing; a code works once", async () => {
      const first = await demand(200, admin("POST", "/login", superadmin));
      expect(first.body).to.deep.equal({ twoFactorRequired: true });
      const half = jar(first);
      expect(half).not.to.equal("");
      expect((await admin("GET", "/me", undefined, { cookie: half })).status).to.equal(401);
      expect((await admin("POST", "/login/2fa", { code: "000000" }, own(half))).status).to.equal(401);
      const code = fresh();
      const done = await demand(200, admin("POST", "/login/2fa", { code }, own(half)));
      await demand(200, admin("GET", "/me", undefined, { cookie: jar(done) }));
      const second = jar(await admin("POST", "/login", superadmin));
      expect((await admin("POST", "/login/2fa", { code }, own(second))).status, "a code works once").to.equal(401);
    });

    it("token likewise; a recovery code is given as code, once", async () => {
      const { body } = await demand(200, admin("POST", "/token", superadmin));
      expect(body).to.have.all.keys("twoFactorRequired", "twoFactorToken");
      expect(body.twoFactorRequired).to.equal(true);
      expect((await send(`${url}/api/meta/tenants`, "GET", { token: body.twoFactorToken })).status).to.equal(401);
      const done = await demand(200, admin("POST", "/token/2fa", { twoFactorToken: body.twoFactorToken, code: codes[0] }));
      expect(done.body).to.have.all.keys("accessToken", "tokenType", "expiresIn");
      await demand(200, send(`${url}/api/meta/tenants`, "GET", { token: done.body.accessToken }));
      const again = (await demand(200, admin("POST", "/token", superadmin))).body.twoFactorToken;
      expect((await admin("POST", "/token/2fa", { twoFactorToken: again, code: codes[0] })).status).to.equal(401);
      expect((await admin("POST", "/token/2fa", { twoFactorToken: "junk", code: codes[1] })).status).to.equal(401);
    });

    it("five wrong codes end the attempt", async () => {
      const { twoFactorToken } = (await demand(200, admin("POST", "/token", superadmin))).body;
      for (let attempt = 0; attempt < 5; attempt += 1) expect((await admin("POST", "/token/2fa", { twoFactorToken, code: "000000" })).status).to.equal(401);
      expect((await admin("POST", "/token/2fa", { twoFactorToken, code: codes[2] })).status).to.equal(401);
    });

    it("off with the password", async () => {
      const half = jar(await demand(200, admin("POST", "/login", superadmin)));
      const session = jar(await demand(200, admin("POST", "/login/2fa", { code: codes[3] }, own(half))));
      expect((await admin("DELETE", "/2fa", { password: "wrong password, long" }, own(session))).status).to.be.oneOf([400, 401, 403]);
      expect((await admin("DELETE", "/2fa", { password }, own(session))).status).to.be.oneOf([200, 204]);
      expect((await demand(200, admin("POST", "/login", superadmin))).body).to.deep.equal({ twoFactorRequired: false });
    });
  });

  it("the pages: /admin/ and /authenticate, not cacheable, strict policy with frame-ancestors 'none'", async () => {
    for (const path of ["/admin/", "/authenticate"]) {
      const page = await send(`${url}${path}`, "GET");
      expect(page.status, path).to.be.oneOf([200, 302, 303]);
      expect(page.headers["content-security-policy"], path).to.contain("frame-ancestors 'none'");
      expect(page.headers["cache-control"], path).to.match(/no-store|no-cache/);
    }
    expect(brief(await send(`${url}/admin/assets/nothing.js`, "GET")).status).to.equal(404);
    expect((await send(`${url}/health`, "GET")).headers["content-security-policy"]).to.contain("frame-ancestors 'none'");
  });
});
