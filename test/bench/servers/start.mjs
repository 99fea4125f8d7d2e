// A cold start, by plain Node as in production: tells when the service answers, counted from the start of the process,
// and what memory it has two seconds later.
import { createRecordsService, listen } from "records-service";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const service = createRecordsService({ storage: process.argv[2], logger: silent });
await listen(service, { port: 0 });
const ready = performance.now();
setTimeout(() => {
  console.log(JSON.stringify({ ready, rss: process.memoryUsage.rss() / 1e6 }));
  process.exit(0);
}, 2000);
