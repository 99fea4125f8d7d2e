import { expect } from "chai";
import { newSecret } from "../../../lib/core/ids.js";

describe("secrets", () => {
  it("are 43 characters of base64url, and none looks like an option of a command line", () => {
    const made = Array.from({ length: 2_000 }, () => newSecret());
    expect(made.filter((secret) => !/^[A-Za-z0-9_][A-Za-z0-9_-]{42}$/.test(secret))).to.deep.equal([]);
    expect(new Set(made).size).to.equal(made.length);
  });
});
