import { createHmac, hkdfSync } from "node:crypto";
import { expect } from "chai";
import { createTokens } from "../../../lib/auth/tokens.js";
import { secret, start } from "./world.js";

const clock = { time: start, now(): number { return this.time; } };
const claims = { subject: "u1", tenantId: "t1", generation: 3, familyId: "f1" };
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const rejectionOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return (error as { rejection?: unknown }).rejection;
  }
  return undefined;
};

describe("tokens", () => {
  const tokens = createTokens({ secret, clock, cacheSize: 4 });
  const key = Buffer.from(hkdfSync("sha256", Buffer.from(secret, "hex"), "", "records-service token access", 32));
  const sign = (header: unknown, payload: unknown, by: Buffer | string = key, hash = "sha256"): string => {
    const content = `${encode(header)}.${encode(payload)}`;
    return `${content}.${createHmac(hash, by).update(content).digest("base64url")}`;
  };
  const payload = { iss: "records-service", aud: "access", sub: "u1", tid: "t1", gen: 3, iat: start / 1000, exp: start / 1000 + 60 };
  const header = { alg: "HS256", typ: "JWT" };

  beforeEach(() => { clock.time = start; });

  it("carry their claims, from the cache too", () => {
    const token = tokens.sign("access", claims, 60);
    for (let round = 0; round < 2; round += 1) expect(tokens.verify("access", token)).to.deep.equal({ ...claims, expiresAt: start + 60_000 });
    expect(tokens.verify("access", sign(header, payload))).to.deep.include({ subject: "u1", familyId: null });
  });

  it("029 end at their expiry, from the cache too", () => {
    const cached = tokens.sign("access", claims, 60);
    const fresh = tokens.sign("access", { ...claims, subject: "u2" }, 60);
    tokens.verify("access", cached);
    clock.time = start + 59_999;
    tokens.verify("access", cached);
    clock.time = start + 60_000;
    for (const token of [cached, fresh, cached]) expect(rejectionOf(() => tokens.verify("access", token))).to.equal("expired");
  });

  it("one type never passes for another", () => {
    for (const type of ["admin", "admin2fa", "file"] as const) {
      expect(rejectionOf(() => tokens.verify("access", tokens.sign(type, claims, 60)))).to.equal("unknown");
      expect(rejectionOf(() => tokens.verify(type, tokens.sign("access", claims, 60)))).to.equal("unknown");
    }
  });

  it("022 and 024 other algorithms, keys, issuers, audiences, shapes and altered texts are refused", () => {
    const good = tokens.sign("access", claims, 60);
    const [head = "", body = "", signature = ""] = good.split(".");
    const wrong: Record<string, string> = {
      none: `${encode({ alg: "none" })}.${body}.`,
      None: `${encode({ alg: "None" })}.${body}.`,
      nOnE: `${encode({ alg: "nOnE" })}.${body}.${signature}`,
      "empty signature": `${head}.${body}.`,
      "no signature": `${head}.${body}`,
      HS512: sign({ alg: "HS512" }, payload, key, "sha512"),
      RS256: sign({ alg: "RS256" }, payload),
      "another key": sign(header, payload, Buffer.from("f".repeat(64), "hex")),
      "the raw secret": sign(header, payload, Buffer.from(secret, "hex")),
      "the secret's text": sign(header, payload, secret),
      issuer: sign(header, { ...payload, iss: "other" }),
      audience: sign(header, { ...payload, aud: "admin" }),
      "audience list": sign(header, { ...payload, aud: ["access"] }),
      "no expiry": sign(header, { ...payload, exp: undefined }),
      "no generation": sign(header, { ...payload, gen: undefined }),
      "generation as text": sign(header, { ...payload, gen: "3" }),
      "subject as object": sign(header, { ...payload, sub: { id: "u1" } }),
      "altered payload": `${head}.${encode({ ...payload, sub: "u2" })}.${signature}`,
      "altered signature": `${head}.${body}.${signature.slice(0, -1)}${signature.endsWith("A") ? "B" : "A"}`,
      padded: `${good}=`,
      "a payload that is no object": sign(header, "text"),
      garbage: "a.b.c",
      empty: "",
      long: `${head}.${"A".repeat(100_000)}.${signature}`,
    };
    tokens.verify("access", good);
    for (const [name, token] of Object.entries(wrong)) expect(rejectionOf(() => tokens.verify("access", token)), name).to.equal("unknown");
  });
});
