import { expect } from "chai";
import { createMailQueue } from "../../../lib/mailer/mail-queue.js";
import type { Mail } from "../../../lib/mailer/mailer.js";

const mail = (number: number): Mail => ({ to: `user${number}@example.test`, subject: "s", text: "https://app.test/?token=secret-token" });

describe("the mail queue", () => {
  const lines: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string): void => { lines.push({ fields, message }); };
  const logger = { debug: log, info: log, warn: log, error: log };
  beforeEach(() => { lines.length = 0; });

  it("F15: sends at most five at a time, and each of them", async () => {
    let running = 0;
    let most = 0;
    const sent: string[] = [];
    const queue = createMailQueue({
      logger,
      mailer: {
        async send({ to }) {
          running += 1;
          most = Math.max(most, running);
          await new Promise((resolve) => setImmediate(resolve));
          running -= 1;
          sent.push(to);
        },
      },
    });
    for (let number = 0; number < 200; number += 1) queue.send(mail(number));
    await queue.idle();
    expect(most).to.equal(5);
    expect(new Set(sent).size).to.equal(200);
    expect(lines).to.deep.equal([]);
  });

  it("F15: logs a failure once, without address, token or text, and goes on", async () => {
    const sent: string[] = [];
    const queue = createMailQueue({
      logger,
      mailer: {
        async send({ to, text }) {
          if (to === "user1@example.test") throw Object.assign(new Error(`cannot send ${text} to ${to}`), { code: "EENVELOPE", responseCode: 550 });
          sent.push(to);
        },
      },
    });
    for (let number = 0; number < 3; number += 1) queue.send(mail(number));
    await queue.idle();
    expect(sent).to.deep.equal(["user0@example.test", "user2@example.test"]);
    expect(lines).to.deep.equal([{ fields: { error: { name: "Error", code: "EENVELOPE", responseCode: 550 } }, message: "a mail could not be sent" }]);
  });

  it("survives a mailer that throws at once or with a value that is no error", async () => {
    const queue = createMailQueue({ logger, mailer: { send() { throw "no"; } } });
    queue.send(mail(1));
    await queue.idle();
    expect(lines.map(({ message }) => message)).to.deep.equal(["a mail could not be sent"]);
  });

  it("drops what comes beyond a thousand that wait, and says so once", async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    let sent = 0;
    const queue = createMailQueue({ logger, mailer: { async send() { await gate; sent += 1; } } });
    for (let number = 0; number < 3000; number += 1) queue.send(mail(number));
    expect(lines.map(({ message }) => message)).to.deep.equal(["a mail was dropped: too many wait"]);
    release();
    await queue.idle();
    expect(sent).to.equal(1000);
  });

  it("sends and logs nothing without a mailer, and nothing after its end", async () => {
    createMailQueue({ logger, mailer: undefined }).send(mail(1));
    let sent = 0;
    let closed = 0;
    const queue = createMailQueue({ logger, mailer: { async send() { sent += 1; }, async close() { closed += 1; } } });
    queue.send(mail(1));
    await queue.close(5000);
    queue.send(mail(2));
    await queue.idle();
    expect([sent, closed]).to.deep.equal([1, 1]);
  });

  it("does not wait at its end for a mailer that hangs", async () => {
    const queue = createMailQueue({ logger, mailer: { send: () => new Promise(() => undefined) } });
    queue.send(mail(1));
    await queue.close(20);
  });
});
