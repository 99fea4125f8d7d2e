// One node of the cluster: the standalone server, told by its environment (docs/deployment.md). Tells its parent its
// address, and drains when asked to end.
import { serve } from "records-service";

const server = await serve(process.env, (line) => console.log(line));
process.send?.({ url: server.url });
for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void server.close().then(() => process.exit(0)));
// A node whose parent has died ends too.
process.once("disconnect", () => void server.close().then(() => process.exit(0)));
