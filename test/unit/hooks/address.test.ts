// Target address rules: the vector list on save, change, dispatch and Test; resolving names; nothing ever connected.
import { once } from "node:events";
import { createServer, type AddressInfo, type LookupFunction } from "node:net";
import { expect } from "chai";
import { ValidationFailed } from "../../../lib/core/errors.js";
import { isPublicAddress, parseTarget } from "../../../lib/hooks/address.js";
import { failure, json, makeCall, openBench, startReceiver, subjectOf, type Bench } from "./support.js";

const vectors = [
  "127.0.0.1", "127.1", "127.9.9.9", "0x7f.1", "0177.0.0.1", "2130706433", "0", "0.0.0.0", "[::]", "[::1]", "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
  "[2002:a9fe:a9fe::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "169.254.169.254",
  "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1",
  "255.255.255.255", "localhost", "localhost.", "LOCALHOST", "①②⑦.⓪.⓪.①", "127。0。0。1",
  // Beyond the list.
  "127.0.0.1.", "0x7f000001", "017700000001", "[0:0:0:0:0:0:0:1]", "[::ffff:a9fe:a9fe]", "[4000::1]", "[100::1]", "[2001:db8::1]",
  "sub.localhost", "%6c%6f%63%61%6c%68%6f%73%74", "168.63.129.16", "[5f00::1]", "192.88.99.1",
];

const malformed = [
  "file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "unix:/tmp/s", "data:text/plain,x", "javascript:alert(1)", "http://unix:/sock:/",
  "http://user@8.8.8.8/", "http://user:pass@8.8.8.8/", "http://@8.8.8.8/", "http://8.8.8.8\t/", "http://8.8.8\n.8/", " http://8.8.8.8/", "http://8.8.8.8/ ",
  "http:///", "http://", "http:8.8.8.8", "http:/8.8.8.8", "http://8.8.8.8:0/", "http://8.8.8.8:65536/", "http://8.8.8.8\\@evil/", "//8.8.8.8/", "8.8.8.8",
  "", "http://[fe80::1%25eth0]/", "http://[::1/", "http://a..b/", "http://8.8.8.8:x/", "https:\\\\8.8.8.8", "http://exa mple.com/", "http://.example.com/",
];

