// The connection itself: heartbeats, consumers that do not read, what hosts and proxies put in between.
import { createServer, request, type ServerResponse } from "node:http";
import { connect as connectSocket, type AddressInfo, type Socket } from "node:net";
import { createGzip } from "node:zlib";
import { expect } from "chai";
import { openStream, post, until, type TestStream } from "../../support/event-stream.js";
import { openHouse, type Hand, type House, type HouseOptions } from "./house.js";

describe("realtime: transport", () => {
  let house: House;
  let tenant: Hand;
  const streams: TestStream[] = [];
  const sockets: Socket[] = [];

  async function start(options: HouseOptions = {}): Promise<string> {
    house = await openHouse(options);
    tenant = await house.tenant();
    await tenant.collection("tasks");
    return (await tenant.user("alice")).token;
  }

  async function open(url: string, token: string): Promise<TestStream> {
    const stream = await openStream(url);
    streams.push(stream);
    expect((await stream.subscribe(token, ["tasks"])).status).to.equal(200);
    return stream;
  }

  /** A raw connection that has sent this; its text so far. */
  async function raw(head: string): Promise<{ socket: Socket; read: () => string; until: (part: string) => Promise<void> }> {
    const socket = connectSocket((house.server.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(socket);
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => { text += chunk; }).on("error", () => undefined);
    socket.write(head);
    return { socket, read: () => text, until: (part) => until(() => text.includes(part)) };
  }

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await house.close();
  });

  it("sends a heartbeat on every open stream, again and again, whether or not it has subscribed", async () => {
    const token = await start({ heartbeat: 50 });
    const stream = await open(house.url, token);
    const silent = await openStream(house.url);
    streams.push(silent);
    for (let beat = 0; beat < 3; beat += 1) expect(await silent.comment()).to.equal(": heartbeat");
    await until(() => stream.comments.filter((comment) => comment === ": heartbeat").length >= 3);
    expect(stream.isOpen && silent.isOpen).to.equal(true);
  });

  it("a consumer that does not read is cut off alone, and can come back with since", async () => {
    const token = await start({ maxBuffer: 64 * 1024 });
    const good = await open(house.url, token);
    const { socket, read, until: has } = await raw(`GET /api/realtime HTTP/1.1\r\nHost: x\r\n\r\n`);
    await has("clientId");
    const clientId = /"clientId":"([^"]+)"/.exec(read())![1]!;
    expect((await post(house.url, token, { clientId, subscriptions: ["tasks"] })).status).to.equal(200);
    await has(": position");
    const since = /: position (\S+)/.exec(read())![1]!;
    socket.pause();
    const title = "x".repeat(4_000);
    let sent = 0;
    while (house.realtime.stats().cutOff === 0) {
      await Promise.all(Array.from({ length: 50 }, () => tenant.create("tasks", { title })));
      sent += 50;
      expect(sent, "it was never cut off").to.be.below(5_000);
    }
    expect(house.realtime.stats()).to.include({ cutOff: 1, streams: 1 });
    for (let index = 0; index < sent; index += 1) await good.next();
    socket.resume();
    await until(() => socket.destroyed);
    const back = await openStream(house.url);
    streams.push(back);
    await back.subscribe(token, ["tasks"], { since });
    for (let index = 0; index < sent; index += 1) expect((await back.next()).id).to.equal(good.events[index + 1]!.id);
  });

  it("a consumer that reads slowly but reads gets a long replay whole", async () => {
    const token = await start({ maxBuffer: 16 * 1024 });
    const good = await open(house.url, token);
    await tenant.create("tasks", { title: "start" });
    const { id: since } = await good.next();
    const title = "x".repeat(20_000);
    for (let round = 0; round < 30; round += 1) await Promise.all(Array.from({ length: 20 }, () => tenant.create("tasks", { title })));
    const { socket, read, until: has } = await raw(`GET /api/realtime HTTP/1.0\r\n\r\n`);
    await has("clientId");
    const clientId = /"clientId":"([^"]+)"/.exec(read())![1]!;
    expect((await post(house.url, token, { clientId, subscriptions: ["tasks"], since: since! })).status).to.equal(200);
    const pauses = setInterval(() => {
      if (socket.isPaused()) socket.resume();
      else socket.pause();
    }, 5);
    await until(() => (read().match(/\nid: /g) ?? []).length === 600);
    clearInterval(pauses);
    socket.resume();
    expect(house.realtime.stats().cutOff).to.equal(0);
  });

  it("a stalled consumer is found by the heartbeat", async () => {
    const token = await start({ heartbeat: 100, maxBuffer: 1 << 30 });
    const { socket, read, until: has } = await raw(`GET /api/realtime HTTP/1.1\r\nHost: x\r\n\r\n`);
    await has("clientId");
    const clientId = /"clientId":"([^"]+)"/.exec(read())![1]!;
    expect((await post(house.url, token, { clientId, subscriptions: ["tasks"] })).status).to.equal(200);
    socket.pause();
    for (let round = 0; round < 40; round += 1) await Promise.all(Array.from({ length: 50 }, () => tenant.create("tasks", { title: "x".repeat(5_000) })));
    await until(() => house.realtime.stats().cutOff === 1);
    expect(house.realtime.stats().streams).to.equal(0);
  });

  it("a client that vanishes at any moment leaves nothing behind", async () => {
    const token = await start();
    for (let round = 0; round < 30; round += 1) {
      const { socket, read, until: has } = await raw(`GET /api/realtime HTTP/1.1\r\nHost: x\r\n\r\n`);
      if (round % 3 === 0) {
        socket.destroy();
        continue;
      }
      await has("clientId");
      const clientId = /"clientId":"([^"]+)"/.exec(read())![1]!;
      const subscribed = post(house.url, token, { clientId, subscriptions: ["tasks"], ...(round % 2 === 0 ? { since: "nothing" } : {}) });
      if (round % 3 === 1) await subscribed;
      if (round % 4 === 0) socket.resetAndDestroy();
      else socket.end();
      expect((await subscribed).status).to.be.oneOf([200, 404]);
    }
    await until(() => house.realtime.stats().streams === 0);
    await until(() => house.realtime.stats().tenants === 0);
  });

  it("works behind a middleware that compresses", async () => {
    const token = await start({
      middleware(req, res, next) {
        compress(res);
        next();
      },
    });
    const stream = await open(house.url, token);
    await tenant.create("tasks", { title: "at once" });
    expect((await stream.next()).data.record?.["title"]).to.equal("at once");
    expect(stream.headers).to.not.have.property("content-encoding");
  });

  it("keeps the headers that the host has set", async () => {
    await start({
      middleware(req, res, next) {
        res.setHeader("Access-Control-Allow-Origin", "https://app.test");
        next();
      },
    });
    const stream = await openStream(house.url);
    streams.push(stream);
    expect(stream.headers["access-control-allow-origin"]).to.equal("https://app.test");
  });

  it("works through a proxy", async () => {
    const token = await start();
    const proxy = createServer((req, res) => {
      const onward = request(`${house.url}${req.url}`, { method: req.method, headers: req.headers }, (answer) => {
        res.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(res);
      });
      onward.on("error", () => res.destroy());
      res.on("close", () => onward.destroy());
      req.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const stream = await open(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, token);
    await tenant.create("tasks", { title: "through" });
    expect((await stream.next()).data.record?.["title"]).to.equal("through");
    stream.close();
    await until(() => house.realtime.stats().streams === 0);
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });

  it("HTTP/1.0 gets the events without chunks", async () => {
    const token = await start();
    const { read, until: has } = await raw(`GET /api/realtime HTTP/1.0\r\n\r\n`);
    await has("clientId");
    const clientId = /"clientId":"([^"]+)"/.exec(read())![1]!;
    await post(house.url, token, { clientId, subscriptions: ["tasks"] });
    await tenant.create("tasks", { title: "plain" });
    await has("plain");
    const body = read().slice(read().indexOf("\r\n\r\n") + 4);
    expect(body.startsWith(`event: connect\ndata: {"clientId":"${clientId}"}\n\n: position `)).to.equal(true);
    expect(body).to.not.include("\r");
  });

  it("a connection that is kept alive serves other requests before and after a stream", async () => {
    const token = await start();
    const { socket, read, until: has } = await raw("HEAD /api/realtime HTTP/1.1\r\nHost: x\r\n\r\nGET /api/realtime HTTP/1.1\r\nHost: x\r\n\r\n");
    await has("clientId");
    const clientId = /"clientId":"([^"]+)"/.exec(read())![1]!;
    await post(house.url, token, { clientId, subscriptions: ["tasks"] });
    await tenant.create("tasks", { title: "pipelined" });
    await has("pipelined");
    await house.realtime.close();
    await has("\r\n0\r\n\r\n");
    socket.write("HEAD /api/realtime HTTP/1.1\r\nHost: x\r\n\r\n");
    await until(() => read().split("HTTP/1.1 200 OK").length === 4);
  });

  it("a host's idle timeout does not end a stream", async () => {
    const token = await start();
    house.server.timeout = 50;
    const stream = await open(house.url, token);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await tenant.create("tasks", { title: "still here" });
    expect((await stream.next()).data.record?.["title"]).to.equal("still here");
  });
});

/** What compression middleware does: takes the body over when the headers are written, and gathers it. */
function compress(res: ServerResponse): void {
  const gzip = createGzip();
  const [writeHead, write, end] = [res.writeHead, res.write, res.end].map((method) => method.bind(res) as (...parts: unknown[]) => never);
  let compresses = false;
  res.writeHead = ((status: number, headers?: Record<string, string>) => {
    compresses = headers?.["Content-Type"] === "text/event-stream";
    return writeHead!(status, compresses ? { ...headers, "Content-Encoding": "gzip" } : headers);
  }) as typeof res.writeHead;
  res.write = ((chunk: string) => (compresses ? gzip.write(chunk) : write!(chunk))) as typeof res.write;
  res.end = ((chunk?: string) => {
    if (!compresses) return end!(chunk);
    gzip.end(chunk);
    return res;
  }) as typeof res.end;
  gzip.on("data", (chunk) => write!(chunk)).on("end", () => end!());
}
