// A process to be killed: creates records in a folder's tenant `acme`, says which, and waits.
import { createRecordsService } from "../../lib/index.js";
import { cheapHasher, storageOf } from "./service.js";

const [folder = "", count = "1"] = process.argv.slice(2);
const quiet = (): void => undefined;
const service = createRecordsService({ ...storageOf(folder), hasher: cheapHasher, logger: { debug: quiet, info: quiet, warn: quiet, error: quiet } });
await service.ready();
const tasks = service.tenant("acme").as("system").collection("tasks");
const ids: string[] = [];
for (let index = 0; index < Number(count); index += 1) ids.push((await tasks.create({ title: String(index) })).id);
process.stdout.write(`${JSON.stringify(ids)}\n`);
setInterval(quiet, 1000);
