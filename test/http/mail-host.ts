// A process of its own that serves a folder and sends mail to a port of this machine, to be killed.
import { startService } from "../support/service.js";

const [folder, port] = process.argv.slice(2) as [string, string];
const on = await startService({ folder, mailer: { host: "127.0.0.1", port: Number(port), from: "service@example.test" } });
process.stdout.write(`${on.url}\n`);
