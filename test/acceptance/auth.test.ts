// Acceptance: tenant users' sign-in, registration, password reset, verification and issue-token.
import { expect } from "chai";
import { demand } from "../support/service.js";
import { openStream } from "../support/event-stream.js";
import { eventually, openMailbox, openReceiver, password, startBackend, type Backend, type Mailbox, type Receiver, type Tenant } from "./backend.js";

describe("acceptance: auth", () => {
  let backend: Backend;
  let mailbox: Mailbox;
  let receiver: Receiver;
  let tenant: Tenant;
  let other: Tenant;
  before(async () => {
    [mailbox, receiver] = await Promise.all([openMailbox(), openReceiver()]);
    backend = await startBackend(mailbox.env);
    tenant = await backend.tenant("acme");
    other = await backend.tenant("other");
    await tenant.settings({ webhookAllowlist: [receiver.host] });
  });
  after(async () => {
    await backend.stop();
    await Promise.all([mailbox.close(), receiver.close()]);
  });
  const auth = (path: string, body?: unknown, token?: string) => backend.call("POST", `/api/auth/${path}`, { body, token });
  const me = (token?: string) => backend.call("GET", "/api/auth/me", { token });
  const pairKeys = ["accessToken", "refreshToken", "tokenType", "expiresIn"];

  describe("login", () => {
    it("answers a token pair of four members, Bearer, 900 seconds", async () => {
      const ann = await tenant.account("ann", { email: "ann@example.org" });
      const answer = await tenant.login("ann");
      expect(answer.status).to.equal(200);
      expect(answer.body).to.have.all.keys(pairKeys);
      expect(answer.body.tokenType).to.equal("Bearer");
      expect(answer.body.expiresIn).to.equal(900);
      const [header, payload] = answer.body.accessToken.split(".").slice(0, 2).map((part: string) => JSON.parse(Buffer.from(part, "base64url").toString()));
      expect(header.alg).to.equal("HS256");
      expect(payload.exp - payload.iat).to.equal(900);
      expect(JSON.stringify(payload)).to.contain(ann.id);
    });

    it("wrong in any way gives the same 401", async () => {
      await tenant.account("gone", { active: false }).catch(() => undefined);
      const attempts = [
        { tenant: "acme", username: "ann", password: "a wrong password it is" },
        { tenant: "acme", username: "nobody", password },
        { tenant: "acme", username: "gone", password },
        { tenant: "nowhere", username: "ann", password },
        { tenant: "other", username: "ann", password },
        { username: "ann", password },
      ];
      for (const body of attempts) {
        const answer = await auth("login", body);
        expect([answer.status, answer.body, answer.headers["www-authenticate"]], JSON.stringify(body)).to.deep.equal([401, { error: "Invalid credentials" }, "Bearer"]);
      }
    });

    it("the tenant may come as header or query too", async () => {
      await demand(200, backend.call("POST", "/api/auth/login", { tenant: "acme", body: { username: "ann", password } }));
      await demand(200, backend.call("POST", "/api/auth/login?tenant=acme", { body: { username: "ann", password } }));
    });

    it("no wrong type of a member is a server error", async () => {
      for (const body of [{}, { tenant: "acme" }, { tenant: "acme", username: 1, password }, { tenant: "acme", username: "ann", password: { $ne: "" } }, { tenant: ["acme"], username: "ann", password }, [], "x", null]) {
        const answer = await backend.call("POST", "/api/auth/login", { body: JSON.stringify(body), headers: { "content-type": "application/json" } });
        expect([400, 401], JSON.stringify(body)).to.include(answer.status);
      }
    });

    it("a user name of a prototype's member is nobody", async () => {
      for (const username of ["__proto__", "constructor", "toString"]) expect((await tenant.login(username)).status).to.equal(401);
    });
  });

  describe("me", () => {
    it("is the caller's own record without passwordHash, passwordSalt and role", async () => {
      const answer = await me((await tenant.login("ann")).body.accessToken);
      expect(answer.status).to.equal(200);
      expect(answer.body).to.include({ username: "ann", email: "ann@example.org", emailVerified: false });
      expect(answer.body).to.include.all.keys("id", "createdAt", "updatedAt");
      for (const name of ["passwordHash", "passwordSalt", "role", "password", "oldPassword"]) expect(answer.body).not.to.have.property(name);
    });

    it("needs a bearer token: none, junk, an admin token and a refresh token are 401", async () => {
      const pair = (await tenant.login("ann")).body;
      for (const token of [undefined, "junk", "a.b.c", pair.refreshToken, backend.adminToken]) {
        const answer = await me(token);
        expect(answer.status, token).to.equal(401);
        expect(answer.headers["www-authenticate"]).to.equal("Bearer");
      }
    });

    it("bypasses collection rules", async () => {
      await demand(200, tenant.meta("PATCH", "/collections/users", { viewRule: null }));
      try {
        const { body } = await tenant.login("ann");
        await demand(200, me(body.accessToken));
        const view = await backend.call("GET", `/api/collections/users/${(await me(body.accessToken)).body.id}`, { token: body.accessToken });
        expect(view.status).to.equal(403);
      } finally {
        await demand(200, tenant.meta("PATCH", "/collections/users", { viewRule: "id = @auth.id" }));
      }
    });

    it("a token whose signature, algorithm or payload was changed is 401", async () => {
      const [head, payload, mark] = ((await tenant.login("ann")).body.accessToken as string).split(".") as [string, string, string];
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
      for (const forged of [`${encode({ alg: "none", typ: "JWT" })}.${payload}.`, `${head}.${encode({ ...claims, exp: claims.exp + 1000 })}.${mark}`, `${encode({ alg: "HS512", typ: "JWT" })}.${payload}.${mark}`]) {
        expect((await me(forged)).status).to.equal(401);
      }
    });
  });

  describe("refresh", () => {
    it("answers a new pair, and the spent token is refused", async () => {
      const first = (await tenant.login("ann")).body;
      const second = await demand(200, auth("refresh", { refreshToken: first.refreshToken }));
      expect(second.body).to.have.all.keys(pairKeys);
      expect(second.body.refreshToken).not.to.equal(first.refreshToken);
      await demand(200, me(second.body.accessToken));
      const again = await auth("refresh", { refreshToken: first.refreshToken });
      expect([again.status, again.body]).to.deep.equal([401, { error: "Unauthorized" }]);
      await demand(200, auth("refresh", { refreshToken: second.body.refreshToken }));
    });

    it("anything wrong: 401 Unauthorized", async () => {
      const pair = (await tenant.login("ann")).body;
      for (const body of [{}, { refreshToken: "" }, { refreshToken: 1 }, { refreshToken: "junk" }, { refreshToken: pair.accessToken }]) {
        const answer = await auth("refresh", body);
        expect([answer.status, answer.body], JSON.stringify(body)).to.deep.equal([401, { error: "Unauthorized" }]);
      }
    });

    it("of two at the same time one wins", async () => {
      const { refreshToken } = (await tenant.login("ann")).body;
      const answers = await Promise.all(Array.from({ length: 5 }, () => auth("refresh", { refreshToken })));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 401, 401, 401, 401]);
    });
  });

  describe("logout", () => {
    it("204, every token of the user ends", async () => {
      const one = (await tenant.login("ann")).body;
      const two = (await tenant.login("ann")).body;
      const answer = await backend.call("POST", "/api/auth/logout", { token: one.accessToken });
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      for (const pair of [one, two]) {
        expect((await me(pair.accessToken)).status).to.equal(401);
        expect((await auth("refresh", { refreshToken: pair.refreshToken })).status).to.equal(401);
      }
    });

    it("scope session ends only the family of the token presented", async () => {
      const one = (await tenant.login("ann")).body;
      const two = (await tenant.login("ann")).body;
      await demand(204, auth("logout", { scope: "session" }, one.accessToken));
      expect((await auth("refresh", { refreshToken: one.refreshToken })).status).to.equal(401);
      expect((await me(two.accessToken)).status).to.equal(200);
      await demand(200, auth("refresh", { refreshToken: two.refreshToken }));
      expect((await me(one.accessToken)).status, "the access token of the family").to.equal(401);
    });

    it("without a credential 401; a scope that does not exist 400", async () => {
      expect((await backend.call("POST", "/api/auth/logout")).status).to.equal(401);
      expect((await auth("logout", { scope: "galaxy" }, (await tenant.login("ann")).body.accessToken)).status).to.equal(400);
    });

    it("closes the user's streams", async () => {
      await tenant.collection({ name: "seen", fields: [{ name: "title", type: "TEXT" }], listRule: "true", viewRule: "true" });
      const { accessToken } = (await tenant.login("ann")).body;
      const stream = await openStream(backend.url);
      expect((await stream.subscribe(`Bearer ${accessToken}`, ["seen"])).status).to.equal(200);
      await demand(204, backend.call("POST", "/api/auth/logout", { token: accessToken }));
      await stream.ended;
    });
  });

  describe("register", () => {
    const body = { tenant: "acme", username: "reg", email: "reg@example.org", password };

    it("is off by default, and an unknown tenant looks the same", async () => {
      for (const slug of ["acme", "nowhere"]) {
        const answer = await auth("register", { ...body, tenant: slug });
        expect([answer.status, answer.body]).to.deep.equal([403, { error: "Registration is disabled" }]);
      }
    });

    it("where enabled: 201 with the record as GET by id gives it, whatever the create rule says", async () => {
      await tenant.settings({ selfRegistration: true });
      const answer = await demand(201, auth("register", { ...body, role: "admin", emailVerified: true }));
      const { accessToken } = (await tenant.login("reg")).body;
      expect(answer.body).to.deep.equal((await backend.call("GET", `/api/collections/users/${answer.body.id}`, { token: accessToken })).body);
      expect(answer.body).to.include({ username: "reg", role: "user", emailVerified: false });
      expect(answer.text).not.to.match(/passwordHash|passwordSalt|"password"/);
    });

    it("a taken user name, a short password, a bad address, a missing member: the array names the field", async () => {
      const cases: [object, string][] = [
        [body, "username"],
        [{ ...body, username: "r2", password: "fifteen letters" }, "password"],
        [{ ...body, username: "r2", email: "no address" }, "email"],
        [{ tenant: "acme", email: "r2@example.org", password }, "username"],
        [{ tenant: "acme", username: "r2" }, "password"],
        [{ ...body, username: "r2", nonsense: 1 }, "nonsense"],
      ];
      for (const [sent, field] of cases) {
        const answer = await auth("register", sent);
        expect(answer.status, field).to.equal(400);
        expect(answer.body, field).to.be.an("array");
        expect(answer.body.map((entry: { field: string }) => entry.field), JSON.stringify(sent)).to.deep.equal([field]);
        for (const entry of answer.body) expect(entry).to.have.all.keys("field", "message");
      }
    });

    it("fires only the register hooks; the password is redacted; a beforeRegister may rewrite the body", async () => {
      receiver.answer("/before-register", ({ body: sent }) => ({ body: { data: { body: { ...sent.data.body, username: "rewritten" } } } }));
      const hooks = [];
      for (const event of ["beforeRegister", "afterRegister", "beforeCreate", "afterCreate"]) {
        hooks.push(await tenant.hook({ collection: "users", event, url: `${receiver.url}/${event === "beforeRegister" ? "before-register" : event}` }));
      }
      const answer = await demand(201, auth("register", { ...body, username: "original" }));
      expect(answer.body.username).to.equal("rewritten");
      const before = (await receiver.next("/before-register")).body;
      expect(before.data.body).to.include({ username: "original", password: "***" });
      expect(before.context.collection).to.equal("users");
      const after = await receiver.next("/afterRegister");
      expect(after.body.context.recordId).to.equal(answer.body.id);
      expect(after.raw.toString()).not.to.contain(password);
      expect(before.context.auth).to.deep.equal({ id: null, role: null });
      await demand(200, tenant.login("rewritten"));
      expect([...receiver.to("/beforeCreate"), ...receiver.to("/afterCreate")]).to.deep.equal([]);
      for (const { id } of hooks) await demand(204, tenant.meta("DELETE", `/hooks/${id}`));
    });
  });

  describe("login and refresh hooks", () => {
    it("beforeLogin, afterLogin, beforeRefresh, afterRefresh fire without password or tokens", async () => {
      const ann = (await demand(200, me((await tenant.login("ann")).body.accessToken))).body.id;
      const hooks = [];
      for (const event of ["beforeLogin", "afterLogin", "beforeRefresh", "afterRefresh"]) hooks.push(await tenant.hook({ collection: "users", event, url: `${receiver.url}/${event}` }));
      const pair = (await demand(200, tenant.login("ann"))).body;
      const next = (await demand(200, auth("refresh", { refreshToken: pair.refreshToken }))).body;
      for (const event of ["beforeLogin", "afterLogin", "beforeRefresh", "afterRefresh"]) {
        const delivery = await receiver.next(`/${event}`);
        expect(delivery.body.service.event).to.equal(event);
        expect(delivery.body.context.collection).to.equal("users");
        expect(delivery.body.context.recordId, event).to.equal(ann);
        const text = delivery.raw.toString();
        for (const secret of [password, pair.refreshToken, pair.accessToken, next.refreshToken, next.accessToken]) expect(text, event).not.to.contain(secret);
        expect(delivery.body.data.body ?? {}).not.to.have.any.keys("password", "refreshToken");
        if (event.endsWith("Login")) expect(delivery.body.data.body.username).to.equal("ann");
      }
      for (const { id } of hooks) await demand(204, tenant.meta("DELETE", `/hooks/${id}`));
    });

    it("a beforeLogin that rejects stops the login; one with issueTokenFor gives that user's tokens", async () => {
      const bob = await tenant.account("bob");
      const hook = await tenant.hook({ collection: "users", event: "beforeLogin", url: `${receiver.url}/gate` });
      receiver.answer("/gate", { body: { continue: false, error: { status: 423, message: "Not today" } } });
      const refused = await tenant.login("ann");
      expect(refused.status).to.equal(423);
      expect(refused.body).to.deep.equal({ status: 423, message: "Not today" });
      receiver.answer("/gate", { body: { continue: false, issueTokenFor: { userId: bob.id } } });
      const issued = await demand(200, auth("login", { tenant: "acme", username: "sso", password: "whatever it may be" }));
      expect(issued.body).to.have.all.keys(pairKeys);
      expect((await me(issued.body.accessToken)).body.id).to.equal(bob.id);
      receiver.answer("/gate", { body: { continue: false, issueTokenFor: { userId: "nobody" } } });
      expect((await auth("login", { tenant: "acme", username: "sso", password })).status).to.be.within(400, 499);
      await demand(204, tenant.meta("DELETE", `/hooks/${hook.id}`));
    });
  });

  describe("password reset", () => {
    const linked = (text: string, pattern: RegExp) => pattern.exec(text.replaceAll("&amp;", "&"))?.[1];

    it("forgot is 200 {} whether or not tenant, feature or account exist", async () => {
      for (const body of [{ tenant: "acme", email: "ann@example.org" }, { tenant: "nowhere", email: "ann@example.org" }, { tenant: "acme", email: "no@example.org" }, { tenant: "other", email: "x" }, {}]) {
        for (const path of ["password/forgot", "verify/request"]) {
          const answer = await auth(path, body);
          expect([answer.status, answer.body], `${path} ${JSON.stringify(body)}`).to.deep.equal([200, {}]);
        }
      }
      expect(mailbox.mails).to.deep.equal([]);
    });

    it("the mail's link carries the token at {token}; reset answers 204, once, and revokes", async () => {
      await tenant.settings({ passwordReset: { enabled: true, linkUrl: "https://app.example.org/reset/{token}?x=1" } });
      const old = (await tenant.login("ann")).body;
      const stream = await openStream(backend.url);
      await stream.subscribe(`Bearer ${old.accessToken}`, ["seen"]);
      await auth("password/forgot", { tenant: "acme", email: "ann@example.org" });
      const mail = await mailbox.next();
      expect(mail).to.include({ from: "service@example.org", fromName: "The Service", to: "ann@example.org" });
      const token = linked(mail.text, /https:\/\/app\.example\.org\/reset\/([^\s"?]+)\?x=1/)!;
      expect(token).to.be.a("string");

      const short = await auth("password/reset", { token, password: "short" });
      expect(short.status).to.equal(400);
      expect(short.body.map((entry: { field: string }) => entry.field)).to.deep.equal(["password"]);

      const fresh = "another password, longer";
      const done = await auth("password/reset", { token, password: fresh });
      expect([done.status, done.text]).to.deep.equal([204, ""]);
      await stream.ended;
      expect((await me(old.accessToken)).status).to.equal(401);
      expect((await auth("refresh", { refreshToken: old.refreshToken })).status).to.equal(401);
      expect((await tenant.login("ann")).status).to.equal(401);
      await demand(200, tenant.login("ann", fresh));
      expect((await auth("password/reset", { token, password })).body).to.deep.equal({ error: "Invalid or expired token" });
    });

    it("without {token} a query parameter token is appended", async () => {
      await tenant.settings({ passwordReset: { linkUrl: "https://app.example.org/reset?lang=de" } });
      await auth("password/forgot", { tenant: "acme", email: "ann@example.org" });
      const token = linked((await mailbox.next()).text, /https:\/\/app\.example\.org\/reset\?lang=de&token=([^\s"&]+)/)!;
      await demand(204, auth("password/reset", { token, password }));
    });

    it("a bad, used, or feature-disabled token gets one generic error, for reset and verify alike", async () => {
      await auth("password/forgot", { tenant: "acme", email: "ann@example.org" });
      const token = linked((await mailbox.next()).text, /token=([^\s"&]+)/)!;
      await tenant.settings({ passwordReset: { enabled: false } });
      for (const [path, body] of [["password/reset", { token, password }], ["password/reset", { token: "junk", password }], ["password/reset", { password }], ["verify/confirm", { token }], ["verify/confirm", {}], ["verify/confirm", { token: 7 }]] as const) {
        const answer = await auth(path, body);
        expect([answer.status, answer.body], `${path} ${JSON.stringify(body)}`).to.deep.equal([400, { error: "Invalid or expired token" }]);
      }
      await tenant.settings({ passwordReset: { enabled: true } });
    });

    it("a new token replaces the former, and a change of the address ends both kinds", async () => {
      const { id } = (await me((await tenant.login("ann")).body.accessToken)).body;
      const ask = async () => {
        await auth("password/forgot", { tenant: "acme", email: "ann@example.org" });
        return linked((await mailbox.next()).text, /token=([^\s"&]+)/)!;
      };
      const first = await ask();
      const second = await ask();
      expect((await auth("password/reset", { token: first, password })).status).to.equal(400);
      await demand(200, tenant.meta("PATCH", `/users/${id}`, { email: "ann2@example.org" }));
      expect((await auth("password/reset", { token: second, password })).status).to.equal(400);
      await demand(200, tenant.meta("PATCH", `/users/${id}`, { email: "ann@example.org" }));
    });

    it("an address of two accounts serves both, one token each", async () => {
      await tenant.account("twin1", { email: "twin@example.org" });
      await tenant.account("twin2", { email: "twin@example.org" });
      await auth("password/forgot", { tenant: "acme", email: "twin@example.org" });
      const mails = [await mailbox.next(), await mailbox.next()];
      const tokens = mails.map(({ text }) => linked(text, /token=([^\s"&]+)/)!);
      expect(new Set(tokens).size).to.equal(2);
      for (const token of tokens) await demand(204, auth("password/reset", { token, password }));
    });
  });

  describe("email verification", () => {
    it("confirm sets emailVerified; a later change of the address clears it", async () => {
      await tenant.settings({ emailVerification: { enabled: true, linkUrl: "https://app.example.org/verify" } });
      await auth("verify/request", { tenant: "acme", email: "ann@example.org" });
      const token = /verify\?token=([^\s"&]+)/.exec((await mailbox.next()).text)![1];
      const { accessToken } = (await tenant.login("ann")).body;
      const answer = await auth("verify/confirm", { token });
      expect([answer.status, answer.text]).to.deep.equal([204, ""]);
      expect((await me(accessToken)).body.emailVerified).to.equal(true);
      expect((await auth("verify/confirm", { token })).body).to.deep.equal({ error: "Invalid or expired token" });

      const { id } = (await me(accessToken)).body;
      await demand(200, backend.call("PATCH", `/api/collections/users/${id}`, { token: accessToken, body: { email: "ann@example.org" } }));
      expect((await me(accessToken)).body.emailVerified, "the same address is no change").to.equal(true);
      await demand(200, backend.call("PATCH", `/api/collections/users/${id}`, { token: accessToken, body: { email: "new@example.org", oldPassword: password } }));
      const again = (await tenant.login("ann")).body;
      expect((await me(again.accessToken)).body.emailVerified).to.equal(false);
    });

    it("require for login rejects an unverified user, only with the right password, and only while verification is on", async () => {
      await tenant.settings({ emailVerification: { requireForLogin: true } });
      const refused = await tenant.login("ann");
      expect([refused.status, refused.body]).to.deep.equal([403, { error: "Email not verified" }]);
      expect((await tenant.login("ann", "a wrong password it is")).body).to.deep.equal({ error: "Invalid credentials" });
      await tenant.settings({ emailVerification: { enabled: false } });
      await demand(200, tenant.login("ann"));
    });
  });

  describe("issue-token", () => {
    it("both conditions: a tenant user's bearer, on the list", async () => {
      const issuer = await tenant.account("issuer");
      const target = await tenant.account("target");
      const ask = (token: string | undefined, userId: unknown) => auth("issue-token", { userId }, token);
      for (const token of [undefined, "junk", backend.adminToken]) {
        const answer = await ask(token, target.id);
        expect([answer.status, answer.body, answer.headers["www-authenticate"]]).to.deep.equal([401, { error: "Unauthorized" }, "Bearer"]);
      }
      expect([(await ask(issuer.token, target.id)).status, (await ask(issuer.token, target.id)).body]).to.deep.equal([403, { error: "Forbidden" }]);
      await tenant.settings({ tokenIssuers: [issuer.id] });
      expect((await ask(target.token, issuer.id)).status).to.equal(403);

      const hook = await tenant.hook({ collection: "users", event: "afterLogin", url: `${receiver.url}/issued` });
      const pair = (await demand(200, ask(issuer.token, target.id))).body;
      expect(pair).to.have.all.keys(pairKeys);
      expect((await me(pair.accessToken)).body.id).to.equal(target.id);
      expect((await receiver.next("/issued")).body.context.recordId).to.equal(target.id);
      await demand(204, tenant.meta("DELETE", `/hooks/${hook.id}`));
      await demand(200, auth("refresh", { refreshToken: pair.refreshToken }));
      await demand(200, ask(issuer.token, issuer.id));

      const key = await tenant.key({ name: "issuing", userId: issuer.id });
      await demand(200, ask(key.key, target.id));

      for (const userId of ["", "   ", undefined, 5, null]) expect((await ask(issuer.token, userId)).status, String(userId)).to.equal(400);
      const foreign = await other.account("foreign");
      const idle = await tenant.account("idle");
      await demand(200, tenant.meta("PATCH", `/users/${idle.id}`, { active: false }));
      for (const userId of ["nobody", foreign.id, idle.id, "0198c0de-0000-7000-8000-000000000000"]) {
        const answer = await ask(issuer.token, userId);
        expect([answer.status, answer.body]).to.deep.equal([404, { error: "User not found" }]);
      }
    });
  });

  describe("the rest", () => {
    it("an inactive user's tokens and keys are refused, as an unknown user's are", async () => {
      const ivy = await tenant.account("ivy", { email: "ivy@example.org" });
      const { key } = await tenant.key({ name: "ivy", userId: ivy.id });
      await demand(200, tenant.meta("PATCH", `/users/${ivy.id}`, { active: false }));
      expect((await me(ivy.token)).status).to.equal(401);
      expect((await me(key)).status).to.equal(401);
      expect((await auth("refresh", { refreshToken: ivy.refreshToken })).status).to.equal(401);
      expect((await tenant.login("ivy")).body).to.deep.equal({ error: "Invalid credentials" });
    });

    it("credential changes: oneself by oldPassword, also by key; a bypassing key and the superadmin without", async () => {
      const cleo = await tenant.account("cleo", { email: "cleo@example.org" });
      const plain = await tenant.key({ name: "plain", userId: cleo.id });
      const bypass = await tenant.key({ name: "bypass", userId: (await tenant.account("robot")).id, bypassRules: true });
      const change = (token: string, body: object) => backend.call("PATCH", `/api/collections/users/${cleo.id}`, { token, body, tenant: "acme" });
      expect((await change(plain.key, { password: "a second password, long" })).status).to.equal(400);
      await demand(200, change(plain.key, { password: "a second password, long", oldPassword: password }));
      await demand(200, change(bypass.key, { password: "a third password, long" }));
      await demand(200, tenant.login("cleo", "a third password, long"));
      await demand(200, change(backend.adminToken, { password, email: "cleo2@example.org" }));
      const again = (await demand(200, tenant.login("cleo"))).body.accessToken;
      const answer = await demand(200, change(again, { role: "admin", emailVerified: true, username: "cleo-2" }));
      expect(answer.body).to.include({ role: "user", emailVerified: false, username: "cleo-2", email: "cleo2@example.org" });
      expect((await change(again, { password: "short", oldPassword: password })).body[0]).to.include({ field: "password" });
      expect((await me(again)).status, "a refused change revokes nothing").to.equal(200);
    });

    it("a tenant named beside a credential must be the credential's", async () => {
      const { accessToken } = (await demand(200, tenant.login("bob"))).body;
      for (const [status, more] of [[200, { tenant: "acme" }], [403, { tenant: "other" }], [403, { tenant: "nowhere" }]] as const) expect((await backend.call("GET", "/api/auth/me", { token: accessToken, ...more })).status).to.equal(status);
    });

    it("a mail that cannot be sent changes no answer", async () => {
      await tenant.settings({ passwordReset: { enabled: true, linkUrl: "" } }).catch(() => tenant.settings({ passwordReset: { enabled: true, linkUrl: null } }));
      const before = mailbox.mails.length;
      expect((await auth("password/forgot", { tenant: "acme", email: "twin@example.org" })).status).to.equal(200);
      await tenant.settings({ passwordReset: { linkUrl: "https://app.example.org/r" } });
      await auth("password/forgot", { tenant: "acme", email: "twin@example.org" });
      await eventually(async () => mailbox.mails.length === before + 2);
    });
  });
});
