#!/usr/bin/env node
// The command `records-service`. CommonJS, because it must raise the size of libuv's thread pool before anything has
// used the pool, and loading an ES module already does.
import type { Program } from "./command.js" with { "resolution-mode": "import" };

process.env["UV_THREADPOOL_SIZE"] ??= "16";

const program: Program = {
  environment: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal(handler) {
    process.on("SIGTERM", handler);
    // Ctrl-C below npm comes twice at once: from the terminal, and handed on by npm.
    let last = -Infinity;
    process.on("SIGINT", () => {
      const now = performance.now();
      if (now - last > 250) handler();
      last = now;
    });
  },
  exit: (status) => process.exit(status),
};

// Parts of the service keep no process alive, and a command may wait for them.
setInterval(() => undefined, 2 ** 30);

void import("./run.js").then(async ({ run }) => {
  process.exit(await run(process.argv.slice(2), program));
});
