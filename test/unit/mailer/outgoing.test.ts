import { expect } from "chai";
import { createOutgoing } from "../../../lib/mailer/outgoing.js";
import type { Mail } from "../../../lib/mailer/mailer.js";

const mail = (number: number): Mail => ({ to: `user${number}@example.test`, subject: "s", text: "https://app.test/?token=secret-token" });

describe("outgoing mail", () => {
  const lines: { fields: object; message: string }[] = [];
  const log = (fields: object, message: string): void => { lines.push({ fields, message }); };
  const logger = { debug: log, info: log, warn: log, error: log };
  beforeEach(() => { lines.length = 0; });

  it("F15: logs a failure once, without address, token or text, and goes on", async () => {
    const sent: string[] = [];
    const outgoing = createOutgoing({
      logger,
      mailer: {
        async send({ to, text }) {
          if (to === "user1@example.test") throw Object.assign(new Error(`cannot send ${text} to ${to}`), { code: "EENVELOPE", responseCode: 550 });
          sent.push(to);
        },
      },
    });
    for (let number = 0; number < 3; number += 1) await outgoing.send(mail(number));
    expect(sent).to.deep.equal(["user0@example.test", "user2@example.test"]);
    expect(lines).to.deep.equal([{ fields: { error: { name: "Error", code: "EENVELOPE", responseCode: 550 } }, message: "a mail could not be sent" }]);
  });

  for (const thrown of ["no", null, undefined]) {
    it(`survives a mailer that throws ${String(thrown)} at once`, async () => {
      await createOutgoing({ logger, mailer: { send() { throw thrown; } } }).send(mail(1));
      expect(lines.map(({ message }) => message)).to.deep.equal(["a mail could not be sent"]);
    });
  }

  it("gives nothing to the mailer but one plain address", async () => {
    let sent = 0;
    const outgoing = createOutgoing({ logger, mailer: { async send() { sent += 1; } } });
    for (const to of ["a@example.test,b@example.test", "a@example.test\r\nBcc: b@example.test", "", "<a@example.test>"]) await outgoing.send({ ...mail(1), to });
    expect(sent).to.equal(0);
  });

  it("sends and logs nothing without a mailer, and closes the one that is there", async () => {
    const none = createOutgoing({ logger, mailer: undefined });
    await none.send(mail(1));
    await none.close();
    let closed = 0;
    const outgoing = createOutgoing({ logger, mailer: { async send() {}, async close() { closed += 1; } } });
    await outgoing.close();
    expect([none.available, outgoing.available, closed, lines]).to.deep.equal([false, true, 1, []]);
  });
});
