import { expect } from "chai";
import { createAdminCookie } from "../../../lib/admin/cookies.js";
import { changesState, isOwnSite } from "../../../lib/admin/own-site.js";
import { createSeal } from "../../../lib/admin/sealed.js";

describe("the superadmin's cookies", () => {
  const seal = createSeal("a1".repeat(32), "session cookie");

  it("T235: are Secure, HttpOnly and SameSite=Strict in production, on the mount path", () => {
    const cookie = createAdminCookie("records_session", seal, true);
    expect(cookie.set("secret", "", 60)).to.match(/^__Host-records_session=[A-Za-z0-9_-]+; Path=\/; Max-Age=60; HttpOnly; SameSite=Strict; Secure$/);
    expect(cookie.set("secret", "/backend", 60)).to.match(/^__Secure-records_session=[A-Za-z0-9_-]+; Path=\/backend; Max-Age=60; HttpOnly; SameSite=Strict; Secure$/);
    expect(cookie.clear("/backend")).to.equal("__Secure-records_session=; Path=/backend; Max-Age=0; HttpOnly; SameSite=Strict; Secure");
  });

  it("travel over plain HTTP in development only", () => {
    expect(createAdminCookie("records_session", seal, false).set("secret", "", 60)).to.not.include("Secure");
  });

  it("never let a mount path end an attribute", () => {
    expect(createAdminCookie("records_session", seal, true).set("secret", "/a; Domain=evil.test", 60)).to.include("; Path=/; ");
  });

  it("are read back from among others, whichever path set them; tampered ones open nothing", () => {
    const cookie = createAdminCookie("records_session", seal, false);
    const [one, two] = ["one", "two"].map((secret) => cookie.set(secret, "", 60).split(";")[0]!);
    expect(cookie.read(`a=b; ${one}; c; ${two}`)).to.deep.equal({ present: true, secrets: ["one", "two"] });
    expect(cookie.read(undefined)).to.deep.equal({ present: false, secrets: [] });
    expect(cookie.read("a=b")).to.deep.equal({ present: false, secrets: [] });
    const value = one!.slice("records_session=".length);
    for (const tampered of [value.slice(0, -2), `${value.slice(0, 20)}A${value.slice(21)}B`, "x", "one", "%00", "y".repeat(10_000)]) {
      expect(cookie.read(`records_session=${tampered}`)).to.deep.equal({ present: true, secrets: [] });
    }
  });

  it("do not open for another secret or another purpose", () => {
    const sealed = seal.seal("secret");
    expect(seal.open(sealed)).to.equal("secret");
    expect(sealed).to.not.include("secret");
    expect(seal.seal("secret")).to.not.equal(sealed);
    expect(createSeal("a1".repeat(32), "authentication cookie").open(sealed)).to.equal(undefined);
    expect(createSeal("b2".repeat(32), "session cookie").open(sealed)).to.equal(undefined);
  });

  it("T235: count as sent by the own site by Sec-Fetch-Site, else by Origin", () => {
    const host = "app.test:8080";
    const cases: [Record<string, string>, boolean][] = [
      [{ host }, false],
      [{ host, "sec-fetch-site": "same-origin" }, true],
      [{ host: "inner:1", origin: "https://app.test", "sec-fetch-site": "same-origin" }, true],
      [{ host, "sec-fetch-site": "same-site", origin: "http://app.test:8080" }, false],
      [{ host, "sec-fetch-site": "cross-site" }, false],
      [{ host, "sec-fetch-site": "none" }, false],
      [{ host, origin: "http://app.test:8080" }, true],
      [{ host, origin: "https://app.test:8080" }, true],
      [{ host: "app.test", origin: "https://app.test" }, true],
      [{ host: "app.test:443", origin: "https://app.test" }, true],
      [{ host, origin: "http://app.test" }, false],
      [{ host, origin: "http://evil.test" }, false],
      [{ host, origin: "http://evil.test#app.test:8080" }, false],
      [{ host, origin: "http://app.test:8080@evil.test" }, false],
      [{ host, origin: "null" }, false],
      [{ host, origin: "" }, false],
      [{ host, origin: "file://app.test:8080" }, false],
      [{ origin: "http://app.test:8080" }, false],
    ];
    for (const [headers, expected] of cases) expect(isOwnSite(headers), JSON.stringify(headers)).to.equal(expected);
    expect(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"].map(changesState)).to.deep.equal([false, false, true, true, true, true]);
  });
});
