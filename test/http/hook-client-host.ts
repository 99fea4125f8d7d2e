// A process that tells when the HTTP client of hooks is loaded: reads a tenant without hooks, then one with a hook, and
// calls none.
import { register } from "node:module";
import { MessageChannel } from "node:worker_threads";
import { createRecordsService } from "../../lib/index.js";
import { cheapHasher, storageOf } from "../support/service.js";

const [folder = ""] = process.argv.slice(2);
const { port1, port2 } = new MessageChannel();
// Told of every import of this process, in their order.
const watcher = "let port; export const initialize = (given) => { port = given; }; export const resolve = (name, context, next) => { port.postMessage(name); return next(name, context); };";
register(`data:text/javascript,${encodeURIComponent(watcher)}`, { data: port2, transferList: [port2] });
port1.on("message", (name: string) => {
  if (name === "got") process.stdout.write("client\n");
  else if (name.startsWith("data:text/javascript,// ")) process.stdout.write(`${name.slice("data:text/javascript,// ".length)}\n`);
});

const quiet = (): void => undefined;
const service = createRecordsService({ ...storageOf(folder), hasher: cheapHasher, logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
for (const slug of ["plain", "hooked"]) {
  await service.tenant(slug).as("guest").collection("notes").list();
  await import(`data:text/javascript,// ${slug}`);
}
await service.close();
port1.close();
