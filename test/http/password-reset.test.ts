import { expect } from "chai";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { SMTPServer } from "smtp-server";
import { cheapHasher, startService, type Answer, type TestService, type TestTenant } from "../support/service.js";
import { openDatabases } from "./scan.js";

const newPassword = "another long password";
const invalid = { error: "Invalid or expired token" };
const on = { passwordReset: { enabled: true, linkUrl: "https://app.test/reset?lang=en#form" } };

/** What a client can tell of an answer: status, body, and the headers but for what differs in every answer. */
function seen({ status, text, headers }: Answer): unknown {
  const { date: _date, "x-request-id": _id, ...rest } = headers;
  return { status, text, headers: rest };
}

/** Waits until the condition holds; the test's own time limit ends it. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe("password reset", () => {
  let tested: TestService;
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await tested.close();
    for (const close of closers.splice(0)) await close();
  });

  const forgot = (tenant: unknown, email: unknown): Promise<Answer> => tested.request("POST", "/api/auth/password/forgot", { body: { tenant, email } });
  const reset = (token: unknown, password: unknown = newPassword): Promise<Answer> => tested.request("POST", "/api/auth/password/reset", { body: { token, password } });
  const settings = (tenant: TestTenant, body: object): Promise<Answer> => tested.meta("PATCH", `/api/meta/tenants/${tenant.id}/settings`, body);
  async function open(options = {}): Promise<TestTenant> {
    tested = await startService(options);
    const tenant = await tested.createTenant("acme");
    expect((await settings(tenant, on)).status).to.equal(200);
    return tenant;
  }
  async function token(email: string): Promise<string> {
    const before = tested.mails.length;
    expect((await forgot("acme", email)).status).to.equal(200);
    await until(() => tested.mails.length > before);
    return new URL(/https:\S+/.exec(tested.mails.at(-1)!.text)![0]).searchParams.get("token")!;
  }

  it("T090: answers 200 with the same answer, whatever tenant, feature, account and address", async () => {
    const tenant = await open();
    await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const off = await tested.createTenant("off");
    await tested.signUp(off, "bob", { email: "bob@example.test" });
    const linkless = await tested.createTenant("linkless");
    await settings(linkless, { passwordReset: { enabled: true, linkUrl: "" } });
    await tested.signUp(linkless, "carol", { email: "carol@example.test" });
    const answers = [
      await forgot("acme", "alice@example.test"), await forgot("acme", "nobody@example.test"), await forgot("acme", "bob@example.test"), await forgot("nowhere", "alice@example.test"),
      await forgot(undefined, "alice@example.test"), await forgot("off", "bob@example.test"), await forgot("linkless", "carol@example.test"), await forgot("acme", "no address"),
      await forgot("acme", { $ne: null }), await forgot("acme", undefined), await forgot({ x: 1 }, ["alice@example.test"]), await forgot("acme", `${"a".repeat(100_000)}@example.test`),
    ];
    for (const answer of answers) expect(seen(answer)).to.deep.equal(seen(answers[0]!));
    expect([answers[0]!.status, answers[0]!.body]).to.deep.equal([200, {}]);
    await until(() => tested.mails.length > 0);
    expect(tested.mails.map(({ to }) => to)).to.deep.equal(["alice@example.test"]);
  });

  it("T092: mails a link with the token in the query, before the fragment", async () => {
    const tenant = await open();
    await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const mailed = await token("alice@example.test");
    expect(mailed).to.match(/^[A-Za-z0-9_-]{86}$/);
    expect(tested.mails[0]!.text).to.include(`https://app.test/reset?lang=en&token=${mailed}#form`);
  });

  it("T099: ends every token issued before, and signs in with the new password only", async () => {
    const tenant = await open();
    const alice = await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const mailed = await token("alice@example.test");
    const done = await reset(mailed);
    expect([done.status, done.text]).to.deep.equal([204, ""]);
    expect((await tested.request("GET", "/api/auth/me", { token: alice.token })).status).to.equal(401);
    expect((await tested.request("POST", "/api/auth/refresh", { body: { refreshToken: alice.refreshToken } })).status).to.equal(401);
    expect((await tested.login(tenant, "alice")).status).to.equal(401);
    expect((await tested.login(tenant, "alice", newPassword)).status).to.equal(200);
    const again = await reset(mailed);
    expect([again.status, again.body]).to.deep.equal([400, invalid]);
  });

  it("T093: answers a bad, used, expired, replaced or foreign token and a feature that is off with one error", async () => {
    const tenant = await open();
    const other = await tested.createTenant("other");
    await settings(other, on);
    const alice = await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const answers = [await reset(undefined), await reset(""), await reset({}), await reset("x".repeat(86))];
    const older = await token("alice@example.test");
    const used = await token("alice@example.test");
    answers.push(await reset(older));
    expect((await reset(used)).status).to.equal(204);
    answers.push(await reset(used));
    const changed = await token("alice@example.test");
    await tested.meta("PATCH", `/api/meta/tenants/${tenant.id}/users/${alice.id}`, { email: "new@example.test" });
    answers.push(await reset(changed));
    const switched = await token("new@example.test");
    expect((await settings(tenant, { passwordReset: { enabled: false } })).status).to.equal(200);
    answers.push(await reset(switched));
    expect((await settings(tenant, { passwordReset: { enabled: true } })).status).to.equal(200);
    const expired = await token("new@example.test");
    tested.clock.advance(30 * 60_000);
    answers.push(await reset(expired));
    for (const answer of answers) expect(seen(answer)).to.deep.equal(seen(answers[0]!));
    expect([answers[0]!.status, answers[0]!.body]).to.deep.equal([400, invalid]);
  });

  it("T049: refuses 15 characters at the field, counted as code points, and leaves the token usable", async () => {
    const tenant = await open();
    await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const mailed = await token("alice@example.test");
    for (const short of ["fifteen chars..", "😀".repeat(15), "", undefined, null, 7, "x".repeat(1025)]) {
      const answer = await tested.request("POST", "/api/auth/password/reset", { body: { token: mailed, password: short } });
      expect([answer.status, answer.body[0].field]).to.deep.equal([400, "password"]);
    }
    expect((await reset(mailed, "😀".repeat(16))).status).to.equal(204);
  });

  it("answers 429 while no hashing slot is free, and leaves the token usable", async () => {
    let gate = Promise.resolve();
    let release = (): void => undefined;
    let entered = (): void => undefined;
    const slow = { ...cheapHasher, hash: async (password: string) => { entered(); await gate; return cheapHasher.hash(password); } };
    const tenant = await open({ hasher: slow, authentication: { hashing: { concurrency: 1, timeout: 20 } } });
    await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    await tested.signUp(tenant, "bob", { email: "bob@example.test" });
    const [first, second] = [await token("alice@example.test"), await token("bob@example.test")];
    gate = new Promise((resolve) => { release = resolve; });
    const hashing = new Promise<void>((resolve) => { entered = resolve; });
    const holding = reset(first);
    await hashing;
    const busy = await reset(second);
    expect([busy.status, busy.body, busy.headers["retry-after"]]).to.deep.equal([429, { error: "Too many requests" }, "1"]);
    release();
    expect((await holding).status).to.equal(204);
    expect((await reset(second)).status).to.equal(204);
  });

  it("T103: stores and logs no token, and shows none in an answer", async () => {
    const tenant = await open();
    const alice = await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const mailed = await token("alice@example.test");
    const answers = [
      await tested.meta("GET", `/api/meta/tenants/${tenant.id}/request-log`), await tested.meta("GET", `/api/meta/tenants/${tenant.id}/users/${alice.id}`),
      await tested.meta("GET", `/api/collections/users/${alice.id}?tenant=acme`), await tested.request("GET", "/api/auth/me", { token: alice.token }),
    ];
    expect((await openDatabases(tested.folder)).toString("latin1")).to.include("alice@example.test").and.not.include(mailed);
    expect(JSON.stringify(tested.logged)).to.not.include(mailed);
    for (const { status, text } of answers) {
      expect(status).to.equal(200);
      expect(text).to.not.include(mailed).and.not.match(/reset(Hash|Expires)|verifyHash|passwordHash/);
    }
  });

  it("runs global hooks without token and password, and none for a key that bypasses hooks", async () => {
    const tenant = await open();
    const alice = await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    const mailed = await token("alice@example.test");
    const { body } = await tested.meta("POST", `/api/meta/tenants/${tenant.id}/api-keys`, { name: "k", userId: alice.id, bypassHooks: true });
    const told: unknown[] = [];
    tested.service.on("beforeRequest", {}, (envelope) => {
      told.push(envelope.data.body);
      return envelope.context.http.path.endsWith("/reset") ? { continue: false, error: { status: 418, message: "no" } } : undefined;
    });
    await forgot("acme", "nobody@example.test");
    expect((await reset(mailed)).status).to.equal(418);
    expect(told).to.deep.equal([{ tenant: "acme", email: "nobody@example.test" }, {}]);
    const spared = await tested.request("POST", "/api/auth/password/reset", { token: body.key, body: { token: mailed, password: newPassword } });
    expect(spared.status).to.equal(204);
    expect(told).to.have.length(2);
  });

  it("delivers through a real SMTP server, with the settings of the option", async () => {
    const sources: string[] = [];
    const sink = new SMTPServer({
      authOptional: true, disabledCommands: ["STARTTLS"],
      onData(stream, _session, callback) {
        let source = "";
        stream.setEncoding("utf8").on("data", (part: string) => { source += part; }).on("end", () => { sources.push(source); callback(); });
      },
    });
    await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => sink.close(() => resolve())));
    const tenant = await open({ mailer: { host: "127.0.0.1", port: (sink.server.address() as AddressInfo).port, from: "service@example.test", fromName: "Records" } });
    await tested.signUp(tenant, "alice", { email: "alice@example.test" });
    await forgot("acme", "alice@example.test");
    await until(() => sources.length > 0);
    expect(sources[0]).to.match(/^From: Records <service@example\.test>/m).and.match(/^To: alice@example\.test/m).and.include("https://app.test/reset");
  });

  it("F15: answers alike where mail is refused or hangs, with at most five attempts at a time", async () => {
    const sockets = new Set<Socket>();
    let most = 0;
    const hanging = createServer((socket) => {
      sockets.add(socket);
      most = Math.max(most, sockets.size);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => hanging.close(() => resolve())));
    const tenant = await open({ mailer: { host: "127.0.0.1", port: (hanging.address() as AddressInfo).port, from: "service@example.test" } });
    for (let number = 0; number < 8; number += 1) await tested.signUp(tenant, `user${number}`, { email: `user${number}@example.test` });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, number) => forgot("acme", `user${number}@example.test`)));
    for (const answer of answers) expect(answer.status).to.equal(200);
    await until(() => sockets.size === 5);
    expect(most).to.equal(5);
    for (const socket of sockets) socket.destroy();
    await until(() => tested.logged.some(({ message }) => message === "a mail could not be sent"));
    for (const round of [1, 2]) {
      await until(() => tested.logged.filter(({ message }) => message === "a mail could not be sent").length >= round);
      for (const socket of sockets) socket.destroy();
    }
    expect(JSON.stringify(tested.logged)).to.not.include("@example.test");
  });
});
