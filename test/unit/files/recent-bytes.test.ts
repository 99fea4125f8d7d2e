import { expect } from "chai";
import { createRecentBytes } from "../../../lib/files/recent-bytes.js";

describe("recently asked for bytes", () => {
  function counted(size: number) {
    const reads: string[] = [];
    const recent = createRecentBytes({
      readWhole: async (key) => {
        reads.push(key);
        return key === "none" ? undefined : Buffer.alloc(size, key);
      },
    });
    return { recent, reads };
  }

  it("keeps what is asked for twice, and gives the same bytes", async () => {
    const { recent, reads } = counted(1000);
    for (let round = 0; round < 5; round += 1) expect((await recent.read("a"))?.equals(Buffer.alloc(1000, "a"))).to.equal(true);
    expect(reads).to.have.length(2);
  });

  it("keeps no more than its bound", async () => {
    const { recent, reads } = counted(1_048_576);
    const keys = Array.from({ length: 9 }, (_, index) => `k${index}`);
    for (const key of keys) for (let round = 0; round < 2; round += 1) await recent.read(key);
    reads.length = 0;
    await recent.read("k8");
    expect(reads).to.deep.equal([]);
    await recent.read("k0");
    expect(reads).to.deep.equal(["k0"]);
  });

  it("forgets, also what is being read, and keeps nothing of what is not there", async () => {
    const { recent, reads } = counted(10);
    await recent.read("a");
    const reading = recent.read("a");
    recent.forget("a");
    await reading;
    await recent.read("a");
    await recent.read("a");
    await recent.read("a");
    expect(reads).to.have.length(4);
    expect(await recent.read("none")).to.equal(undefined);
    expect(await recent.read("none")).to.equal(undefined);
    expect(reads).to.have.length(6);
  });
});
