// What a delivery carries: envelope, headers, signature; and what it never carries.
import { createHmac } from "node:crypto";
import { expect } from "chai";
import { standardWebhookHeaders, verifyHookSignature } from "../../../lib/hooks/signature.js";
import type { Call, Caller } from "../../../lib/core/call.js";
import type { HookSubject } from "../../../lib/hooks/hooks.js";
import type { HookEvent } from "../../../lib/hooks/definition.js";
import { json, makeCall, openBench, startReceiver, subjectOf, userCaller, type Bench, type Received, type Receiver } from "./support.js";

const password = "correct horse battery staple";

describe("hook deliveries", () => {
  let bench: Bench;
  let receiver: Receiver;

  before(async () => {
    bench = await openBench();
    receiver = await startReceiver();
    receiver.answer = json({});
    await bench.allow(receiver.host);
  });
  after(async () => {
    await bench.close();
    await receiver.close();
  });
  afterEach(async () => {
    for (const hook of await bench.hooks.manage.list(await bench.context())) await bench.hooks.manage.remove(await bench.context(), hook.id);
  });

  async function send(event: HookEvent, subject: Partial<HookSubject>, options: { caller?: Caller; request?: Partial<Call["request"]> } = {}): Promise<Received> {
    const context = await bench.context();
    const call = makeCall(context, options.caller, options.request);
    if (event === "beforeRequest") await bench.hooks.beforeRequest(context, call, subjectOf(subject));
    else await bench.hooks.before(context, call, event, subjectOf(subject));
    return receiver.received.at(-1)!;
  }

  it("has the headers and the body of the interface, signed over the exact bytes", async () => {
    const { secret } = await bench.add({ event: "beforeCreate", collection: "tasks", url: `${receiver.url}?a=b` });
    const { headers, raw, envelope, method, url } = await send("beforeCreate", { recordId: "0190-1", body: { title: "ä\u2028" } }, { caller: userCaller("u-1", "user") });
    expect(method).to.equal("POST");
    expect(url).to.equal("/hook?a=b");
    expect(headers).to.include({ "content-type": "application/json", "x-service-event": "beforeCreate", "x-service-collection": "tasks", "content-length": String(raw.length) });
    expect(headers["x-service-signature"]).to.equal(`sha256=${createHmac("sha256", secret!).update(raw).digest("hex")}`);
    expect(headers["x-service-delivery-id"]).to.equal(envelope.service.deliveryId);
    expect(headers).not.to.have.any.keys("webhook-id", "webhook-timestamp", "webhook-signature", "authorization");
    expect(headers["accept-encoding"]).to.equal("identity");
    expect(envelope.service).to.include({ version: 1, event: "beforeCreate" });
    expect(new Date(envelope.service.timestamp).toISOString()).to.equal(envelope.service.timestamp);
    expect(envelope.context).to.deep.equal({
      collection: "tasks", recordId: "0190-1", auth: { id: "u-1", role: "user" },
      http: { method: "POST", path: "/api/collections/tasks", headers: { "user-agent": ["test"] } },
    });
    expect(envelope.data).to.deep.equal({ body: { title: "ä\u2028", id: "0190-1" }, record: null });
    expect(envelope.schema).to.equal(null);
  });

  it("gives each delivery its own id", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: receiver.url });
    await bench.add({ event: "beforeCreate", collection: "tasks", url: receiver.url });
    await send("beforeCreate", {});
    await send("beforeCreate", {});
    const ids = receiver.received.slice(-4).map(({ envelope }) => envelope.service.deliveryId);
    expect(new Set(ids).size).to.equal(4);
  });

  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    it(`sends with ${method} as configured, with the body, once`, async () => {
      await bench.add({ event: "beforeCreate", collection: "tasks", url: receiver.url, method });
      const before = receiver.received.length;
      const { raw, method: sent, headers } = await send("beforeCreate", {});
      expect(sent).to.equal(method);
      expect(headers["content-length"]).to.equal(String(raw.length));
      expect(receiver.received.length).to.equal(before + 1);
    });
  }

  const callers: [string, Caller, { id: string | null; role: string | null }][] = [
    ["a guest", { type: "guest" }, { id: null, role: null }],
    ["a user", userCaller("u-2", "editor"), { id: "u-2", role: "editor" }],
    ["an API key", { type: "apiKey", user: { id: "u-3", createdAt: "", updatedAt: "", role: "user" }, keyId: "k", keyName: "k", bypassRules: true, bypassHooks: false, expiresAt: null }, { id: "u-3", role: "user" }],
    ["the superadmin", { type: "superadmin", id: "superadmin" }, { id: null, role: "superadmin" }],
    ["the system", { type: "system" }, { id: null, role: "system" }],
  ];
  for (const [name, caller, auth] of callers) {
    it(`context.auth of ${name}`, async () => {
      await bench.add({ event: "beforeList", collection: "tasks", url: receiver.url });
      expect((await send("beforeList", { body: null, recordId: null }, { caller })).envelope.context.auth).to.deep.equal(auth);
    });
  }

  it("data.body is null for beforeList, beforeView and beforeDelete; data.record is the record as it was", async () => {
    await bench.add({ event: "beforeDelete", collection: "tasks", url: receiver.url });
    const record = { id: "r", createdAt: "c", updatedAt: "u", title: "x" };
    expect((await send("beforeDelete", { body: null, record })).envelope.data).to.deep.equal({ body: null, record });
  });

  it("carries schema.fields only where include schema is on", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: receiver.url, includeSchema: true });
    const { schema } = (await send("beforeCreate", {})).envelope;
    expect((schema?.fields as { name: string }[]).map(({ name }) => name)).to.deep.equal(["title"]);
  });

  it("forwards the fixed set and the hook's own names, and never a credential, even where one was stored past the checks", async () => {
    const all = { "content-type": ["application/json"], "accept": ["*/*"], "accept-language": ["de"], "user-agent": ["ua"], "x-request-id": ["r"], "x-plan": ["a", "b"], "x-other": ["no"], "authorization": ["Bearer leak"], "cookie": ["leak"], "set-cookie": ["leak"], "proxy-authorization": ["leak"] };
    await bench.plant({ url: receiver.url, forwardHeaders: "x-plan,Authorization,cookie, set-cookie ,PROXY-AUTHORIZATION,__proto__" });
    const { envelope, raw } = await send("beforeCreate", {}, { request: { headers: all } });
    expect(envelope.context.http.headers).to.deep.equal({ "content-type": ["application/json"], "user-agent": ["ua"], "accept": ["*/*"], "accept-language": ["de"], "x-request-id": ["r"], "x-plan": ["a", "b"] });
    expect(raw.toString()).not.to.contain("leak");
  });

  it("sends the hook's static headers, which cannot take the place of the service's, even where they were stored past the checks", async () => {
    await bench.plant({ url: receiver.url }, "s", { "Authorization": "Bearer own", "X-Service-Event": "forged", "content-type": "text/plain", "Host": "evil", "Content-Length": "1", "x-bad\r\nname": "x", "x-ok": "v" });
    const { headers, raw } = await send("beforeCreate", {});
    expect(headers).to.include({ "authorization": "Bearer own", "x-service-event": "beforeCreate", "content-type": "application/json", "host": receiver.host, "content-length": String(raw.length), "x-ok": "v" });
  });

  const secrets: [HookEvent, string, Record<string, string>][] = [
    ["beforeLogin", "/api/auth/login", { username: "a", password }],
    ["beforeRefresh", "/api/auth/refresh", { refreshToken: password }],
    ["beforeRegister", "/api/auth/register", { username: "a", password }],
    ["beforeCreate", "/api/collections/users", { username: "a", password }],
    ["beforeUpdate", "/api/collections/users/x", { password, oldPassword: password }],
    ["beforeRequest", "/api/auth/login", { username: "a", password }],
    ["beforeRequest", "/api/auth/refresh", { refreshToken: password }],
    ["beforeRequest", "/api/auth/password/reset", { token: password, password }],
    ["beforeRequest", "/api/auth/verify/confirm", { token: password }],
  ];
  for (const [event, path, body] of secrets) {
    it(`${event} on ${path} carries no secret`, async () => {
      await bench.add(event === "beforeRequest" ? { event, url: receiver.url } : { event, collection: "users", url: receiver.url });
      const record = { id: "r", createdAt: "c", updatedAt: "u", username: "a", passwordHash: password, passwordSalt: password };
      const { raw, envelope } = await send(event, { collection: "users", body, record }, { request: { path } });
      const text = raw.toString();
      for (const form of [password, encodeURIComponent(password), Buffer.from(password).toString("base64"), "passwordHash", "passwordSalt"]) expect(text).not.to.contain(form);
      const shown = envelope.data.body as Record<string, unknown>;
      expect(shown["password"]).to.equal(event === "beforeRegister" ? "***" : undefined);
    });
  }

  it("a field named token or password of another collection is data like any other", async () => {
    await bench.add({ event: "beforeCreate", collection: "tasks", url: receiver.url });
    expect((await send("beforeCreate", { recordId: "i", body: { token: "t", password: "p" } })).envelope.data.body).to.deep.equal({ token: "t", password: "p", id: "i" });
  });

  it("a hook cannot set secrets, role or emailVerified of an account, and the client's own secrets are kept", async () => {
    await bench.add({ event: "beforeRegister", url: receiver.url });
    receiver.answer = json({ data: { body: { username: "b", password: "***", oldPassword: "x", refreshToken: "x", role: "admin", emailVerified: true, plan: "gold" } } });
    const context = await bench.context();
    const outcome = await bench.hooks.before(context, makeCall(context), "beforeRegister", subjectOf({ collection: "users", body: { username: "a", password } }));
    receiver.answer = json({});
    expect(outcome.body).to.deep.equal({ username: "b", plan: "gold", password });
  });

  it("the Test action sends a sample and reports status, latency, signature and body", async () => {
    const made = await bench.add({ event: "afterUpdate", collection: "tasks", url: receiver.url, includeSchema: true, enabled: false });
    receiver.answer = json({ hello: 1 }, 418);
    const result = await bench.hooks.manage.test(await bench.context(), made.id);
    receiver.answer = json({});
    const { raw, headers, envelope } = receiver.received.at(-1)!;
    expect(result).to.include({ status: 418, body: '{"hello":1}', error: null, signature: headers["x-service-signature"] });
    expect(result.latencyMs).to.be.a("number");
    expect(verifyHookSignature(raw, headers["x-service-signature"] as string, made.secret!)).to.equal(true);
    expect(envelope.service.event).to.equal("afterUpdate");
    expect(envelope.schema).not.to.equal(null);
  });

  it("standardWebhooks adds webhook-id, webhook-timestamp and webhook-signature", async () => {
    const own = await openBench({ standardWebhooks: true });
    await own.allow(receiver.host);
    const { secret } = await own.add({ event: "beforeCreate", collection: "tasks", url: receiver.url });
    const context = await own.context();
    await own.hooks.before(context, makeCall(context), "beforeCreate", subjectOf());
    const { headers, raw } = receiver.received.at(-1)!;
    expect(headers["webhook-id"]).to.equal(headers["x-service-delivery-id"]);
    expect(headers["webhook-timestamp"]).to.match(/^\d{10}$/);
    const signed = createHmac("sha256", secret!).update(`${headers["webhook-id"] as string}.${headers["webhook-timestamp"] as string}.`).update(raw).digest("base64");
    expect(headers["webhook-signature"]).to.equal(`v1,${signed}`);
    await own.close();
  });

  it("agrees with the example of the Standard Webhooks specification", () => {
    // The specification's own test vector.
    const headers = standardWebhookHeaders("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330_000, '{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    expect(headers["webhook-signature"]).to.equal("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  });

  it("verifyHookSignature takes the right signature of the right bytes, and nothing else", () => {
    const body = Buffer.from('{"a":1}');
    const header = `sha256=${createHmac("sha256", "secret").update(body).digest("hex")}`;
    expect(verifyHookSignature(body, header, "secret")).to.equal(true);
    expect(verifyHookSignature(body.toString(), header, "secret")).to.equal(true);
    expect(verifyHookSignature(new Uint8Array(body), header, "secret")).to.equal(true);
    const wrong: [string | Buffer, unknown, string][] = [
      [body, header, "other"], ['{"a": 1}', header, "secret"], [body, header.toUpperCase(), "secret"], [body, header.slice(0, -1), "secret"], [body, `${header}0`, "secret"],
      [body, "", "secret"], [body, undefined, "secret"], [body, [header], "secret"], [body, header.replace("sha256=", ""), "secret"], [body, header, ""],
    ];
    for (const [bytes, value, secret] of wrong) expect(verifyHookSignature(bytes, value as string, secret)).to.equal(false);
  });
});
