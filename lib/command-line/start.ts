// records-service start: the standalone server, until a signal ends it.
import { serve } from "../standalone/serve.js";
import type { Command } from "./command.js";

export const start: Command = {
  name: "start",
  parameters: [],
  summary: "Run the server until SIGTERM or SIGINT",
  options: {},
  async run({ program, terminal }) {
    const ending = new AbortController();
    const ended = new Promise<void>((resolve) => ending.signal.addEventListener("abort", () => resolve(), { once: true }));
    program.onSignal(() => {
      // A second signal is meant: what is still under way is given up.
      if (ending.signal.aborted) program.exit(1);
      ending.abort();
    });
    const server = await serve(program.environment, terminal.print, ending.signal).catch((error: unknown) => {
      if (ending.signal.aborted) return undefined;
      throw error;
    });
    await ended;
    await server?.close();
  },
};
