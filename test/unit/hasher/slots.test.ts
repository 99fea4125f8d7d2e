import { expect } from "chai";
import { TooManyRequests } from "../../../lib/core/errors.js";
import { limited } from "../../../lib/hasher/limited.js";
import { createSlots, slotCount } from "../../../lib/hasher/slots.js";

const mebibyte = 1024 * 1024;

/** Work that ends when it is told to. */
function heldWork() {
  const running: (() => void)[] = [];
  return { running, work: () => new Promise<string>((resolve) => running.push(() => resolve("done"))) };
}

describe("hashing slots", () => {
  it("run no more than their number at a time, in the order of arrival", async () => {
    const slots = createSlots({ size: 2, wait: 10_000 });
    const order: number[] = [];
    let busy = 0;
    let most = 0;
    await Promise.all([...Array(20).keys()].map((index) => slots.run(async () => {
      busy += 1;
      most = Math.max(most, busy);
      order.push(index);
      await new Promise((resolve) => setImmediate(resolve));
      busy -= 1;
    })));
    expect(most).to.equal(2);
    expect(order).to.deep.equal([...Array(20).keys()]);
    expect(slots.stats()).to.deep.equal({ size: 2, busy: 0, waiting: 0 });
  });

  it("who waits too long gets 429 with Retry-After, and his work never begins", async () => {
    const slots = createSlots({ size: 1, wait: 20 });
    const held = heldWork();
    const first = slots.run(held.work);
    let begun = false;
    const error = await slots.run(async () => { begun = true; }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(TooManyRequests);
    expect(error).to.deep.include({ status: 429, body: { error: "Too many requests" }, headers: { "Retry-After": "1" } });
    expect(begun).to.equal(false);
    held.running[0]!();
    expect(await first).to.equal("done");
    expect(await slots.run(async () => "free again")).to.equal("free again");
  });

  it("a failure gives the slot back, also one that is thrown at once", async () => {
    const slots = createSlots({ size: 1, wait: 20 });
    for (const work of [() => Promise.reject(new Error("no")), () => { throw new Error("no"); }]) {
      expect(await slots.run(work).catch((error: Error) => error.message)).to.equal("no");
    }
    expect(slots.stats().busy).to.equal(0);
  });

  it("hash, verify and legacy verify share the slots; needsRehash needs none", async () => {
    const slots = createSlots({ size: 1, wait: 5 });
    const held = heldWork();
    const hasher = limited({ hash: held.work, verify: async () => true, needsRehash: () => true, verifyLegacy: async () => true }, slots);
    const hashing = hasher.hash("x");
    for (const attempt of [hasher.verify("x", "x"), hasher.verifyLegacy!("x", "x", "x")]) {
      expect(await attempt.catch((error: unknown) => error)).to.be.instanceOf(TooManyRequests);
    }
    expect(hasher.needsRehash("x")).to.equal(true);
    held.running[0]!();
    expect(await hashing).to.equal("done");
    expect(limited({ hash: held.work, verify: async () => true, needsRehash: () => true }, slots)).not.to.have.property("verifyLegacy");
  });

  it("by default follow from the heap, between 2 and 8, and leave two threads of the pool free", () => {
    const memory = 32_768;
    for (const [heapMiB, threadPool, expected] of [[64, 64, 2], [256, 64, 3], [384, 64, 5], [4096, 64, 8], [4096, 4, 2], [4096, 10, 8], [4096, 9, 7], [4096, 3, 1], [64, 1, 1]] as const) {
      expect(slotCount({ heapLimit: heapMiB * mebibyte, memory, threadPool }), `${heapMiB} MiB, ${threadPool} threads`).to.equal(expected);
    }
    expect(slotCount({ heapLimit: 4096 * mebibyte, memory })).to.equal(2);
    expect(slotCount({ heapLimit: 64 * mebibyte, memory, concurrency: 12 })).to.equal(12);
  });
});
