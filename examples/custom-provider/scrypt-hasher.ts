// A password hasher of one's own: scrypt, which Node has built in. The stored text carries its parameters, so that
// they can be raised later: who signs in then gets a new hash.
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import type { PasswordHasher } from "records-service";

const cost = { N: 2 ** 15, r: 8, p: 1 };
const current = `$scrypt$N=${cost.N},r=${cost.r},p=${cost.p}$`;
const shape = /^\$scrypt\$N=(\d{1,8}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

export const scryptHasher: PasswordHasher = {
  async hash(password) {
    const salt = randomBytes(16);
    return `${current}${salt.toString("base64url")}$${(await derive(password, salt, cost)).toString("base64url")}`;
  },

  async verify(stored, password) {
    const match = shape.exec(stored);
    if (match === null) return false;
    const [, N, r, p, salt, hash] = match;
    const computed = await derive(password, Buffer.from(salt!, "base64url"), { N: Number(N), r: Number(r), p: Number(p) });
    return timingSafeEqual(computed, Buffer.from(hash!, "base64url"));
  },

  needsRehash: (stored) => !stored.startsWith(current),
};

function derive(password: string, salt: Buffer, { N, r, p }: typeof cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, 32, { N, r, p, maxmem: 256 * N * r }, (error, key) => (error === null ? resolve(key) : reject(error)));
  });
}
