// records-service setup-token: a new token for the first superadmin, or for recovery.
import { Failed, type Command } from "./command.js";

export const setupToken: Command = {
  name: "setup-token",
  parameters: [],
  summary: "Make a token that names the superadmin, or replaces one who is locked out (30 minutes, once)",
  options: { first: { type: "boolean", description: "Only while there is no superadmin" } },
  async run({ values, terminal, service }) {
    const running = await service();
    if (values["first"] === true && (await running.hasSuperadmin())) throw new Failed("There is a superadmin already");
    const made = await running.createSetupToken();
    terminal.result(made, `setup token: ${made.token}\nvalid until ${made.expiresAt}`);
  },
};
