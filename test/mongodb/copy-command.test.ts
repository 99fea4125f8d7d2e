// records-service copy as a process, to MongoDB and back: interrupted by a signal, gone on with, and compared.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { createRecordsService } from "../../lib/index.js";
import { cheapHasher, demand, startService } from "../support/service.js";
import { form, file } from "../support/multipart.js";
import { mongoUrl, removeDatabases } from "./server.js";

const server = mongoUrl();
const main = fileURLToPath(new URL("../../dist/command-line/main.cjs", import.meta.url));
const rows = 3_000;

interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** `interrupt`: as soon as it has told of its first rows. */
async function copy(from: string, to: string, interrupt = false): Promise<Outcome> {
  const child = spawn(process.execPath, [main, "copy", from, to, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (text: Buffer) => (out += text.toString()));
  child.stderr.on("data", (text: Buffer) => {
    if (interrupt && err === "") child.kill("SIGINT");
    err += text.toString();
  });
  const [status] = (await once(child, "close")) as [number | null];
  return { status, out, err };
}

if (server !== undefined) {
  describe("records-service copy", function () {
    this.timeout(180_000);
    const url = server.withDatabase(`command${process.pid}`);
    let folder: string;

    before(async () => {
      expect(existsSync(main), "the package is built: npm run build").to.equal(true);
      folder = await mkdtemp(join(tmpdir(), "mongodb-command-"));
      const first = join(folder, "first");
      const house = await startService({ folder: first, storage: first, files: undefined });
      const tenant = await house.createTenant("north");
      await house.createCollection(tenant, { name: "notes", fields: [{ name: "title", type: "TEXT", unique: true }, { name: "more", type: "JSON" }, { name: "paper", type: "FILE" }], createRule: "true" });
      const lines = Array.from({ length: rows }, (_unused, n) => JSON.stringify({ title: `note ${n}`, more: { $set: n, "a.b": [null] } }));
      await demand(200, house.request("POST", `/api/meta/tenants/${tenant.id}/collections/notes/import?format=ndjson`, { token: await house.superadminToken(), body: lines.join("\n"), headers: { "content-type": "application/x-ndjson" } }));
      await demand(201, house.request("POST", "/api/collections/notes", { tenant: "north", ...form(file("paper", "what is written here", "paper.txt")) }));
      await house.close();
    });
    after(async () => {
      await removeDatabases(url);
      await rm(folder, { recursive: true, force: true });
    });

    /** Every record and file, as a service over the place shows them. */
    async function contents(storage: string): Promise<unknown> {
      const quiet = (): void => undefined;
      const secret = "0123456789abcdef".repeat(4);
      const service = createRecordsService({
        storage, hasher: cheapHasher, announceSetup: false, logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
        secrets: Object.fromEntries(["application", "token", "sessionCookie", "authenticationCookie", "flashCookie"].map((name, index) => [name, `${index}${secret.slice(1)}`])),
      });
      try {
        await service.ready();
        const notes = service.tenant("north").as("system").collection("notes");
        const found: unknown[] = [];
        let cursor: string | undefined;
        do {
          const page = await notes.list({ limit: 500, ...(cursor === undefined ? {} : { cursor }) });
          found.push(...page.items);
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        return found;
      } finally {
        await service.close();
      }
    }

    async function copiedInTwoGoes(from: string, to: string): Promise<void> {
      const interrupted = await copy(from, to, true);
      expect(interrupted.status, interrupted.err).to.not.equal(0);
      expect(interrupted.err).to.include("Interrupted");
      const done = await copy(from, to);
      expect(done.status, done.err).to.equal(0);
      expect(JSON.parse(done.out)).to.include({ tenants: 1, files: 1 });
      const [before, after] = [await contents(from), await contents(to)];
      expect(before).to.have.length(rows + 1);
      expect(after).to.deep.equal(before);
    }

    it("from a folder to MongoDB: a signal stops it, the next one goes on, and everything is the same", () => copiedInTwoGoes(join(folder, "first"), url));

    it("and back from MongoDB to a folder", () => copiedInTwoGoes(url, join(folder, "second")));
  });
}
