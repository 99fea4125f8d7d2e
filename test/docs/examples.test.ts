// The examples of the documentation, run: the TypeScript blocks of a page are one program in a process of its own, in
// an empty folder; its shell blocks are one script, run while the program listens.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { allPages, root, runnable, type Block, type Page } from "./pages.js";

/** Where the names of packages lead: the sources of this one, and what it depends on. */
const packages: Readonly<Record<string, string>> = {
  "records-service": new URL("lib/index.ts", root).href,
  "records-service/client": new URL("lib/client/index.ts", root).href,
  "records-service/testing": new URL("lib/testing/index.ts", root).href,
  express: import.meta.resolve("express"),
};

/** Curl that fails where the answer is an error, and says which. */
const prelude = 'set -euo pipefail\ncurl() { command curl --silent --show-error --fail-with-body --max-time 10 "$@"; }\n';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

interface Process {
  readonly output: () => string;
  readonly ended: Promise<number | null>;
  readonly kill: () => void;
  /** Resolves when the output matches; rejects where the process ends before. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>;
}

function start(command: string, args: readonly string[], folder: string, env: Readonly<Record<string, string>> = {}): Process {
  const { PATH = "", HOME = "", NODE_V8_COVERAGE } = process.env;
  const child = spawn(command, args, { cwd: folder, env: { PATH, HOME, ...(NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE }), ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  const ended = once(child, "close").then(([status]) => status as number | null);
  return {
    output: () => output,
    ended,
    kill: () => void child.kill("SIGKILL"),
    async says(pattern) {
      for (;;) {
        const match = pattern.exec(output);
        if (match !== null) return match;
        const what = await Promise.race([once(child.stdout, "data"), ended.then(() => "ended" as const)]);
        if (what === "ended" && !pattern.test(output)) throw new Error(`ended before it said ${pattern}:\n${output}`);
      }
    },
  };
}

function joined(blocks: readonly Block[], languages: readonly string[], port: number): string {
  return blocks.filter(({ language }) => languages.includes(language)).map(({ code }) => code).join("\n").replaceAll("8080", String(port));
}

async function run(page: Page): Promise<void> {
  const blocks = runnable(page);
  const port = await freePort();
  const code = joined(blocks, ["ts", "js"], port).replace(/(from|import) "([^".][^"]*)"/g, (text, word: string, name: string) => (packages[name] === undefined ? text : `${word} ${JSON.stringify(packages[name])}`));
  const script = joined(blocks, ["sh"], port);
  const folder = await mkdtemp(join(tmpdir(), "records-docs-"));
  const running: Process[] = [];
  try {
    await writeFile(join(folder, "page.mts"), code);
    await writeFile(join(folder, "page.sh"), prelude + script);
    const program = start(process.execPath, ["--import", import.meta.resolve("tsx"), "page.mts"], folder);
    running.push(program);
    if (script === "") {
      expect(await program.ended, program.output()).to.equal(0);
      return;
    }
    await program.says(/^listening on /m);
    const [, setupToken = ""] = await program.says(/"setupToken":"([^"]+)"/);
    const shell = start("bash", ["page.sh"], folder, { SETUP_TOKEN: setupToken });
    running.push(shell);
    expect(await shell.ended, `${shell.output()}\n${program.output()}`).to.equal(0);
  } finally {
    for (const one of running) one.kill();
    await Promise.all(running.map((one) => one.ended));
    await rm(folder, { recursive: true, force: true });
  }
}

describe("docs: examples", () => {
  const pages = allPages().filter((page) => runnable(page).length > 0);

  it("there are some, and every mark stands above a block that is known", () => {
    expect(pages.map(({ path }) => path)).to.include.members(["docs/getting-started.md", "docs/in-code.md", "docs/mounting.md"]);
    for (const page of allPages()) {
      expect(runnable(page).length, page.path).to.equal(page.text.match(/^<!-- runs -->$/gm)?.length ?? 0);
      expect(runnable(page).every(({ language }) => ["ts", "js", "sh"].includes(language)), page.path).to.equal(true);
    }
  });

  for (const page of pages) {
    it(`those of ${page.path} run`, () => run(page)).timeout(30_000);
  }
});
