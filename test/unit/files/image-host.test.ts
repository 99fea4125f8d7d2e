import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

function startHost(mode: "end" | "wait") {
  const script = fileURLToPath(new URL("./image-host.ts", import.meta.url));
  return spawn(process.execPath, ["--import=tsx", script, mode], { stdio: ["ignore", "pipe", "inherit"] });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("the image process and its host", () => {
  it("does not outlive a host that is killed", async () => {
    const host = startHost("wait");
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    expect(isAlive(pid)).to.equal(true);
    host.kill("SIGKILL");
    await gone(pid);
  });

  it("does not keep a host alive", async () => {
    const host = startHost("end");
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    const [status] = (await once(host, "exit")) as [number];
    expect(status).to.equal(0);
    await gone(Number(line.toString()));
  });
});
