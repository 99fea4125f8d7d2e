// The HTTP client of hooks: a process without hooks never loads it, and a tenant's first blocking hook does not wait for it.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { startService } from "../support/service.js";

describe("the HTTP client of hooks", () => {
  it("is loaded with the definitions of the first tenant that has hooks, before any is called", async function () {
    this.timeout(30_000);
    const folder = await mkdtemp(join(tmpdir(), "records-client-"));
    const service = await startService({ folder });
    for (const slug of ["plain", "hooked"]) {
      const tenant = await service.createTenant(slug);
      await service.createCollection(tenant, { name: "notes", fields: [], listRule: "true" });
    }
    await service.service.tenant("hooked").settings.update({ webhookAllowlist: ["127.0.0.1:9"] });
    await service.service.tenant("hooked").hooks.create({ event: "beforeCreate", collection: "notes", url: "http://127.0.0.1:9/" });
    await service.close();

    const child = spawn(process.execPath, ["--import=tsx", fileURLToPath(new URL("./hook-client-host.ts", import.meta.url)), folder], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const lines: string[] = [];
      for await (const line of createInterface({ input: child.stdout })) lines.push(line);
      expect(lines).to.deep.equal(["plain", "client", "hooked"]);
    } finally {
      child.kill("SIGKILL");
      await rm(folder, { recursive: true, force: true });
    }
  });
});
