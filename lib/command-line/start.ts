// records-service start: the standalone server, until a signal ends it.
import { serve } from "../standalone/serve.js";
import type { Command } from "./command.js";

export const start: Command = {
  name: "start",
  parameters: [],
  summary: "Run the server until SIGTERM or SIGINT",
  options: {},
  async run({ program, terminal }) {
    const signal = new Promise<void>((resolve) => {
      let ending = false;
      program.onSignal(() => {
        // A second signal is meant: what is still under way is given up.
        if (ending) program.exit(1);
        ending = true;
        resolve();
      });
    });
    const server = await serve(program.environment, terminal.print);
    await signal;
    await server.close();
  },
};
