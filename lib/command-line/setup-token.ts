// records-service setup-token: a new token for the first superadmin, or for recovery.
import type { Command } from "./command.js";

export const setupToken: Command = {
  name: "setup-token",
  parameters: [],
  summary: "Make a token that names the superadmin, or replaces one who is locked out (30 minutes, once)",
  options: {},
  async run({ terminal, service }) {
    const made = await (await service()).createSetupToken();
    terminal.result(made, `setup token: ${made.token}\nvalid until ${made.expiresAt}`);
  },
};
