// The client's session: refreshed once, shared between tabs, ended by a refusal.
import { expect } from "chai";
import { RecordsError } from "../../../lib/client/errors.js";
import { createMemoryStorage, createSession, type Session, type TokenPair } from "../../../lib/client/session.js";

describe("client: session", () => {
  let asked: string[];
  let answer: (refreshToken: string) => Promise<TokenPair>;
  const storage = createMemoryStorage();
  const open = (): Session => createSession({
    storage, key: "test",
    refresh(refreshToken) {
      asked.push(refreshToken);
      return answer(refreshToken);
    },
  });
  const pair = (name: string, expiresIn = 900): TokenPair => ({ accessToken: `access ${name}`, refreshToken: `refresh ${name}`, tokenType: "Bearer", expiresIn });

  beforeEach(() => {
    asked = [];
    answer = async () => pair("next");
    storage.removeItem("test");
  });

  it("gives the token while it holds, and a fresh one when it is about to end", async () => {
    const session = open();
    expect(await session.token()).to.equal(undefined);
    session.start(pair("first"));
    expect(await session.token()).to.equal("access first");
    session.start(pair("old", 0));
    expect(await session.token()).to.equal("access next");
    expect(asked).to.deep.equal(["refresh old"]);
  });

  it("refreshes once, however many ask", async () => {
    const session = open();
    session.start(pair("first"));
    const tokens = await Promise.all(Array.from({ length: 10 }, () => session.renew("access first")));
    expect(new Set(tokens)).to.deep.equal(new Set(["access next"]));
    expect(await session.renew("access first")).to.equal("access next");
    expect(asked).to.deep.equal(["refresh first"]);
  });

  it("takes over what another tab has refreshed", async () => {
    const [one, two] = [open(), open()];
    one.start(pair("first"));
    await one.renew("access first");
    expect(await two.renew("access first")).to.equal("access next");
    expect(asked).to.deep.equal(["refresh first"]);
    answer = async () => {
      two.start(pair("of the other tab"));
      throw new RecordsError(401, { error: "Unauthorized" });
    };
    expect(await one.renew("access next")).to.equal("access of the other tab");
  });

  it("ends when the service refuses, and only then", async () => {
    const session = open();
    const told: boolean[] = [];
    session.onChange((isSignedIn) => told.push(isSignedIn));
    session.start(pair("first"));
    answer = async () => { throw new RecordsError(503, {}); };
    const failure = await session.renew("access first").catch((error: unknown) => error);
    expect(failure).to.include({ status: 503 });
    expect(session.isSignedIn).to.equal(true);
    answer = async () => { throw new RecordsError(401, {}); };
    expect(await session.renew("access first")).to.equal(undefined);
    expect(session.isSignedIn).to.equal(false);
    session.end();
    expect(told).to.deep.equal([true, false]);
  });

  it("does not bring a session back that was ended while its refresh was under way", async () => {
    const session = open();
    session.start(pair("first"));
    answer = async () => {
      session.end();
      return pair("late");
    };
    expect(await session.renew("access first")).to.equal(undefined);
    expect(session.isSignedIn).to.equal(false);
  });

  it("takes a storage that holds something else for empty", async () => {
    for (const text of ["", "null", "{}", "x", '{"accessToken":1}']) {
      storage.setItem("test", text);
      expect(await open().token(), text).to.equal(undefined);
    }
  });
});
