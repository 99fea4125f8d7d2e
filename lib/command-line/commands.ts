// Every command, in the order of the help.
import { backup } from "./backup.js";
import type { Command } from "./command.js";
import { copy } from "./copy.js";
import { doctor } from "./doctor.js";
import { exportCommand } from "./export.js";
import { importCommand } from "./import.js";
import { restore } from "./restore.js";
import { setupToken } from "./setup-token.js";
import { start } from "./start.js";
import { tenants } from "./tenants.js";

export const commands: readonly Command[] = [start, setupToken, tenants, backup, restore, exportCommand, importCommand, copy, doctor];
