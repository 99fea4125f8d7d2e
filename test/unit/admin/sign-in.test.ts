import { expect } from "chai";
import { Secret, TOTP } from "otpauth";
import { TooManyRequests } from "../../../lib/core/errors.js";
import { openAdmin, password, rejection, type OpenedAdmin } from "./open-admin.js";

describe("sign-in of the superadmin", () => {
  let opened: OpenedAdmin;
  beforeEach(async () => { opened = await openAdmin(); });
  afterEach(() => opened.close());

  const codeOf = (secret: string, offset = 0): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: opened.now + offset });
  /** A code of six digits that none of the three accepted steps has. */
  const wrongCode = (secret: string): string => {
    const right = [-30_000, 0, 30_000].map((offset) => codeOf(secret, offset));
    return ["111111", "222222", "333333", "444444"].find((code) => !right.includes(code))!;
  };

  async function enrolled(): Promise<{ secret: string; recoveryCodes: readonly string[] }> {
    await opened.setUp();
    const enrolment = await opened.admin.enrolSecondFactor({ password });
    await opened.admin.confirmSecondFactor({ code: codeOf(enrolment.secret) });
    opened.now += 60_000;
    return enrolment;
  }

  async function attempt(way: "session" | "token" = "token"): Promise<string> {
    const step = await opened.admin.signIn.password(way, { username: "root", password });
    if (!step.twoFactorRequired) throw new Error("a code was expected to be asked for");
    return step.attempt;
  }

  it("refuses whatever is wrong with the same 401 and exactly one verification", async () => {
    const wrong = [
      { username: "root", password: "wrong password here" }, { username: "nobody", password }, { username: "root" },
      { username: 1, password: {} }, { username: "root", password: "" }, { username: "root", password: "x".repeat(100_000) }, {},
    ];
    for (const setUp of [false, true]) {
      if (setUp) await opened.setUp();
      for (const input of wrong) {
        const before = opened.hasher.verified;
        const error = await rejection(opened.admin.signIn.password("session", input as never));
        expect([error.status, error.body]).to.deep.equal([401, { error: "Invalid credentials" }]);
        expect(opened.hasher.verified - before).to.equal(1);
      }
    }
  });

  it("answers 429 while no hashing slot is free", async () => {
    await opened.setUp();
    await rejection(opened.admin.signIn.password("session", { username: "root", password: "wrong" }));
    opened.hasher.fail = new TooManyRequests();
    for (const username of ["root", "nobody"]) {
      expect((await rejection(opened.admin.signIn.password("session", { username, password }))).status).to.equal(429);
    }
  });

  it("gives a token that holds until it expires, the password changes, or the superadmin signs out by token", async () => {
    await opened.setUp();
    const { admin, other } = opened;
    const token = async (): Promise<string> => {
      const step = await admin.signIn.password("token", { username: "root", password });
      return admin.issueToken((step as { generation: number }).generation).accessToken;
    };
    const first = await token();
    expect((await other.verifyToken(first)).caller).to.deep.equal({ type: "superadmin", id: "superadmin" });
    opened.now += 900_000;
    expect((await rejection(admin.verifyToken(first))).status).to.equal(401);
    const second = await token();
    await admin.endAll();
    expect((await rejection(other.verifyToken(second))).status).to.equal(401);
    const third = await token();
    await admin.changePassword({ password, newPassword: "a new long password" });
    expect((await rejection(other.verifyToken(third))).status).to.equal(401);
    for (const garbage of ["", "x", "a.b.c", `${third.slice(0, -2)}xx`]) expect((await rejection(admin.verifyToken(garbage))).status).to.equal(401);
  });

  it("ends a session at sign-out and after twelve hours, on every process", async () => {
    await opened.setUp();
    const { admin, other } = opened;
    const cookie = admin.cookies.session.set(await admin.startSession(1), "/backend", 60);
    const identity = await other.verifySession(`theme=dark; ${cookie}`);
    expect(identity?.expiresAt).to.equal(opened.now + 12 * 3_600_000);
    await admin.endSession(identity!.sessionId!);
    expect((await rejection(other.verifySession(cookie))).status).to.equal(401);
    const next = admin.cookies.session.set(await admin.startSession(1), "", 60);
    opened.now += 12 * 3_600_000;
    expect((await rejection(admin.verifySession(next))).status).to.equal(401);
    expect(await admin.verifySession(undefined)).to.equal(undefined);
    expect(await admin.verifySession("theme=dark; records_session=")).to.equal(undefined);
  });

  it("changes the password with the current one only, and ends every session and attempt", async () => {
    await opened.setUp();
    const { admin } = opened;
    const cookie = admin.cookies.session.set(await admin.startSession(1), "", 60);
    for (const [input, field] of [
      [{ newPassword: "a new long password" }, "password"],
      [{ password: "wrong", newPassword: "a new long password" }, "password"],
      [{ password, newPassword: "fifteen chars.." }, "newPassword"],
      [{ password }, "newPassword"],
    ] as const) {
      const error = await rejection(admin.changePassword(input));
      expect(error.status).to.equal(400);
      expect((error.body as { field: string }[])[0]?.field).to.equal(field);
    }
    expect((await admin.verifySession(cookie))?.caller.type).to.equal("superadmin");
    expect(await admin.changePassword({ password, newPassword: "a new long password" })).to.equal(2);
    expect((await rejection(admin.verifySession(cookie))).status).to.equal(401);
    expect((await rejection(admin.signIn.password("session", { username: "root", password }))).status).to.equal(401);
    await admin.signIn.password("session", { username: "root", password: "a new long password" });
  });

  it("asks for a code only once the second factor is confirmed", async () => {
    await opened.setUp();
    const { admin } = opened;
    expect((await rejection(admin.enrolSecondFactor({ password: "wrong" }))).status).to.equal(400);
    expect((await rejection(admin.confirmSecondFactor({ code: "123456" }))).status).to.equal(409);
    const { secret, uri, recoveryCodes } = await admin.enrolSecondFactor({ password });
    expect(uri).to.match(/^otpauth:\/\/totp\//).and.include(`secret=${secret}`);
    expect(new Set(recoveryCodes).size).to.equal(10);
    expect((await admin.signIn.password("token", { username: "root", password })).twoFactorRequired).to.equal(false);
    expect((await rejection(admin.confirmSecondFactor({ code: wrongCode(secret) }))).status).to.equal(400);
    await admin.confirmSecondFactor({ code: codeOf(secret) });
    expect(await admin.me()).to.deep.include({ twoFactorEnabled: true, recoveryCodesLeft: 10 });
    expect((await rejection(admin.enrolSecondFactor({ password }))).status).to.equal(409);
    expect((await admin.signIn.password("token", { username: "root", password })).twoFactorRequired).to.equal(true);
    expect((await rejection(admin.disableSecondFactor({ password: "wrong" }))).status).to.equal(400);
    await admin.disableSecondFactor({ password });
    expect((await admin.signIn.password("token", { username: "root", password })).twoFactorRequired).to.equal(false);
  });

  it("takes a code once, also the one that confirmed the enrolment, and only for its own way", async () => {
    await opened.setUp();
    const { admin } = opened;
    const { secret } = await admin.enrolSecondFactor({ password });
    const confirming = codeOf(secret);
    await admin.confirmSecondFactor({ code: confirming });
    expect((await rejection(admin.signIn.code("token", [await attempt()], confirming))).status).to.equal(401);
    opened.now += 60_000;
    const code = codeOf(secret);
    const forSession = await attempt("session");
    expect((await rejection(admin.signIn.code("token", [forSession], code))).status).to.equal(401);
    expect(await admin.signIn.code("session", [forSession], code)).to.equal(1);
    expect((await rejection(admin.signIn.code("token", [await attempt()], code))).status).to.equal(401);
    expect((await rejection(admin.signIn.code("session", [forSession], codeOf(secret, 30_000)))).status).to.equal(401);
  });

  it("takes one of twenty uses of one code, over two processes", async () => {
    const { secret } = await enrolled();
    const attempts = await Promise.all(Array.from({ length: 20 }, () => attempt()));
    const code = codeOf(secret);
    const results = await Promise.allSettled(attempts.map((one, index) => (index % 2 === 0 ? opened.admin : opened.other).signIn.code("token", [one], code)));
    expect(results.filter(({ status }) => status === "fulfilled")).to.have.length(1);
  });

  it("takes a recovery code once, in place of a code", async () => {
    const { recoveryCodes } = await enrolled();
    const { admin } = opened;
    const typed = ` ${recoveryCodes[3]!.toUpperCase().replaceAll("-", " ")} `;
    expect(await admin.signIn.code("token", [await attempt()], typed)).to.equal(1);
    expect((await rejection(admin.signIn.code("token", [await attempt()], recoveryCodes[3]))).status).to.equal(401);
    expect((await admin.me()).recoveryCodesLeft).to.equal(9);
    const results = await Promise.allSettled(
      (await Promise.all([5, 6, 7].map(async (index) => [await attempt(), recoveryCodes[index]] as const)))
        .map(([one, code]) => admin.signIn.code("token", [one], code)),
    );
    expect(results.map(({ status }) => status)).to.deep.equal(["fulfilled", "fulfilled", "fulfilled"]);
    expect((await admin.me()).recoveryCodesLeft).to.equal(6);
  });

  it("ends an attempt with the fifth wrong code, also where twenty come at once, and after five minutes", async () => {
    const { secret } = await enrolled();
    const { admin, other } = opened;
    const guessed = await attempt();
    await Promise.allSettled(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? admin : other).signIn.code("token", [guessed], wrongCode(secret))));
    expect((await rejection(admin.signIn.code("token", [guessed], codeOf(secret)))).status).to.equal(401);
    const fresh = await attempt();
    for (let index = 0; index < 4; index += 1) await rejection(admin.signIn.code("token", [fresh], wrongCode(secret)));
    expect(await admin.signIn.code("token", [fresh], codeOf(secret))).to.equal(1);
    const late = await attempt();
    opened.now += 5 * 60_000;
    expect((await rejection(admin.signIn.code("token", [late], codeOf(secret)))).status).to.equal(401);
  });

  it("lets the second factor rest after fifty wrong codes, for a quarter of an hour", async () => {
    const { secret } = await enrolled();
    const { admin } = opened;
    for (let round = 0; round < 10; round += 1) {
      const one = await attempt();
      for (let index = 0; index < 5; index += 1) await rejection(admin.signIn.code("token", [one], wrongCode(secret)));
    }
    expect((await rejection(admin.signIn.code("token", [await attempt()], codeOf(secret)))).status).to.equal(429);
    opened.now += 16 * 60_000;
    expect(await admin.signIn.code("token", [await attempt()], codeOf(secret))).to.equal(1);
  });

  it("answers garbage in place of a code or an attempt with 401", async () => {
    await enrolled();
    const { admin } = opened;
    for (const code of [undefined, null, 123456, {}, [], "", "abc", "١٢٣٤٥٦", "1".repeat(10_000)]) {
      expect((await rejection(admin.signIn.code("token", [await attempt()], code))).status).to.equal(401);
    }
    for (const attempts of [[], [""], ["x".repeat(43)]]) expect((await rejection(admin.signIn.code("token", attempts, "123456"))).status).to.equal(401);
  });
});
