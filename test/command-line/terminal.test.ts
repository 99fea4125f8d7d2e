// Progress: a bar where somebody looks on, JSON lines otherwise.
import { Writable } from "node:stream";
import { expect } from "chai";
import { bar, createTerminal } from "../../lib/command-line/terminal.js";

function sink(isTTY: boolean) {
  let text = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return Object.assign(stream, { isTTY, columns: 60, text: () => text });
}

describe("terminal", () => {
  it("a bar tells how many, of how many, the rate and the time left, and fits into the line", () => {
    expect(bar("records", 500, 2_000, 1_000, 80)).to.equal("records [#######.....................] 500 of 2,000, 500/s, 3 s left".replace("[#######.....................]", `[${"#".repeat(8)}${".".repeat(22)}]`));
    expect(bar("records", 2_000, 2_000, 4_000, 80)).to.equal(`records [${"#".repeat(30)}] 2,000 of 2,000, 500/s`);
    expect(bar("files", 7, undefined, 1_000, 80)).to.equal("files 7, 7/s");
    for (const columns of [10, 20, 40, 60, 200]) for (const total of [undefined, 0, 5, 1_000_000]) expect(bar("a step", 3, total, 10, columns).length, `${columns} ${total}`).to.be.at.most(columns);
    expect(bar("x", 0, 10, 0, 80)).to.contain("0 of 10, 0/s");
  });

  it("on a terminal the bar is drawn over itself and ends with its line", () => {
    const stderr = sink(true);
    const progress = createTerminal({ stdout: sink(true), stderr }, false).progress("records", 10);
    progress.update(1);
    progress.update(2);
    progress.end(10);
    expect(stderr.text().startsWith("\r\u001b[K")).to.equal(true);
    expect(stderr.text().endsWith("\n")).to.equal(true);
    expect(stderr.text().split("\n")).to.have.length(2);
    expect(stderr.text()).to.contain("10 of 10");
  });

  it("elsewhere, and with --json, each step is a line of JSON; results go to standard output alone", () => {
    for (const [isTTY, json] of [[false, false], [true, true]] as const) {
      const [stdout, stderr] = [sink(isTTY), sink(isTTY)];
      const terminal = createTerminal({ stdout, stderr }, json);
      const progress = terminal.progress("records", 10);
      progress.update(1);
      progress.update(2);
      progress.end(10);
      terminal.result({ done: 10 }, "ten");
      const lines = stderr.text().trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines[0]).to.deep.equal({ step: "records", done: 1, total: 10 });
      expect(lines.at(-1)).to.include({ step: "records", done: 10, total: 10, ended: true });
      expect(stdout.text()).to.equal(json ? '{"done":10}\n' : "ten\n");
    }
  });
});
