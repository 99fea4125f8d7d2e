// The blocking contract, row by row, against a real receiver.
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { ServerResponse, IncomingMessage } from "node:http";
import { HookFailed, HookRejected } from "../../../lib/core/errors.js";
import { empty, failure, json, makeCall, openBench, startReceiver, subjectOf, type Bench, type Received, type Receiver } from "./support.js";

type Answer = (received: Received, response: ServerResponse, request: IncomingMessage) => void;
const raw = (text: string | Buffer, status = 200, headers: Record<string, string> = {}): Answer => (_received, response) => void response.writeHead(status, headers).end(text);

describe("blocking hooks", () => {
  let bench: Bench;
  let receiver: Receiver;

  before(async () => {
    bench = await openBench();
    receiver = await startReceiver();
    await bench.allow(receiver.host);
    await bench.add({ event: "beforeCreate", collection: "tasks", url: receiver.url, timeoutMs: 400 });
    await bench.add({ event: "beforeUpdate", collection: "tasks", url: receiver.url, timeoutMs: 400, failOpen: true });
    await bench.add({ event: "beforeDelete", collection: "tasks", url: receiver.url, timeoutMs: 400 });
    await bench.add({ event: "beforeLogin", url: receiver.url, timeoutMs: 400 });
  });
  after(async () => {
    await bench.close();
    await receiver.close();
  });

  const run = async (answer: Answer, event: "beforeCreate" | "beforeUpdate" | "beforeDelete" = "beforeCreate") => {
    receiver.answer = answer;
    const context = await bench.context();
    return bench.hooks.before(context, makeCall(context), event, subjectOf(event === "beforeDelete" ? { body: null } : {}));
  };
  const lastLog = () => bench.log.at(-1)!;

  const unchanged: [string, Answer][] = [
    ["no body", empty()],
    ["204", empty(204)],
    ["2xx without continue or data", json({ ok: true })],
    ["continue true", json({ continue: true })],
    ["continue of another type", json({ continue: "false" })],
    ["a data.body that is no object", json({ data: { body: [1] } })],
    ["data.body null", json({ data: { body: null } })],
    ["data without a body", json({ data: {} })],
    ["plain text", raw("OK")],
    ["broken JSON", raw('{"continue": fal', 200, { "content-type": "application/json" })],
    ["a JSON array", json([{ continue: false }])],
    ["a JSON scalar", json(false)],
  ];
  for (const [name, answer] of unchanged) {
    it(`proceeds unchanged: ${name}`, async () => {
      expect((await run(answer)).body).to.deep.equal({ title: "a" });
      expect(lastLog()).to.include({ outcome: "allowed", attempt: 1, event: "beforeCreate", requestId: "req-1" });
    });
  }

  it("many calls at once put no warning on the host's process", async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error): void => void warnings.push(warning);
    process.on("warning", listen);
    await Promise.all(Array.from({ length: 15 }, () => run((_received, response) => void setTimeout(() => response.end(), 100))));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", listen);
    expect(warnings.map(String)).to.deep.equal([]);
  });

  const refused: [string, Answer, number, unknown][] = [
    ["error object with status and message", json({ continue: false, error: { status: 422, message: "no" } }), 422, { status: 422, message: "no" }],
    ["error object with more members", json({ continue: false, error: { message: "no", code: 7 } }), 400, { message: "no", code: 7 }],
    ["error string", json({ continue: false, error: "nope" }), 400, { error: "nope" }],
    ["continue false alone", json({ continue: false }), 400, { error: "The request was rejected by a hook" }],
    ["an error of another type", json({ continue: false, error: 7 }), 400, { error: "The request was rejected by a hook" }],
    ["a recognisable shape with a status outside of 2xx", json({ continue: false, error: { status: 403, message: "no" } }, 500), 403, { status: 403, message: "no" }],
    ["status 400", json({ continue: false, error: { status: 400 } }), 400, { status: 400 }],
    ["status 599", json({ continue: false, error: { status: 599 } }), 599, { status: 599 }],
    ["no hook-protocol member in the answer", json({ continue: false, error: { message: "x", continue: false, issueTokenFor: { userId: "u" } } }), 400, { message: "x" }],
    ["an error nested too deep to be passed on", raw(`{"continue":false,"error":${'{"a":'.repeat(60)}1${"}".repeat(60)}}`), 400, { error: "The request was rejected by a hook" }],
    ["continue false beside data", json({ continue: false, data: { body: { title: "z" } } }), 400, { error: "The request was rejected by a hook" }],
  ];
  for (const [name, answer, status, body] of refused) {
    it(`aborts: ${name}`, async () => {
      const error = await failure(run(answer));
      expect(error).to.be.instanceOf(HookRejected);
      expect(error.status).to.equal(status);
      expect(error.body).to.deep.equal(body);
      expect(lastLog().outcome).to.equal("rejected");
    });
  }

  for (const status of ["399", "600", "400.5", '"403"', "200", "-1", "1e3", "null", "true", "1e999"]) {
    it(`ignores error.status ${status}, takes 400 and logs a warning`, async () => {
      bench.lines.length = 0;
      const error = await failure(run(raw(`{"continue":false,"error":{"status":${status},"message":"no"}}`)));
      expect(error.status).to.equal(400);
      expect(bench.lines.filter((line) => line.includes("error.status")).length).to.equal(1);
    });
  }

  it("proceeds with data.body in place of the client's", async () => {
    expect((await run(json({ data: { body: { title: "b", extra: 1 } } }))).body).to.deep.equal({ title: "b", extra: 1 });
    expect(lastLog().outcome).to.equal("modified");
  });

  it("a data.body answered to beforeDelete has no effect", async () => {
    expect((await run(json({ data: { body: { title: "b" } } }), "beforeDelete")).body).to.equal(null);
    expect(lastLog().outcome).to.equal("allowed");
  });

  const failing: [string, Answer][] = [
    ["non-2xx without a shape", empty(500)],
    ["404 with an error but no continue", json({ error: "x" }, 404)],
    ["non-2xx with a data.body", json({ data: { body: { title: "b" } } }, 500)],
    ["a redirect to a public place", (_received, response) => void response.writeHead(302, { location: "http://93.184.216.34/" }).end()],
    ["a redirect to itself, which is never followed", (_received, response) => void response.writeHead(307, { location: receiver.url }).end()],
    ["a time-out before the headers", () => undefined],
    ["a drip", (_received, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    }],
    ["an endless body", (_received, response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 32)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    }],
    ["a gzip bomb", raw(gzipSync(Buffer.alloc(100_000_000)), 200, { "content-encoding": "gzip" })],
    ["a body over 256 KiB that would be a refusal", raw(" ".repeat(262_145) + '{"continue":false}')],
    ["RST before the headers", (_received, _response, request) => void request.socket.resetAndDestroy()],
    ["RST in the body", (_received, response, request) => void response.writeHead(200, { "content-length": "1000" }).write("{", () => request.socket.resetAndDestroy())],
    ["a body that ends too early", (_received, response, request) => void response.writeHead(200, { "content-length": "1000" }).write("{}", () => request.socket.end())],
    ["no HTTP at all", (_received, _response, request) => void request.socket.end("hello\r\n\r\n")],
    ["a header that never ends", (_received, _response, request) => void request.socket.write(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(200_000)}`)],
    ["a body nested too deep", raw(`{"data":{"body":${'{"a":'.repeat(60)}1${"}".repeat(60)}}}`)],
  ];
  for (const [name, answer] of failing) {
    it(`502: ${name}`, async () => {
      const before = receiver.received.length;
      const error = await failure(run(answer));
      expect(error).to.be.instanceOf(HookFailed);
      expect(error.status).to.equal(502);
      expect(receiver.received.length).to.equal(before + 1);
      expect(lastLog().outcome).to.equal("failed");
      await receiver.quiet();
    });
    it(`fail open, proceeds unchanged: ${name}`, async () => {
      expect((await run(answer, "beforeUpdate")).body).to.deep.equal({ title: "a" });
      expect(lastLog().outcome).to.equal("failedOpen");
    });
  }

  it("fail open never turns a refusal with 2xx into a yes", async () => {
    expect((await failure(run(json({ continue: false, error: "no" }), "beforeUpdate"))).status).to.equal(400);
  });

  it("fail open: a non-2xx response means allow, whatever it says", async () => {
    expect((await run(json({ continue: false, error: "no" }, 500), "beforeUpdate")).body).to.deep.equal({ title: "a" });
  });

  it("502 where nobody listens, and the log tells the outcome and no status", async () => {
    const gone = await startReceiver();
    await gone.close();
    await bench.allow(receiver.host, gone.host);
    await bench.add({ event: "beforeView", collection: "tasks", url: gone.url });
    const context = await bench.context();
    expect((await failure(bench.hooks.before(context, makeCall(context), "beforeView", subjectOf({ body: null })))).status).to.equal(502);
    expect(lastLog()).to.include({ status: null, outcome: "failed" });
  });

  it("beforeLogin: continue false with issueTokenFor signs that user in", async () => {
    receiver.answer = json({ continue: false, issueTokenFor: { userId: "u-1" } });
    const context = await bench.context();
    const outcome = await bench.hooks.before(context, makeCall(context), "beforeLogin", subjectOf({ collection: "users", body: { username: "x", password: "p" } }));
    expect(outcome.issueTokenFor).to.equal("u-1");
  });

  for (const answer of [{ continue: false, issueTokenFor: {} }, { continue: false, issueTokenFor: { userId: " " } }, { continue: false, issueTokenFor: { userId: 7 } }, { continue: false, issueTokenFor: { userId: "u" }, error: "no" }]) {
    it(`beforeLogin: ${JSON.stringify(answer)} is a refusal`, async () => {
      receiver.answer = json(answer);
      const context = await bench.context();
      expect((await failure(bench.hooks.before(context, makeCall(context), "beforeLogin", subjectOf({ collection: "users" })))).status).to.equal(400);
    });
  }

  it("issueTokenFor means nothing to other events, and nothing without continue false", async () => {
    expect((await failure(run(json({ continue: false, issueTokenFor: { userId: "u" } })))).status).to.equal(400);
    const context = await bench.context();
    receiver.answer = json({ issueTokenFor: { userId: "u" } });
    expect((await bench.hooks.before(context, makeCall(context), "beforeLogin", subjectOf({ collection: "users" }))).issueTokenFor).to.equal(undefined);
  });

  it("counts the time apart from the service's own", async () => {
    receiver.answer = empty();
    const context = await bench.context();
    const call = makeCall(context);
    await bench.hooks.before(context, call, "beforeCreate", subjectOf());
    expect(call.meter.hookMs).to.equal(lastLog().durationMs).and.greaterThan(0);
  });

  it("logs metadata only, never the envelope or the answer", async () => {
    await run(json({ note: "answer-marker" }));
    expect(Object.keys(lastLog()).sort()).to.deep.equal(["attempt", "collection", "deliveryId", "durationMs", "event", "hookId", "id", "outcome", "recordId", "requestId", "startedAt", "status"]);
    expect(JSON.stringify(bench.log) + bench.lines.join()).not.to.contain("answer-marker");
  });
});
