// The loader of MongoDB's finds by id: what is shared, and what must not be.
import { expect } from "chai";
import { createLoader } from "../../../lib/storage/mongodb/loader.js";
import type { FetchedRow } from "../../../lib/storage/mongodb/documents.js";

interface Read {
  readonly ids: readonly string[];
  answer(...ids: string[]): void;
  fail(error: Error): void;
}

const row = (id: string): FetchedRow => ({ _id: id, r: 1, d: JSON.stringify({ id }), h: null });

function open(idsAtOnce = 200) {
  const reads: Read[] = [];
  const find = createLoader({
    idsAtOnce: () => idsAtOnce,
    read: (ids) => new Promise((resolve, reject) => reads.push({ ids, answer: (...found) => resolve(found.map(row)), fail: reject })),
  });
  return { find, reads };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("loader of finds by id", () => {
  it("asks at once where nothing is under way", async () => {
    const { find, reads } = open();
    const found = find("a");
    await turn();
    expect(reads.map(({ ids }) => ids)).to.deep.equal([["a"]]);
    reads[0]!.answer("a");
    expect((await found)?.id).to.equal("a");
  });

  it("puts finds of one turn into one read, in any order of the answer, and gives undefined for what is not there", async () => {
    const { find, reads } = open();
    const found = Promise.all([find("a"), find("b"), find("a"), find("missing")]);
    await turn();
    expect(reads.map(({ ids }) => ids)).to.deep.equal([["a", "b", "missing"]]);
    reads[0]!.answer("b", "a");
    expect((await found).map((each) => each?.id)).to.deep.equal(["a", "b", "a", undefined]);
  });

  it("gives only what was read after the question", async () => {
    const { find, reads } = open();
    const before = find("a");
    await turn();
    const after = find("a");
    await turn();
    reads[0]!.answer();
    expect(await before).to.equal(undefined);
    expect(reads).to.have.length(2);
    reads[1]!.answer("a");
    expect((await after)?.id).to.equal("a");
  });

  it("keeps two reads under way, and collects what is asked for meanwhile", async () => {
    const { find, reads } = open();
    const found = [find("a")];
    await turn();
    found.push(find("b"));
    await turn();
    found.push(find("c"));
    await turn();
    found.push(find("d"));
    await turn();
    expect(reads.map(({ ids }) => ids)).to.deep.equal([["a"], ["b"]]);
    reads[0]!.answer("a");
    await turn();
    expect(reads.map(({ ids }) => ids)).to.deep.equal([["a"], ["b"], ["c", "d"]]);
    reads[1]!.answer("b");
    reads[2]!.answer("c", "d");
    expect((await Promise.all(found)).map((each) => each?.id)).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("a read that hangs holds back no others", async () => {
    const { find, reads } = open();
    const hanging = [find("a")];
    await turn();
    hanging.push(find("b"));
    await turn();
    const found = find("c");
    while (reads.length < 3) await turn();
    reads[2]!.answer("c");
    expect((await found)?.id).to.equal("c");
    for (const { answer } of reads.slice(0, 2)) answer();
    expect(await Promise.all(hanging)).to.deep.equal([undefined, undefined]);
  });

  it("tells a fault to everyone who shared the read, and reads on", async () => {
    const { find, reads } = open();
    const failed = Promise.allSettled([find("a"), find("b")]);
    await turn();
    reads[0]!.fail(new Error("gone"));
    expect((await failed).map((each) => (each.status === "rejected" ? (each.reason as Error).message : "found"))).to.deep.equal(["gone", "gone"]);
    const found = find("a");
    await turn();
    reads[1]!.answer("a");
    expect((await found)?.id).to.equal("a");
  });

  it("puts no more ids into one read than allowed, and long ones into reads of their own", async () => {
    const { find, reads } = open(2);
    const long = "x".repeat(1000);
    const found = Promise.all(["a", "b", "c", long].map(find));
    await turn();
    expect(reads.map(({ ids }) => ids)).to.deep.equal([[long], ["a", "b"], ["c"]]);
    for (const { ids, answer } of reads) answer(...ids);
    expect((await found).map((each) => each?.id)).to.deep.equal(["a", "b", "c", long]);
  });
});
