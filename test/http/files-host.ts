// A process of its own that serves a folder, to be killed.
import { startService } from "../support/service.js";

const on = await startService({ folder: process.argv[2]! });
process.stdout.write(`${on.url}\n`);