describe("hook target addresses", () => {
  let bench: Bench;
  let port: number;
  let connections = 0;
  const resolved = new Map<string, { address: string; family: number }[]>();
  const asked: string[] = [];
  const lookup: LookupFunction = (hostname, _options, callback) => {
    asked.push(hostname);
    const addresses = resolved.get(hostname);
    if (addresses === undefined) callback(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), [], 0);
    else callback(null, addresses);
  };
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });

  before(async () => {
    server.listen(0, "::");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
    bench = await openBench({ lookup });
  });
  after(async () => {
    await bench.close();
    server.close();
    await once(server, "close");
  });
  beforeEach(() => { connections = 0; });

  const refused = async (promise: Promise<unknown>): Promise<void> => {
    const error = await failure(promise);
    expect(error).to.be.instanceOf(ValidationFailed);
    expect((error as ValidationFailed).entries.map((entry) => entry.field)).to.deep.equal(["url"]);
  };

  for (const host of vectors) {
    for (const scheme of ["http", "https"]) {
      it(`refuses ${scheme}://${host} on save, change, dispatch and Test, with no connection made`, async () => {
        // A resolver that lies must not help: names of this machine are refused by their name.
        for (const name of ["localhost", "sub.localhost"]) resolved.set(name, [{ address: "8.8.8.8", family: 4 }]);
        const url = `${scheme}://${host}:${port}/x`;
        await refused(bench.add({ event: "beforeCreate", collection: "tasks", url }));
        const good = await bench.add({ event: "beforeCreate", collection: "notes", url: "http://8.8.8.8/", enabled: false });
        await refused(bench.hooks.manage.update(await bench.context(), good.id, { url }));
        expect((await bench.hooks.manage.get(await bench.context(), good.id)).url).to.equal("http://8.8.8.8/");

        const planted = await bench.plant({ url });
        const context = await bench.context();
        expect((await failure(bench.hooks.before(context, makeCall(context), "beforeCreate", subjectOf()))).status).to.equal(502);
        const test = await bench.hooks.manage.test(context, planted);
        expect(test).to.include({ status: null, body: null });
        expect(test.error).to.contain("refused");
        await bench.hooks.manage.remove(context, planted);
        await bench.hooks.manage.remove(context, good.id);
        expect(connections).to.equal(0);
      });
    }
  }

  for (const url of malformed) {
    it(`refuses ${JSON.stringify(url)}`, async () => {
      await refused(bench.add({ event: "beforeCreate", collection: "tasks", url }));
      const planted = await bench.plant({ url });
      const context = await bench.context();
      expect((await failure(bench.hooks.before(context, makeCall(context), "beforeCreate", subjectOf()))).status).to.equal(502);
      await bench.hooks.manage.remove(context, planted);
    });
  }

  const names: [string, { address: string; family: number }[] | undefined][] = [
    ["a private address", [{ address: "10.0.0.1", family: 4 }]],
    ["a public and a private one", [{ address: "8.8.8.8", family: 4 }, { address: "192.168.1.1", family: 4 }]],
    ["a public IPv4 and a private IPv6", [{ address: "8.8.8.8", family: 4 }, { address: "fd00::1", family: 6 }]],
    ["this machine", [{ address: "127.0.0.1", family: 4 }]],
    ["a link-local address with a zone", [{ address: "fe80::1%lo", family: 6 }]],
    ["a mapped address", [{ address: "::ffff:127.0.0.1", family: 6 }]],
    ["no address at all", []],
    ["no valid address", [{ address: "not an address", family: 4 }]],
    ["nothing (unknown name)", undefined],
  ];
  for (const [what, addresses] of names) {
    it(`refuses a name that resolves to ${what}, with the same message every time`, async () => {
      resolved.delete("target.test");
      if (addresses !== undefined) resolved.set("target.test", addresses);
      const url = `http://target.test:${port}/`;
      const error = await failure(bench.add({ event: "beforeCreate", collection: "tasks", url }));
      expect((error as ValidationFailed).entries[0]?.message).to.match(/^the target address is refused: /);
      const planted = await bench.plant({ url });
      const context = await bench.context();
      expect((await failure(bench.hooks.before(context, makeCall(context), "beforeCreate", subjectOf()))).status).to.equal(502);
      await bench.hooks.manage.remove(context, planted);
      expect(connections).to.equal(0);
    });
  }

  it("a name that was public at save and turns private is refused at dispatch", async () => {
    resolved.set("rebinding.test", [{ address: "8.8.8.8", family: 4 }]);
    const hook = await bench.add({ event: "beforeView", collection: "tasks", url: `http://rebinding.test:${port}/` });
    resolved.set("rebinding.test", [{ address: "127.0.0.1", family: 4 }]);
    const context = await bench.context();
    expect((await failure(bench.hooks.before(context, makeCall(context), "beforeView", subjectOf({ body: null })))).status).to.equal(502);
    expect(connections).to.equal(0);
    await bench.hooks.manage.remove(context, hook.id);
  });

  it("resolves once for each dispatch, and connects to exactly what it checked", async () => {
    const receiver = await startReceiver();
    receiver.answer = json({});
    let times = 0;
    // The second look-up would give another address.
    const flipping: LookupFunction = (_hostname, _options, callback) => {
      times += 1;
      callback(null, [{ address: times === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    };
    const own = await openBench({ lookup: flipping });
    await own.allow(`inner.test:${receiver.port}`);
    await own.add({ event: "beforeCreate", collection: "tasks", url: `http://inner.test:${receiver.port}/` });
    expect(times).to.equal(0);
    const context = await own.context();
    await own.hooks.before(context, makeCall(context), "beforeCreate", subjectOf());
    expect(times).to.equal(1);
    expect(receiver.received[0]?.headers.host).to.equal(`inner.test:${receiver.port}`);
    await own.close();
    await receiver.close();
  });

  it("the allowlist lets exactly this host:port through, for this tenant only", async () => {
    const receiver = await startReceiver();
    receiver.answer = json({});
    await bench.allow(receiver.host);
    const hook = await bench.add({ event: "beforeList", collection: "tasks", url: receiver.url });
    const context = await bench.context();
    await bench.hooks.before(context, makeCall(context), "beforeList", subjectOf({ body: null }));
    expect(receiver.connections()).to.equal(1);

    await refused(bench.add({ event: "beforeCreate", collection: "tasks", url: `http://127.0.0.1:${port}/` }));
    await refused(bench.add({ event: "beforeCreate", collection: "tasks", url: `http://127.0.0.2:${receiver.port}/` }));
    await refused(bench.add({ event: "beforeCreate", collection: "tasks", url: `http://localhost:${receiver.port}/` }));

    const other = await bench.registry.get(await bench.addTenant("other", []));
    await refused(bench.hooks.manage.create(other, { event: "beforeCreate", collection: "tasks", url: receiver.url }));
    expect((await failure(bench.hooks.before({ ...other, hooks: context.hooks }, makeCall(other), "beforeList", subjectOf({ body: null })))).status).to.equal(502);
    expect(receiver.received).to.have.length(1);

    await bench.allow();
    const now = await bench.context();
    expect((await failure(bench.hooks.before(now, makeCall(now), "beforeList", subjectOf({ body: null })))).status).to.equal(502);
    expect(receiver.received).to.have.length(1);
    await bench.hooks.manage.remove(now, hook.id);
    await receiver.close();
  });

  it("a connection is used again by its own tenant only, and never for a name that means another address by now", async () => {
    const receiver = await startReceiver();
    receiver.answer = json({});
    const inner = `inner.test:${receiver.port}`;
    let address = "127.0.0.1";
    const own = await openBench({ lookup: (_hostname, _options, callback) => callback(null, [{ address, family: 4 }]) });
    await own.allow(inner);
    await own.add({ event: "beforeList", collection: "tasks", url: `http://${inner}/` });
    const context = await own.context();
    const ask = (tenant = context) => own.hooks.before(tenant, makeCall(tenant), "beforeList", subjectOf({ body: null }));
    for (let times = 0; times < 3; times += 1) await ask();
    expect(receiver.connections()).to.equal(1);
    const other = await own.registry.get(await own.addTenant("other", [inner]));
    await ask({ ...other, hooks: context.hooks });
    expect(receiver.connections()).to.equal(2);
    // Nobody listens there.
    address = "127.0.0.2";
    expect((await failure(ask())).status).to.equal(502);
    expect(receiver.received).to.have.length(4);
    await own.close();
    await receiver.close();
  });

  it("a resolver that never answers ends with the hook's time-out", async () => {
    const own = await openBench({ lookup: () => undefined });
    await own.plant({ url: "http://slow.test/", timeoutMs: 50 });
    const context = await own.context();
    expect((await failure(own.hooks.before(context, makeCall(context), "beforeCreate", subjectOf()))).status).to.equal(502);
    await own.close();
  });

  it("classifies by address, and reads what the URL parser made of the text", () => {
    for (const address of ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"]) expect(isPublicAddress(address), address).to.equal(true);
    for (const address of ["", "x", "127.1", "::7f00:1", "4000::1", "fe80::1%eth0", "3fff::1", "2001:2::1", "64:ff9b::808:808"]) expect(isPublicAddress(address), address).to.equal(false);
    expect(parseTarget("https://Example.COM./a?b")).to.include({ host: "example.com", key: "example.com:443" });
    expect(parseTarget("http://0x7f.1:81/")).to.include({ host: "127.0.0.1", key: "127.0.0.1:81" });
    expect(parseTarget("http://[::1]:8080/")).to.include({ host: "::1", key: "[::1]:8080" });
    expect(asked.every((name) => name.endsWith(".test"))).to.equal(true);
  });
});
