import { expect } from "chai";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { Mailer, SmtpOptions } from "../../../lib/mailer/mailer.js";
import { createOutgoing } from "../../../lib/mailer/outgoing.js";
import { createSmtpMailer, type SmtpTuning } from "../../../lib/mailer/smtp.js";
import { certificate, key } from "./certificate.js";

interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

const mail = { to: "alice@example.test", subject: "Grüße", text: "Open https://app.test/reset?token=abc\n" };

describe("mail over SMTP", () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => { for (const close of closers.splice(0)) await close(); });

  async function sink(options: SMTPServerOptions = {}): Promise<{ port: number; received: Received[] }> {
    const received: Received[] = [];
    const server = new SMTPServer({
      authOptional: true,
      key,
      cert: certificate,
      ...options,
      onData(stream, session, callback) {
        let source = "";
        stream.setEncoding("utf8").on("data", (part: string) => { source += part; }).on("end", () => {
          const { mailFrom, rcptTo } = session.envelope;
          received.push({
            from: mailFrom === false ? "" : mailFrom.address, to: rcptTo.map(({ address }) => address), source,
            secure: session.secure, user: typeof session.user === "string" ? session.user : undefined,
          });
          callback();
        });
      },
    });
    server.on("error", () => undefined);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => server.close(() => resolve())));
    return { port: (server.server.address() as AddressInfo).port, received };
  }

  /** A server that speaks no SMTP, but this. */
  async function odd(talk: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server: Server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
      talk(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => new Promise((resolve) => {
      for (const socket of sockets) socket.destroy();
      server.close(() => resolve());
    }));
    return (server.address() as AddressInfo).port;
  }

  function mailer(settings: Partial<SmtpOptions> & { port: number }, tuning?: SmtpTuning): Mailer {
    const made = createSmtpMailer({ host: "127.0.0.1", from: "service@example.test", fromName: "Records", ...settings }, tuning);
    closers.push(async () => made.close?.());
    return made;
  }

  async function failure(promise: Promise<void>): Promise<Error & { code?: string; responseCode?: number }> {
    try {
      await promise;
    } catch (error) {
      return error as Error;
    }
    throw new Error("it was expected to fail");
  }

  it("delivers one mail to one address, with the sender's name", async () => {
    const { port, received } = await sink();
    await mailer({ port }).send(mail);
    expect(received).to.have.length(1);
    expect(received[0]).to.include({ from: "service@example.test" });
    expect(received[0]!.to).to.deep.equal(["alice@example.test"]);
    const parsed = await PostalMime.parse(received[0]!.source);
    expect(parsed.from).to.deep.include({ name: "Records", address: "service@example.test" });
    expect(parsed.subject).to.equal("Grüße");
    expect(parsed.text?.trim()).to.equal(mail.text.trim());
  });

  it("uses TLS where an smtp server offers it, and does without where it does not", async () => {
    const offering = await sink();
    await mailer({ port: offering.port }).send(mail);
    expect(offering.received.map(({ secure }) => secure)).to.deep.equal([true]);
    const plain = await sink({ disabledCommands: ["STARTTLS"] });
    await mailer({ port: plain.port }).send(mail);
    expect(plain.received.map(({ secure }) => secure)).to.deep.equal([false]);
  });

  it("speaks smtps with a trusted certificate, and to no other", async () => {
    const { port, received } = await sink({ secure: true });
    await mailer({ port, host: "localhost", protocol: "smtps" }, { ca: certificate }).send(mail);
    expect(received.map(({ secure }) => secure)).to.deep.equal([true]);
    await failure(mailer({ port, host: "localhost", protocol: "smtps" }).send(mail));
    expect(received).to.have.length(1);
  });

  it("signs in with user name and password, and not where authentication is off", async () => {
    const options: SMTPServerOptions = {
      authOptional: true,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) =>
        (username === "mailuser" && password === "mail password" ? callback(null, { user: username }) : callback(new Error("no"))),
    };
    const { port, received } = await sink(options);
    await mailer({ port, username: "mailuser", password: "mail password" }).send(mail);
    await mailer({ port, username: "mailuser", password: "mail password", authentication: false }).send(mail);
    expect(received.map(({ user }) => user)).to.deep.equal(["mailuser", undefined]);
    const error = await failure(mailer({ port, username: "mailuser", password: "wrong" }).send(mail));
    expect(error.code).to.equal("EAUTH");
    expect(received).to.have.length(2);
  });

  it("F15: fails where the server refuses the connection, the recipient or the time", async () => {
    const closed = await odd(() => undefined);
    await closers.pop()!();
    await failure(mailer({ port: closed }).send(mail));
    const refusing = await sink({ onRcptTo: (_address, _session, callback) => callback(Object.assign(new Error("no such user"), { responseCode: 550 })) });
    expect((await failure(mailer({ port: refusing.port }).send(mail))).responseCode).to.equal(550);
    const busy = await odd((socket) => socket.end("421 try again later\r\n"));
    await failure(mailer({ port: busy }).send(mail));
  });

  it("F15: gives up on a server that hangs, drips, or greets with three megabytes", async () => {
    const tuning = { greetingMs: 150, silenceMs: 150, attemptMs: 400 };
    const hanging = await odd(() => undefined);
    await failure(mailer({ port: hanging }, tuning).send(mail));
    const dripping = await odd((socket) => {
      socket.write("220 hello\r\n");
      const timer = setInterval(() => socket.write("2"), 50);
      socket.on("close", () => clearInterval(timer));
    });
    await failure(mailer({ port: dripping }, tuning).send(mail));
    const loud = await odd((socket) => socket.write(`220-${"x".repeat(3 * 1024 * 1024)}`));
    await failure(mailer({ port: loud }, tuning).send(mail));
    const deaf = await sink({ onMailFrom: () => undefined });
    await failure(mailer({ port: deaf.port }, tuning).send(mail));
  });

  it("never lets an address become more than one recipient or a header", async () => {
    const { port, received } = await sink();
    const lines: object[] = [];
    const log = (fields: object): void => { lines.push(fields); };
    const outgoing = createOutgoing({ mailer: mailer({ port }), logger: { debug: log, info: log, warn: log, error: log } });
    for (const to of ["a@x.test, b@y.test", "a@x.test;b@y.test", "A <b@y.test>", "a@x.test\r\nBcc: b@y.test", "a@x.test\nRCPT TO:<b@y.test>", "\"a b\"@x.test", "a@x.test\u0000", "@", "a@", "a@b@c.test", "", " a@x.test"]) {
      await outgoing.send({ ...mail, to });
    }
    await outgoing.send({ ...mail, subject: "hello\r\nBcc: b@y.test", to: "only@x.test" });
    expect(received.map(({ to }) => to)).to.deep.equal([["only@x.test"]]);
    expect(received[0]!.source).to.not.match(/^Bcc:/im);
    expect(lines).to.deep.equal([]);
  });
});
