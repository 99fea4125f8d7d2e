import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { newOneTimeToken } from "../../../lib/auth/one-time/token.js";
import { TooManyRequests } from "../../../lib/core/errors.js";
import { newId } from "../../../lib/core/ids.js";
import { rejection } from "../admin/open-admin.js";
import { openOneTime, type OpenedOneTime } from "./open-one-time.js";

const password = "a password of my own";
const rounds = 200;
const invalid = [400, { error: "Invalid or expired token" }];

describe("password reset and e-mail verification", () => {
  let opened: OpenedOneTime;
  beforeEach(async () => { opened = await openOneTime(); });
  afterEach(() => opened.close());

  async function forgot(email: unknown): Promise<void> {
    await opened.oneTime.forgotPassword(await opened.context(), opened.origin, { email: email as string });
    await opened.oneTime.idle();
  }
  async function requestVerification(email: unknown): Promise<void> {
    await opened.oneTime.requestVerification(await opened.context(), opened.origin, { email: email as string });
    await opened.oneTime.idle();
  }
  const reset = (token: unknown, to: unknown = password): Promise<void> => opened.oneTime.resetPassword(opened.origin, { token: token as string, password: to as string });
  const confirm = (token: unknown): Promise<void> => opened.oneTime.confirmVerification(opened.origin, { token: token as string });
  const failure = async (promise: Promise<void>): Promise<unknown[]> => {
    const { status, body } = await rejection(promise);
    return [status, body];
  };

  it("mails a link that names the tenant and carries a token of at least 128 bit", async () => {
    await opened.addUser({ username: "alice", email: "alice@example.test" });
    await forgot("alice@example.test");
    expect(opened.mails).to.have.length(1);
    const [mail] = opened.mails;
    expect(mail!.to).to.equal("alice@example.test");
    expect(mail!.subject).to.equal("Choose a new password for Acme & Sons");
    expect(mail!.text).to.match(/^https:\/\/app\.test\/reset\?token=[A-Za-z0-9_-]{86}$/m).and.include("\"alice\"").and.include("30 minutes");
    await requestVerification(" alice@example.test ");
    expect(opened.mails[1]!.text).to.match(/^https:\/\/app\.test\/verify\/[A-Za-z0-9_-]{86}$/m);
  });

  it("T092: mails nothing where the feature is off, nobody has the address, or no link is set", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    await opened.addUser({ username: "gone", email: "gone@example.test", active: false });
    for (const email of ["bob@example.test", "gone@example.test", "ALICE@example.test", "", undefined, null, 7, {}, ["alice@example.test"], "alice@example.test,bob@example.test"]) await forgot(email);
    await opened.oneTime.forgotPassword(undefined, opened.origin, { email: "alice@example.test" });
    await opened.set({ passwordReset: { enabled: false, linkUrl: "https://app.test/reset" } });
    await forgot("alice@example.test");
    expect((await opened.user(id)).hidden["resetHash"] ?? null).to.equal(null);
    await opened.set({ passwordReset: { enabled: true, linkUrl: "" } });
    await forgot("alice@example.test");
    expect((await opened.user(id)).hidden["resetHash"]).to.match(/^[0-9a-f]{64}$/);
    expect(opened.mails).to.deep.equal([]);
    expect(opened.lines).to.deep.equal([]);
  });

  it("serves every account of the address, one token each", async () => {
    const ids: string[] = [];
    for (let number = 0; number < 120; number += 1) ids.push(await opened.addUser({ username: `user${number}`, email: "shared@example.test" }));
    await forgot("shared@example.test");
    expect(opened.mails).to.have.length(120);
    expect(new Set(opened.mails.map(({ text }) => text)).size).to.equal(120);
    const own = opened.mails.find(({ text }) => text.includes("\"user77\""))!;
    await reset(/[A-Za-z0-9_-]{86}/.exec(own.text)![0]);
    expect((await opened.user(ids[77]!)).hidden["generation"]).to.equal(2);
    expect((await opened.user(ids[78]!)).hidden["generation"]).to.equal(1);
  });

  it("leaves a user name that could be a message of its own out of the mail", async () => {
    await opened.addUser({ username: "Visit https://evil.test now", email: "alice@example.test" });
    await forgot("alice@example.test");
    expect(opened.mails[0]!.text).to.not.include("evil");
  });

  it("T099: sets the password once, ends every session and raises the generation", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    await forgot("alice@example.test");
    const token = opened.token("alice@example.test");
    await reset(token);
    const { hidden } = await opened.user(id);
    expect(hidden).to.include({ generation: 2, resetHash: null, resetExpires: null });
    expect(await opened.hasher.verify(String(hidden["passwordHash"]), password)).to.equal(true);
    expect(await opened.families(id)).to.equal(0);
    expect(await failure(reset(token))).to.deep.equal(invalid);
  });

  it("T093: answers every wrong token with the one generic error, and hashes nothing", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    await forgot("alice@example.test");
    await requestVerification("alice@example.test");
    const token = opened.token("alice@example.test");
    const wrong = [
      undefined, null, "", 7, {}, "x".repeat(86), token.slice(1), `${token}A`, token.toLowerCase(),
      newOneTimeToken(opened.tenantId, id).token, newOneTimeToken(opened.tenantId, newId(1)).token, newOneTimeToken(newId(1), id).token,
    ];
    for (const one of wrong) {
      expect(await failure(reset(one)), String(one)).to.deep.equal(invalid);
      expect(await failure(confirm(one)), String(one)).to.deep.equal(invalid);
    }
    const [first, second] = opened.mails.map(({ text }) => /[A-Za-z0-9_-]{86}/.exec(text)![0]);
    expect(await failure(confirm(first))).to.deep.equal(invalid);
    expect(await failure(reset(second))).to.deep.equal(invalid);
    await opened.set({ passwordReset: { enabled: false, linkUrl: "" }, emailVerification: { enabled: false, linkUrl: "", requireForLogin: false } });
    expect(await failure(reset(first))).to.deep.equal(invalid);
    expect(await failure(confirm(second))).to.deep.equal(invalid);
    expect(opened.hasher.hashed).to.equal(0);
  });

  it("T097: is over after 30 minutes, after a newer token, after a change of the address, and for an inactive account", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    const ask = async (): Promise<string> => {
      await forgot("alice@example.test");
      return opened.token("alice@example.test");
    };
    const expired = await ask();
    opened.now += 30 * 60_000;
    expect(await failure(reset(expired))).to.deep.equal(invalid);
    const older = await ask();
    const newer = await ask();
    expect(await failure(reset(older))).to.deep.equal(invalid);
    await opened.change(id, { email: "new@example.test" }, { resetHash: null, resetExpires: null });
    expect(await failure(reset(newer))).to.deep.equal(invalid);
    await opened.change(id, { email: "alice@example.test" });
    const last = await ask();
    await reset(last);
    expect((await opened.user(id)).hidden["generation"]).to.equal(2);
  });

  it("leaves the token usable where the password is of a wrong length or no hashing slot is free", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    await forgot("alice@example.test");
    const token = opened.token("alice@example.test");
    for (const wrong of [null, "", 16, "fifteen chars..", "😀".repeat(15), "x".repeat(1025)]) {
      const [status, body] = await failure(reset(token, wrong));
      expect([status, (body as { field: string }[])[0]?.field], String(wrong)).to.deep.equal([400, "password"]);
    }
    opened.hasher.fail = new TooManyRequests();
    expect((await failure(reset(token)))[0]).to.equal(429);
    opened.hasher.fail = undefined;
    await reset(token, "😀".repeat(16));
    expect((await opened.user(id)).hidden["generation"]).to.equal(2);
  });

  it("sets emailVerified once, for the address that the token was sent to", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    await requestVerification("alice@example.test");
    const token = opened.token("alice@example.test");
    await confirm(token);
    const row = await opened.user(id);
    expect(row.record["emailVerified"]).to.equal(true);
    expect(row.hidden).to.include({ generation: 1, verifyHash: null });
    expect(await failure(confirm(token))).to.deep.equal(invalid);
    await requestVerification("alice@example.test");
    expect(opened.mails).to.have.length(1);
  });

  it("lets one of twenty redeem a reset token, over two processes, and his password counts", async function () {
    this.timeout(120_000);
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    for (let round = 0; round < rounds; round += 1) {
      await forgot("alice@example.test");
      const token = opened.token("alice@example.test");
      const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? opened.oneTime : opened.other).resetPassword(opened.origin, { token, password: `password number ${round} ${index}` })));
      const won = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
      expect(won).to.have.length(1);
      expect(await opened.hasher.verify(String((await opened.user(id)).hidden["passwordHash"]), `password number ${round} ${won[0]}`)).to.equal(true);
    }
    expect((await opened.user(id)).hidden["generation"]).to.equal(rounds + 1);
  });

  it("lets one of twenty redeem a verification token, over two processes", async function () {
    this.timeout(120_000);
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    for (let round = 0; round < rounds; round += 1) {
      await opened.change(id, { emailVerified: false });
      await requestVerification("alice@example.test");
      const token = opened.token("alice@example.test");
      const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? opened.oneTime : opened.other).confirmVerification(opened.origin, { token })));
      expect(results.filter(({ status }) => status === "fulfilled")).to.have.length(1);
    }
  });

  it("answers before anything is looked up or written", async () => {
    const id = await opened.addUser({ username: "alice", email: "alice@example.test" });
    await opened.oneTime.forgotPassword(await opened.context(), opened.origin, { email: "alice@example.test" });
    expect((await opened.user(id)).hidden["resetHash"] ?? null).to.equal(null);
    await opened.oneTime.idle();
    expect((await opened.user(id)).hidden["resetHash"]).to.be.a("string");
  });

  it("shows neither token nor password to global hooks, which may replace the address but no secret", async () => {
    await opened.addUser({ username: "alice", email: "alice@example.test" });
    await opened.addUser({ username: "bob", email: "bob@example.test" });
    opened.answer = { email: "bob@example.test" };
    await forgot("alice@example.test");
    expect(opened.mails.map(({ to }) => to)).to.deep.equal(["bob@example.test"]);
    opened.answer = { token: "x", password: "a password of the hook" };
    await reset(opened.token("bob@example.test"));
    expect(opened.told).to.deep.equal([{ email: "alice@example.test" }, {}]);
  });

  it("T103: keeps no token in the store's files, and none in the log", async () => {
    await opened.addUser({ username: "alice", email: "alice@example.test" });
    await forgot("alice@example.test");
    const token = opened.token("alice@example.test");
    const names = await readdir(opened.folder, { recursive: true, withFileTypes: true });
    const contents = await Promise.all(names.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name), "latin1")));
    expect(contents.join("")).to.include("alice@example.test").and.not.include(token);
    expect(JSON.stringify(opened.lines)).to.not.include(token);
  });
});
