// The conformance suite of mailers: what the service counts on when it hands over a mail.
import assert from "node:assert/strict";
import type { Mail, Mailer } from "../mailer/mailer.js";
import { testFunctions } from "./test-functions.js";

/** A fresh mailer for one test, and its other end. */
export interface MailerUnderTest {
  readonly mailer: Mailer;
  /** Every mail that arrived, read back, once there are at least `count`. `to`: all recipients, joined by commas. */
  received(count: number): Promise<readonly Mail[]>;
  /** Called after the mailer was closed. */
  dispose?(): Promise<void>;
}

export interface MailerSuiteOptions {
  /** Called once for each test. */
  make(): Promise<MailerUnderTest>;
  /** A mailer whose other end cannot be reached. */
  makeUnreachable?(): Promise<Mailer>;
}

const plain: Mail = { to: "alice@example.org", subject: "Choose a new password", text: "Open https://app.example.org/reset?token=abc\n" };

const texts: readonly (readonly [string, string])[] = [
  ["letters of every script", "Grüße, привет, こんにちは, שלום, 😀\n"],
  ["lines that mean something to mail servers", "first\n.\n..\nFrom here on\n--\nSubject: none\n\nlast\n"],
  ["signs that transfer encodings use", "a=b =3D =\n100 %\ttab, two  spaces\n"],
  ["a link that is longer than a line may be", `https://app.example.org/verify?token=${"0123456789-_abcdef".repeat(60)}&lang=de#top\n`],
];

/** Declares the suite: call it in a mocha test file. */
export function mailerSuite(name: string, { make, makeUnreachable }: MailerSuiteOptions): void {
  const { describe, it, beforeEach, afterEach } = testFunctions();

  describe(`mailer: ${name}`, () => {
    let subject: MailerUnderTest;
    let mailer: Mailer;
    beforeEach(async () => {
      subject = await make();
      mailer = subject.mailer;
    });
    afterEach(async () => {
      await mailer.close?.();
      await subject.dispose?.();
    });

    async function sent(mail: Mail): Promise<Mail> {
      await mailer.send(mail);
      const [first, ...others] = await subject.received(1);
      assert.deepEqual(others, []);
      return normal(first!);
    }

    it("hands over one mail, to the one address", async () => {
      assert.deepEqual(await sent(plain), normal(plain));
    });

    for (const [what, text] of texts) {
      it(`keeps the text: ${what}`, async () => {
        assert.equal((await sent({ ...plain, text })).text, normal({ ...plain, text }).text);
      });
    }

    it("keeps the subject, also a long one with letters of every script", async () => {
      const long = `Подтвердите адрес ${"für Müller & Söhne ".repeat(8)}😀`;
      assert.equal((await sent({ ...plain, subject: long })).subject, long);
    });

    it("sends mails side by side, each once and to its own address", async () => {
      const mails = [1, 2, 3, 4, 5].map((number) => ({ to: `user${number}@example.org`, subject: `Mail ${number}`, text: `Link ${number}\n` }));
      await Promise.all(mails.map((mail) => mailer.send(mail)));
      const arrived = [...(await subject.received(mails.length))].map(normal).sort((one, other) => (one.to < other.to ? -1 : 1));
      assert.deepEqual(arrived, mails.map(normal));
    });

    it("sends the same mail again where it is asked to", async () => {
      await mailer.send(plain);
      await mailer.send(plain);
      assert.deepEqual((await subject.received(2)).map(normal), [normal(plain), normal(plain)]);
    });

    if (makeUnreachable !== undefined) {
      it("rejects where the mail could not be handed over, and can be closed then", async () => {
        const unreachable = await makeUnreachable();
        await assert.rejects(unreachable.send(plain));
        await unreachable.close?.();
      });
    }

    // Closed by afterEach.
    it("can be closed before it has sent anything", async () => {
      assert.deepEqual(await subject.received(0), []);
    });
  });
}

/** Mail may end its lines in its own way, and add or drop line ends after the last one. */
function normal({ to, subject, text }: Mail): Mail {
  return { to, subject, text: text.replaceAll("\r\n", "\n").replace(/\n+$/, "") };
}
