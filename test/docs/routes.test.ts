// docs/http-api.md against the router: every route with its methods, as the running service itself tells them.
import { expect } from "chai";
import { startService, type TestService } from "../support/service.js";
import { codes, readPage, tableRows } from "./pages.js";

/** `:name` and `*name` as the page writes them. */
const asWritten = (path: string): string => path.replace(/[:*](\w+)/g, "{$1}");
const filledIn = (path: string): string => path.replace(/[:*]\w+/g, "x");

function pathsOf(service: TestService["service"]): string[] {
  return service.stack.flatMap((layer) => (layer.route === undefined ? [] : [layer.route.path]));
}

describe("docs: http-api.md", () => {
  const rows = tableRows(readPage("docs/http-api.md")).filter((row) => /^(GET|POST|PATCH|PUT|DELETE)/.test(row[0] ?? ""));
  const documented = rows.flatMap((row) => row[0]!.split(/[,\s]+/).flatMap((method) => codes(row[1]!).map((path) => `${method} ${path}`)));
  let scene: TestService;

  before(async () => {
    scene = await startService({ metrics: true });
  });

  after(async () => {
    await scene.close();
  });

  it("names every route and every method of it, and no other", async () => {
    const paths = pathsOf(scene.service);
    expect(paths.length).to.be.greaterThan(50);
    const token = await scene.superadminToken();
    const served = await Promise.all(paths.map(async (path) => {
      const { status, headers } = await scene.request("PROPFIND", filledIn(path), { token });
      expect(status, path).to.equal(405);
      return String(headers["allow"]).split(", ").filter((method) => method !== "HEAD").map((method) => `${method} ${asWritten(path)}`);
    }));
    expect([...documented].sort()).to.deep.equal(served.flat().sort());
  });

  it("names every list parameter", async () => {
    const { listParameterNames } = await import("../../lib/records/list-query.js");
    const parameters = tableRows(readPage("docs/http-api.md")).map((row) => row[0]);
    expect([...listParameterNames].filter((name) => !parameters.includes(`\`${name}\``))).to.deep.equal([]);
  });
});
