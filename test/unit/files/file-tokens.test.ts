import { expect } from "chai";
import { createFileTokens, type FileTokenClaims } from "../../../lib/files/file-tokens.js";

describe("file tokens", () => {
  let now = 1_700_000_000_000;
  const clock = { now: () => now };
  const tokens = createFileTokens({ secret: "ab".repeat(32), clock });
  const claims: FileTokenClaims = { tenantId: "t", userId: "u", keyId: null, familyId: "f", generation: 3 };

  it("give back their claims for two minutes", () => {
    const { token, expiresIn } = tokens.issue(claims, null);
    expect(expiresIn).to.equal(120);
    expect(tokens.verify(token)).to.deep.equal(claims);
    now += 119_999;
    expect(tokens.verify(token)).to.deep.equal(claims);
    now += 1;
    expect(tokens.verify(token)).to.equal(undefined);
  });

  it("do not outlive the credential that asked for them", () => {
    const { token, expiresIn } = tokens.issue(claims, now + 30_500);
    expect(expiresIn).to.equal(30);
    now += 30_500;
    expect(tokens.verify(token)).to.equal(undefined);
  });

  it("hold no change, no other secret and no garbage", () => {
    const { token } = tokens.issue(claims, null);
    for (let index = 0; index < token.length; index += 1) {
      for (const character of ["A", "B", "_", "-"]) {
        if (token[index] === character) continue;
        expect(tokens.verify(token.slice(0, index) + character + token.slice(index + 1)), `character ${index}`).to.equal(undefined);
      }
    }
    expect(createFileTokens({ secret: "cd".repeat(32), clock }).verify(token)).to.equal(undefined);
    for (const garbage of ["", ".", "a.b", `${token}x`, ` ${token}`, "x".repeat(10_000), token.replace(".", "")]) expect(tokens.verify(garbage)).to.equal(undefined);
  });

  it("do not tell the secret", () => {
    expect(tokens.issue(claims, null).token).not.to.contain("abab");
  });
});
