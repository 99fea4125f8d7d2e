import { expect } from "chai";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { TooManyRequests } from "../../../lib/core/errors.js";
import { openAdmin, password, rejection, type OpenedAdmin } from "./open-admin.js";

describe("setup of the superadmin", () => {
  let opened: OpenedAdmin;
  beforeEach(async () => { opened = await openAdmin(); });
  afterEach(() => opened.close());

  const invalid = { error: "Invalid or expired token" };

  it("makes the superadmin with a setup token, which works once", async () => {
    const { admin } = opened;
    expect(await admin.hasSuperadmin()).to.equal(false);
    const { token, expiresAt } = await admin.createSetupToken();
    expect(expiresAt).to.equal("2026-01-31T10:30:00.000Z");
    expect(token).to.match(/^[A-Za-z0-9_-]{43}$/);
    expect(await admin.setup({ token, username: "root", password })).to.deep.equal({ username: "root" });
    expect(await admin.hasSuperadmin()).to.equal(true);
    const again = await rejection(admin.setup({ token, username: "mallory", password }));
    expect([again.status, again.body]).to.deep.equal([400, invalid]);
    expect((await admin.me()).username).to.equal("root");
  });

  it("answers every wrong token alike: none, empty, of another type, unknown, expired, replaced", async () => {
    const { admin } = opened;
    const first = await admin.createSetupToken();
    const second = await admin.createSetupToken();
    const tokens = [undefined, "", 7, {}, "x".repeat(43), first.token];
    for (const token of tokens) {
      const error = await rejection(admin.setup({ token: token as never, username: "root", password }));
      expect([error.status, error.body]).to.deep.equal([400, invalid]);
    }
    opened.now += 30 * 60_000;
    const late = await rejection(admin.setup({ token: second.token, username: "root", password }));
    expect([late.status, late.body]).to.deep.equal([400, invalid]);
    expect(opened.hasher.hashed).to.equal(0);
    expect(await admin.hasSuperadmin()).to.equal(false);
  });

  it("leaves the token unused where the password is too short or no hashing slot is free", async () => {
    const { admin, hasher } = opened;
    const { token } = await admin.createSetupToken();
    const short = await rejection(admin.setup({ token, username: "", password: "fifteen chars.." }));
    expect(short.status).to.equal(400);
    expect((short.body as { field: string }[]).map(({ field }) => field)).to.deep.equal(["username", "password"]);
    hasher.fail = new TooManyRequests();
    expect((await rejection(admin.setup({ token, username: "root", password }))).status).to.equal(429);
    hasher.fail = undefined;
    await admin.setup({ token, username: "root", password });
    expect((await admin.me()).username).to.equal("root");
  });

  it("refuses a user name that is none", async () => {
    const { token } = await opened.admin.createSetupToken();
    for (const username of [undefined, null, "", "  ", 7, {}, "a\nb", "a\u0000", "\ud800", "x".repeat(256)]) {
      const error = await rejection(opened.admin.setup({ token, username: username as never, password }));
      expect([error.status, (error.body as { field: string }[])[0]?.field], String(username)).to.deep.equal([400, "username"]);
    }
  });

  it("replaces the superadmin with a recovery token and ends his sessions, tokens and second factor", async () => {
    const { admin } = opened;
    await opened.setUp();
    const generation = (await admin.signIn.password("session", { username: "root", password })) as { generation: number };
    const cookie = admin.cookies.session.set(await admin.startSession(generation.generation), "", 60);
    const { accessToken } = admin.issueToken(generation.generation);
    expect((await admin.verifySession(cookie))?.caller.type).to.equal("superadmin");
    const { token } = await admin.createSetupToken();
    await admin.setup({ token, username: "new root", password: "another long password" });
    expect((await rejection(admin.verifySession(cookie))).status).to.equal(401);
    expect((await rejection(admin.verifyToken(accessToken))).status).to.equal(401);
    expect(await admin.me()).to.include({ username: "new root", twoFactorEnabled: false });
    expect((await rejection(admin.signIn.password("session", { username: "root", password }))).status).to.equal(401);
  });

  it("lets one of twenty requests with one token win, over two processes", async function () {
    this.timeout(120_000);
    const { admin, other } = opened;
    for (let round = 0; round < 50; round += 1) {
      const { token } = await admin.createSetupToken();
      const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? admin : other).setup({ token, username: `root ${index}`, password: `the password of ${index} here` })));
      const won = results.flatMap((result, index) => (result.status === "fulfilled" ? [index] : []));
      expect(won).to.have.length(1);
      await admin.signIn.password("session", { username: `root ${won[0]}`, password: `the password of ${won[0]} here` });
    }
  });

  it("keeps neither setup token nor session secret nor password in the store's files", async () => {
    const { admin } = opened;
    const { token } = await admin.createSetupToken();
    const pending = await stored(opened.folder);
    await admin.setup({ token, username: "root", password });
    const secret = await admin.startSession(1);
    const enrolment = await admin.enrolSecondFactor({ password });
    const everything = pending + (await stored(opened.folder));
    for (const word of [token, secret, password, enrolment.secret, ...enrolment.recoveryCodes]) expect(everything).to.not.include(word);
    expect(everything).to.include("root");
  });
});

async function stored(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith("system"));
  return (await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")))).join("");
}
