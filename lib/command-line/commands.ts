// Every command, in the order of the help.
import type { Command } from "./command.js";
import { setupToken } from "./setup-token.js";
import { start } from "./start.js";
import { tenants } from "./tenants.js";

export const commands: readonly Command[] = [start, setupToken, tenants];
