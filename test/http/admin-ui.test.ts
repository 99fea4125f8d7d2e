// How the admin page is served: policy, caching, compression, redirects under any mount path.
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { createAdminUi } from "../../lib/http/admin-ui.js";
import type { Exchange } from "../../lib/http/exchange.js";
import { startService, type TestService } from "../support/service.js";

describe("admin page over HTTP", () => {
  let service: TestService;
  let assets: string[];
  before(async () => {
    service = await startService();
    const index = await service.request("GET", "/admin/");
    expect(index.status, "build the page first: npm run build").to.equal(200);
    assets = [...index.text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((match) => match[1]!);
  });
  after(() => service.close());

  it("serves the index uncacheable, under the strict policy with Trusted Types", async () => {
    const { headers, text } = await service.request("GET", "/admin/");
    expect(headers["cache-control"]).to.equal("no-store");
    expect(headers["content-type"]).to.equal("text/html; charset=utf-8");
    expect(headers["content-security-policy"]).to.include("default-src 'none'").and.include("frame-ancestors 'none'").and.include("require-trusted-types-for 'script'").and.include("trusted-types 'none'");
    expect(headers["content-security-policy"]).not.to.match(/unsafe|\*/);
    expect(headers["x-content-type-options"]).to.equal("nosniff");
    expect(headers["referrer-policy"], "no-referrer would take the Origin away that the session needs").to.equal("same-origin");
    expect(text).not.to.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/i);
  });

  it("serves its assets immutable, with hashed names", async () => {
    expect(assets.length).to.be.at.least(3);
    for (const asset of assets) {
      expect(asset).to.match(/-[\w-]{8}\.\w+$/);
      const { status, headers } = await service.request("GET", `/admin/${asset}`);
      expect(status).to.equal(200);
      expect(headers["cache-control"]).to.equal("public, max-age=31536000, immutable");
      expect(headers["x-content-type-options"]).to.equal("nosniff");
    }
  });

  it("sends what was compressed at build, in the coding that the client takes", async () => {
    const script = assets.find((asset) => asset.endsWith(".js"))!;
    const plain = await service.request("GET", `/admin/${script}`);
    const brotli = await service.request("GET", `/admin/${script}`, { headers: { "accept-encoding": "gzip, deflate, br" } });
    const gzip = await service.request("GET", `/admin/${script}`, { headers: { "accept-encoding": "gzip, br;q=0" } });
    expect(plain.headers["content-encoding"]).to.equal(undefined);
    expect([brotli.headers["content-encoding"], brotli.headers["vary"]]).to.deep.equal(["br", "Accept-Encoding"]);
    expect(gzip.headers["content-encoding"]).to.equal("gzip");
    expect(brotliDecompressSync(brotli.bytes).equals(plain.bytes)).to.equal(true);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).to.equal(true);
  });

  it("answers HEAD without a body", async () => {
    const { status, headers, bytes } = await service.request("HEAD", "/admin/");
    expect([status, bytes.length]).to.deep.equal([200, 0]);
    expect(Number(headers["content-length"])).to.be.above(0);
  });

  it("leads /admin and /authenticate to the page by relative addresses", async () => {
    const answers = await Promise.all(["/admin", "/authenticate"].map((path) => service.request("GET", path)));
    expect(answers.map(({ status, headers }) => [status, headers.location])).to.deep.equal([[302, "admin/"], [302, "admin/#/sign-in"]]);
  });

  it("knows no other file, and no way out of its folder", async () => {
    for (const path of ["/admin/nothing", "/admin/assets/nothing.js", "/admin/assets/..%2f..%2fpackage.json", "/admin/assets/%2e%2e/%2e%2e/package.json", "/admin/assets/constructor"]) {
      const { status } = await service.request("GET", path);
      expect(status, path).to.be.oneOf([400, 404]);
    }
  });

  it("refuses other methods", async () => {
    expect((await service.request("POST", "/admin/", { body: {} })).status).to.equal(405);
  });

  it("is not there where the option adminUi is off", async () => {
    const without = await startService({ adminUi: false });
    expect((await without.request("GET", "/admin/")).status).to.equal(404);
    expect((await without.request("GET", "/authenticate")).status).to.equal(404);
    await without.close();
  });

  it("says how to build where it is not built, and serves it once it is", async () => {
    const folder = await mkdtemp(join(tmpdir(), "admin-page-"));
    const page = createAdminUi({ folder });
    const ask = async () => {
      let status = 0;
      let text = "";
      const res = { writeHead: (code: number) => { status = code; }, end: (body?: Buffer) => { text = body?.toString() ?? ""; } };
      await page({ req: { url: "/admin/", method: "GET", headers: {} }, res, facts: { requestId: "r" } } as unknown as Exchange);
      return { status, text };
    };
    const missing = await ask();
    expect(missing.status).to.equal(503);
    expect(missing.text).to.include("npm run build");
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "index.html"), "<p>built</p>");
    expect(await ask()).to.deep.equal({ status: 200, text: "<p>built</p>" });
    await rm(folder, { recursive: true });
  });

  it("stays within 60 KB, compressed with gzip", async () => {
    const index = (await service.request("GET", "/admin/")).text;
    const first = (await service.request("GET", `/admin/${assets.find((asset) => asset.endsWith(".js"))!}`)).text;
    const names = new Set([...assets, ...[...first.matchAll(/\.\/([\w-]+\.js)/g)].map((match) => `assets/${match[1]}`)].filter((name) => /\.(?:js|css)$/.test(name)));
    const sizes = await Promise.all([...names].map(async (name) => (await service.request("GET", `/admin/${name}`, { headers: { "accept-encoding": "gzip" } })).bytes.length));
    expect(names.size).to.be.at.least(3);
    expect(sizes.reduce((sum, size) => sum + size, 0) + index.length / 2).to.be.below(60 * 1024);
  });
});
